import type { PiiType } from '#specs/resources/gateway/redaction.ts'

/** Where personal data stands in a text, in UTF-16 units. */
export interface Hit {
  readonly start: number
  readonly end: number
  readonly type: PiiType
}

/** What recognisers know beside the text. */
export interface Reading {
  readonly text: string
  /** Country whose national phone numbers are known without a prefix, ISO 3166. */
  readonly region: string
  /** Counts costly checks down; at 0 the shape alone decides, so that a hostile text costs bounded time. */
  readonly budget: { checks: number }
}

/** Finds one or several types of personal data. Linear in the text's length, whatever stands there. */
export interface Recogniser {
  readonly types: readonly PiiType[]
  /** Whether it can find anything at all; cheap, and never false where `find` finds something. */
  mayFind(text: string): boolean
  find(reading: Reading): readonly Hit[]
}

/** What stands right before a place, as far as a word says what a number is. */
export const before = (text: string, start: number): string => text.slice(Math.max(0, start - 32), start)

/** Words after which a number counts things of a shop or an archive. */
const counted =
  /(?<!\p{L})(?:order|invoice|inv|ticket|ref(?:erence)?|case|sku|serial|model|part|isbn|issn|ean|tracking|version|build|commit|page|row|item|article|doi|batch|lot|id|uuid|hash|rechnung\p{L}*|bestell\p{L}*|pedido|facture|commande)\b[^\n\p{L}]{0,8}(?:(?:no|nr|num|number|id)\b[^\n\p{L}]{0,6})?$/iu

/** Whether the words before say that it is an order, a version or the like. */
export const isCounted = (text: string, start: number): boolean => counted.test(before(text, start))

/** What the matches of a pattern are. */
export interface MatchRule {
  readonly type: PiiType
  /** All of them when absent. */
  readonly accepts?: (match: string, start: number) => boolean
}

/**
 * The matches of a global pattern as hits of one type, where `accepts` agrees. By `exec`: `matchAll` makes the pattern anew
 * for each text.
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
