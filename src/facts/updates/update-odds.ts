import { partsOf } from '../parts.ts'
import { cues } from './cues.ts'
import { mayUpdate } from './updates.ts'

/** How a newer statement is judged beside older ones: by what it says of itself, and by whether rules see the same subject in both. */
const signs = [cues.corrects, cues.ends, cues.changes, cues.adds, cues.passing] as const

/** Returns the signs of an update of `older` by `newer`, each 0 or 1, in the order of their weights. */
export const updateSigns = (newer: string, older: string): readonly number[] => {
  const low = newer.toLowerCase()
  const parts = partsOf(older)
  const may = (change: 'change' | 'end'): boolean => parts.some(({ text }) => mayUpdate(newer, text, change))
  return [...signs.map((sign) => sign.test(low)), may('change'), may('end')].map(Number)
}

/** Weights of the signs beside the sentence model's judge, fitted with it by `bench/memory-sets/fit-updates.ts`. */
const weights = { bias: -16.58, signs: [0.03816, 0.2914, 0.2452, -0.6511, -0.6461, 0.5427, -0.3307] }

/** Returns what the signs add to the logarithm of the odds, by the sentence model, that `newer` updates `older`. */
export const oddsOfSigns = (newer: string, older: string): number =>
  updateSigns(newer, older).reduce((sum, sign, at) => sum + sign * (weights.signs[at] ?? 0), weights.bias)

/** Logarithms of the odds from which a statement is superseded, and from which it is only marked as doubtful. */
const [surely, perhaps] = [0.8, -3]

/** Number of candidates beyond which each more raises both: one of many is more easily taken for what is meant. */
const few = 4

/** Multiples of the logarithm of their number over `few` by which both rise. */
const [risenSurely, risenPerhaps] = [2, 1.5]

/** Returns which of several statements is updated: the place of the likeliest, and whether that is sure; null when none is likely. */
export const updatedOf = (odds: readonly number[]): { readonly place: number; readonly sure: boolean } | null => {
  const best = Math.max(...odds)
  const many = Math.log(Math.max(1, odds.length / few))
  return odds.length === 0 || best - risenPerhaps * many <= perhaps
    ? null
    : { place: odds.indexOf(best), sure: best - risenSurely * many > surely }
}
