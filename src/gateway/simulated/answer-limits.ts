import { arrayOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { tokensOfChars } from '../call/accounting/usage.ts'

/** Longest answer in characters. */
const maxChars = 1_000_000
/** Number of stop sequences that are applied; OpenAI permits four. */
const maxStops = 16

/** A text within the limits of its request. */
export interface LimitedText {
  readonly text: string
  readonly isCut: boolean
}

/**
 * Applies the caller's limits as a provider would: the text ends before a stop sequence, or is cut.
 * @param limit in tokens; undefined for none.
 */
export const limitedText = (whole: string, stop: unknown, limit: unknown): LimitedText => {
  const text = stopped(whole.slice(0, maxChars), stop)
  if (typeof limit !== 'number' || tokensOfChars(text.length) <= limit) return { text, isCut: whole.length > maxChars }
  return { text: text.slice(0, Math.max(0, limit) * 4), isCut: true }
}

const maxChoices = 128

/** Returns the number of choices that a request has (`n`). */
export const choicesOf = ({ n }: WireObject): number =>
  typeof n === 'number' ? Math.min(maxChoices, Math.max(1, Math.floor(n))) : 1

/** Limits the text of several choices, so that all together are no longer than one may be. */
export const sharedText = (text: string, choices: number): string => text.slice(0, Math.floor(maxChars / choices))

const stopped = (text: string, stop: unknown): string => {
  const words = (typeof stop === 'string' ? [stop] : arrayOf(stop).slice(0, maxStops))
    .map(textOf)
    .filter((word) => word !== '')
  const ends = words.map((word) => text.indexOf(word)).filter((at) => at >= 0)
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends))
}
