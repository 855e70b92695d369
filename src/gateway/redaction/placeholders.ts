import type { PiiType } from '#specs/resources/gateway/redaction.ts'
import type { Found, Redacted, Replacement, Restorer } from '../call/redaction.ts'
import type { HitsOf } from './find-personal-data.ts'
import type { ValueOf } from './kept-values.ts'

const labels: Readonly<Record<PiiType, string>> = {
  email: 'EMAIL',
  phone: 'PHONE',
  payment_card: 'CARD',
  iban: 'IBAN',
  us_ssn: 'SSN',
  national_id: 'ID',
  ip_address: 'IP',
  url_credentials: 'CREDENTIALS',
  secret: 'SECRET',
  name: 'NAME',
}

const anyLabel = Object.values(labels).join('|')

/** A placeholder's name, including the ways in which models alter it: lower case, spaces, a hyphen. */
const name = ` ?(?:${anyLabel})[_ -]\\d{1,6} ?`

/**
 * A placeholder with brackets that are bare, or escaped for Markdown or JSON. When only one bracket has a backslash,
 * that backslash belongs to the text.
 */
const written = new RegExp(String.raw`\\{1,2}\[${name}\\{1,2}\]|(?:\\u005b|\[)${name}(?:\\u005d|\])`, 'gi')

/** Whether a text contains something that looks like a placeholder. */
export const mayHavePlaceholder = (text: string): boolean => text.includes('[') && text.search(written) >= 0

const firstLetters = Object.values(labels).map((label) => label.charAt(0))

/** What follows the bracket of a placeholder in the text of a JSON document: a label, or the end of the text. */
const afterBracket = new Set(['"', ...firstLetters, ...firstLetters.map((letter) => letter.toLowerCase())])

/** Escapes that stand for a bracket or a backslash, and one that the end of the part cuts. */
const escaped = /\\(?:[\\u]|$)/

/**
 * Whether a part of a stream of JSON documents may contain the beginning of a placeholder in one of their texts: a
 * bracket before a label, the end of the text or the end of the part, or an escape that may stand for one. V8 finds the
 * few brackets and backslashes many times as fast as a pattern that begins with them.
 */
export const mayBeginInJson = (part: string): boolean => {
  for (let at = part.indexOf('['); at >= 0; at = part.indexOf('[', at + 1)) {
    const next = part[at + 1] === ' ' ? part[at + 2] : part[at + 1]
    if (next === undefined || afterBracket.has(next)) return true
  }
  const first = part.indexOf('\\')
  return first >= 0 && escaped.test(part.slice(first))
}

/** Label and number of a matched placeholder. */
const parts = /([a-z]{1,40})[_ -](\d{1,6}) ?(?:\\|\])/i

/** An incomplete placeholder at the end of a text that continues. */
const unfinished = new RegExp(
  `(?:\\\\{1,2}|\\\\(?:u|u0|u00|u005)|(?:\\\\{0,2}\\[|\\\\u005b) ?(?:${beginningsOf(Object.values(labels))})?(?:[_ -]\\d{0,6} ?(?:\\\\{1,2}|\\\\(?:u|u0|u00|u005))?)?)$`,
  'i',
)

/** Numbers continue after those of the request up to this one: after higher ones, names would be longer than those that are read. */
const highestPassed = 500_000

/** Length of the longest spelling of a placeholder, in characters. */
const maxWritten = 40

/**
 * Replaces personal data with placeholders and remembers the value of each. One instance serves one request:
 * placeholder numbers are not valid elsewhere.
 */
export class Placeholders {
  readonly #hitsOf: HitsOf
  /** These are created on first use, since most requests have nothing to replace. */
  #named: Map<string, Named> | undefined
  #counts: Map<string, number> | undefined
  /** Names in the request. */
  #taken: Set<string> | undefined
  #found: Record<string, number> | undefined
  #used = false
  /** Whether each replacement stands in a text, as its value was written there first. */
  #isPlain = true

  constructor(hitsOf: HitsOf) {
    this.#hitsOf = hitsOf
  }

  /** Whether anything was replaced that can be restored. */
  get used(): boolean {
    return this.#used
  }

  /** Values to restore, by placeholder name. */
  get values(): ReadonlyMap<string, string> {
    const values = new Map<string, string>()
    for (const { placeholder, value } of this.#named?.values() ?? [])
      if (!needsEscape.test(value)) values.set(placeholder.slice(1, -1), value)
    return values
  }

  /** Number of distinct values replaced per type; undefined when there are none. */
  get found(): Found | undefined {
    return this.#found
  }

  /** Replacements made in texts; undefined where one stands within JSON, or a value was written in several ways. */
  get replacements(): readonly Replacement[] | undefined {
    return this.#named === undefined || !this.#isPlain ? undefined : [...this.#named.values()]
  }

  /**
   * Redacts all texts of a request, and the JSON arguments of its tool calls, which stay valid JSON. The order is kept.
   */
  replaced(texts: readonly string[], toolArguments: readonly string[]): Pick<Redacted, 'texts' | 'toolArguments'> {
    for (const text of texts) this.keepClearOf(text)
    for (const text of toolArguments) this.keepClearOf(text)
    return {
      texts: mapped(texts, (text) => this.redact(text)),
      toolArguments: mapped(toolArguments, (text) => this.redactJson(text)),
    }
  }

  /**
   * Reserves the numbers of placeholder-like text in the request, so that they are not reused. Call it for every text
   * before `redact`.
   */
  keepClearOf(text: string): void {
    if (!text.includes('[')) return
    for (const [match] of text.matchAll(written)) {
      const { label, number } = partsOf(match)
      this.#taken ??= new Set()
      this.#taken.add(`${label}_${number}`)
      if (number > highestPassed) continue
      this.#counts ??= new Map()
      this.#counts.set(label, Math.max(this.#counts.get(label) ?? 0, number))
    }
  }

  /** Returns the text with placeholders; the same string when there was nothing to replace. */
  redact(text: string): string {
    return this.#replaced(text, null)
  }

  /** Redacts JSON, which stays valid JSON: a replaced number becomes a string. */
  redactJson(text: string): string {
    return this.#replaced(text, new QuoteReader(text))
  }

  #replaced(text: string, quotes: QuoteReader | null): string {
    const hits = this.#hitsOf(text)
    if (hits.length === 0) return text
    let redacted = ''
    let from = 0
    for (const { start, end, type } of hits) {
      const written = text.slice(start, end)
      const named = this.#namedFor(written, type)
      named.times += 1
      if (quotes !== null || written !== named.value) this.#isPlain = false
      const isBare = quotes?.inString(start) === false
      redacted += text.slice(from, start) + (isBare ? `"${named.placeholder}"` : named.placeholder)
      from = end
    }
    return redacted + text.slice(from)
  }

  restorer(): Restorer {
    let values: ReadonlyMap<string, string> | undefined
    return new PlaceholderRestorer((label, number) => {
      values ??= this.values
      return values.get(`${label}_${number}`)
    })
  }

  #namedFor(written: string, type: PiiType): Named {
    const label = labels[type]
    const value = type === 'secret' ? plain(written) : inOneLine(plain(written))
    const key = `${label} ${value}`
    this.#named ??= new Map()
    const known = this.#named.get(key)
    if (known !== undefined) return known
    this.#counts ??= new Map()
    let number = (this.#counts.get(label) ?? 0) + 1
    while (this.#taken?.has(`${label}_${number}`)) number += 1
    this.#counts.set(label, number)
    this.#found ??= {}
    this.#found[type] = (this.#found[type] ?? 0) + 1
    this.#used ||= !needsEscape.test(value)
    const named = { value, placeholder: `[${label}_${number}]`, times: 0 }
    this.#named.set(key, named)
    return named
  }
}

/** A value and its placeholder. */
type Named = Omit<Replacement, 'times'> & { times: number }

/** Maps each text; returns the same list when no text changed. */
const mapped = (texts: readonly string[], map: (text: string) => string): readonly string[] => {
  let copy: string[] | undefined
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at] ?? ''
    const made = map(text)
    if (made === text) continue
    copy ??= [...texts]
    copy[at] = made
  }
  return copy ?? texts
}

/** A number that is wrapped in its text is restored in one line, which needs no escape in JSON. */
const inOneLine = (value: string): string => value.replace(/(?:[\t\n\r]|\\[nrt])+/g, ' ')

/** Decodes JSON's `\u` escapes. */
const plain = (written: string): string =>
  !written.includes('\\')
    ? written
    : written.replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** Determines whether positions in a JSON text are within a string. Positions must be queried in ascending order. */
class QuoteReader {
  readonly #text: string
  #at = 0
  #inString = false

  constructor(text: string) {
    this.#text = text
  }

  inString(place: number): boolean {
    for (; this.#at < place; this.#at += 1) {
      const char = this.#text[this.#at]
      if (char === '\\' && this.#inString) this.#at += 1
      else if (char === '"') this.#inString = !this.#inString
    }
    return this.#inString
  }
}

/**
 * Values with these characters, such as private keys with their line breaks, are not restored. Every restored value can
 * thus be put into JSON without escaping.
 */
const needsEscape = /["\\\p{Cc}]/u

/** Restores placeholders in a response. */
export class PlaceholderRestorer implements Restorer {
  readonly #lookup: ValueOf
  #kept = ''

  constructor(lookup: ValueOf) {
    this.#lookup = lookup
  }

  restore(text: string): string {
    if (!text.includes('[') && !text.includes('\\')) return text
    return text.replace(written, (match) => {
      const { label, number } = partsOf(match)
      return this.#lookup(label, number) ?? match
    })
  }

  push(part: string): string {
    const text = this.#kept + part
    const cut = cutOf(text)
    this.#kept = text.slice(cut)
    return this.restore(text.slice(0, cut))
  }

  end(): string {
    const rest = this.restore(this.#kept)
    this.#kept = ''
    return rest
  }

  fork(): Restorer {
    return new PlaceholderRestorer(this.#lookup)
  }
}

/** Parses the label and number of a matched placeholder. */
const partsOf = (match: string): { readonly label: string; readonly number: number } => {
  const [, label = '', number = ''] = parts.exec(match.replace(/\\u005b/i, '[')) ?? []
  return { label: label.toUpperCase(), number: Number(number) }
}

/** Returns the start of a possible placeholder at the end of the text; the text's length when there is none. */
const cutOf = (text: string): number => {
  const tail = text.slice(-maxWritten)
  if (!tail.includes('[') && !tail.includes('\\')) return text.length
  const match = unfinished.exec(tail)
  return match === null ? text.length : text.length - tail.length + match.index
}

/** Returns a pattern for every prefix of the words, longest first: `EMAIL|EMAI|EMA|EM|E` for `EMAIL`. */
function beginningsOf(words: readonly string[]): string {
  const all = words.flatMap((word) => Array.from(word, (_, at) => word.slice(0, at + 1)))
  return [...new Set(all)].sort((a, b) => b.length - a.length).join('|')
}
