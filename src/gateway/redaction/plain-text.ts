/** Place in the text as recognisers read it, and the place in the original from there on. */
interface Shift {
  readonly at: number
  readonly to: number
}

/** A text in the characters that recognisers know, and where its parts are in the original. */
export class PlainText {
  readonly text: string
  readonly #original: string
  /** Ascending; empty when both have the same places. */
  readonly #shifts: readonly Shift[]

  constructor(original: string, text = original, shifts: readonly Shift[] = []) {
    this.text = text
    this.#original = original
    this.#shifts = shifts
  }

  /** Returns a section of the original for one of the text. */
  placeOf({ start, end }: { readonly start: number; readonly end: number }): { start: number; end: number } {
    const from = this.#place(start)
    if (this.#shifts.length === 0) return { start, end }
    let to = this.#place(end)
    // what is invisible after the last character does not belong to it
    while (to > from && isInvisible(this.#original.charCodeAt(to - 1))) to -= 1
    return { start: from, end: to }
  }

  #place(at: number): number {
    let [low, high] = [0, this.#shifts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#shifts[middle]?.at ?? 0) <= at) low = middle + 1
      else high = middle
    }
    const shift = this.#shifts[low - 1]
    return shift === undefined ? at : shift.to + at - shift.at
  }
}

/** Returns the text in which `pattern` is replaced by what `read` returns. */
const rewritten = (text: string, pattern: RegExp, read: (written: string) => string): PlainText => {
  const shifts: Shift[] = []
  let gone = 0
  const made = text.replace(pattern, (written: string, ...rest: unknown[]) => {
    const plain = read(written)
    const start = rest.find((each) => typeof each === 'number') ?? 0
    if (plain.length !== written.length) {
      const to = start + written.length
      gone += written.length - plain.length
      shifts.push({ at: to - gone, to })
    }
    return plain
  })
  return new PlainText(text, made, shifts)
}

/** Characters without width: soft hyphens, joiners, marks of direction, variation selectors, the byte order mark. */
const invisible = '\\u00ad\\u034f\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff'
const blanks = '\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
const dashes = '\\u2010-\\u2015\\u2212\\ufe58\\ufe63'
/** Zeros of scripts with decimal digits of their own, in the order of their code points. */
const zeros = [0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0x1040]
const digits = zeros.map((zero) => `${escapeOf(zero)}-${escapeOf(zero + 9)}`).join('')
const wide = '\\uff03-\\uff0b\\uff0d-\\uff1a\\uff1d\\uff20-\\uff5e'
const one = `[${blanks}${dashes}${digits}${wide}\\ufe6b]`

function escapeOf(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`
}

const unusual = new RegExp(`[\\\\${blanks}${dashes}${digits}${wide}\\ufe6b${invisible}]`)
const escapes = `\\\\{1,2}u[0-9a-f]{4}|\\\\(?:\\\\[nrt]|["\\\\/bfnrt])`
const spelled = new RegExp(`${escapes}|&(?:nbsp|#160|#xa0);|[${invisible}]+|${one}`, 'gi')
const isBlank = new RegExp(`[${blanks}]`)
const isDash = new RegExp(`[${dashes}]`)
const hidden = new RegExp(`[${invisible}]`)

const isInvisible = (code: number): boolean => code > 0xac && hidden.test(String.fromCharCode(code))

/**
 * Reads escapes of JSON, blanks, hyphens, digits and full-width forms of any script as the plain ones, and leaves out what
 * is invisible: a number that is copied from a page, a table or a form has the spelling of its source.
 */
export const plainText = (text: string): PlainText =>
  unusual.test(text) || text.includes('&nbsp;') || text.includes('&#')
    ? rewritten(text, spelled, plainOf)
    : new PlainText(text)

const plainOf = (written: string): string => {
  if (written.startsWith('&')) return ' '
  if (written.charCodeAt(0) !== 0x5c) return written.length === 1 ? plainChar(written) : ''
  if (written === '\\/') return '//'
  if (written.length < 6) return ' '.repeat(written.length)
  const char = plainChar(String.fromCharCode(Number.parseInt(written.slice(-4), 16)))
  return char === '' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char) ? char.replace(/["\\]/, ' ') : ' '
}

const plainChar = (char: string): string => {
  const code = char.charCodeAt(0)
  if (code < 0xa0) return char
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0)
  if (isInvisible(code)) return ''
  if (isBlank.test(char)) return ' '
  if (isDash.test(char)) return '-'
  if (code === 0xfe6b) return '@'
  const zero = zeros.find((each) => code >= each && code <= each + 9)
  return zero === undefined ? char : String(code - zero)
}

const encoded = /%(?:25){0,2}[2-7][0-9a-f]|&(?:amp|quot|lt|gt);/gi

/** Reads what is encoded for a URL or for HTML; the same text is returned where nothing is. */
export const decodedText = (text: string): PlainText =>
  text.includes('%') || text.includes('&') ? rewritten(text, encoded, decodedOf) : new PlainText(text)

const decodedOf = (written: string): string =>
  written.startsWith('%') ? String.fromCharCode(Number.parseInt(written.slice(-2), 16)) : '|'

/** Letters of scripts that put no blanks between words, and of Korean, whose particles follow a number at once. */
const unspaced =
  /[\u0e01-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]/g

/** Replaces letters that are written right beside a number by a sign that ends it, of the same length. */
export const withEdges = (text: string): string => text.replace(unspaced, '|')
