import type { PiiType } from '#specs/resources/gateway/redaction.ts'

/** Position of personal data in a text, in UTF-16 units. */
export interface Hit {
  readonly start: number
  readonly end: number
  readonly type: PiiType
}

/** Input of a recogniser: the text and its context. */
export interface Reading {
  readonly text: string
  /** The same text, with the words beside its numbers also where they are written without a blank. */
  readonly words: string
  /** ISO 3166 country whose phone numbers are recognised in national format, without a country code. */
  readonly region: string
  /** Remaining costly checks. At 0 the shape alone decides, so that a hostile text takes bounded time. */
  readonly budget: { checks: number }
}

/** Finds one or several types of personal data, in time linear in the text's length for any input. */
export interface Recogniser {
  readonly types: readonly PiiType[]
  /** Cheap pre-check: false only when `find` would find nothing. */
  mayFind(text: string): boolean
  find(reading: Reading): readonly Hit[]
}

/** Returns the 32 characters before a position, which may name what a number is. */
export const before = (text: string, start: number): string => text.slice(Math.max(0, start - 32), start)

/** Words that introduce a number of a business object or document, such as an order or a version. */
const counted =
  /(?<!\p{L})(?:order|invoice|inv|ticket|ref(?:erence)?|case|sku|serial|model|part|isbn|issn|ean|tracking|version|build|commit|page|row|item|article|doi|batch|lot|id|uuid|hash|rechnung\p{L}*|bestell\p{L}*|pedido|facture|commande)\b[^\n\p{L}]{0,8}(?:(?:no|nr|num|number|id)\b[^\n\p{L}]{0,6})?$/iu

/** Whether the preceding words identify the number as an order, a version or the like. */
export const isCounted = (text: string, start: number): boolean => counted.test(before(text, start))

/** Type and condition of the matches of a pattern. */
export interface MatchRule {
  readonly type: PiiType
  /** Condition on a match; when absent, every match counts. */
  readonly accepts?: (match: string, start: number) => boolean
}

/**
 * Returns the matches of a global pattern that `accepts` agrees to, as hits of one type. It uses `exec` because
 * `matchAll` clones the pattern for each text.
 */
export const hitsOf = (text: string, pattern: RegExp, { type, accepts }: MatchRule): readonly Hit[] => {
  const hits: Hit[] = []
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const { 0: match, index: start } = found
    if (accepts === undefined || accepts(match, start)) hits.push({ start, end: start + match.length, type })
  }
  return hits
}

/** Returns the captured group at the end of each match, as hits of the type `secret`. */
export const valuesOf = (text: string, pattern: RegExp): readonly Hit[] =>
  Array.from(text.matchAll(pattern), ({ 0: match, 1: value = '', index }) => {
    const end = index + match.length
    return { start: end - value.length, end, type: 'secret' }
  })
