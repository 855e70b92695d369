import { seeksAdvice } from '../analysis/stance.ts'
import type { PassageTable } from '../passage-table.ts'
import type { Weights } from './weights.ts'

/** Share of a question's words from which an instruction or a preference is about it wholly. */
const wholly = 0.3

/** What is lifted: scores by slot, and how much of the question's words each has. */
export interface Lifted {
  readonly scores: Float32Array
  readonly found: Float32Array
  readonly allowed: Uint8Array
}

/**
 * Lifts instructions that hold for later requests, and preferences where the question looks for advice: they share few
 * words with a request that they are about. The closest instruction comes near the best of the other passages.
 */
export function liftStances(
  question: string,
  { table, weights }: { readonly table: PassageTable; readonly weights: Weights },
  { scores, found, allowed }: Lifted,
): void {
  if (weights.instruction === 0 || table.stances.size === 0) return
  const preference = seeksAdvice(question) ? weights.preference : 0
  let [closest, close] = [-1, 0]
  for (const [slot, kind] of table.stances) {
    if ((allowed[slot] ?? 0) === 0) continue
    const score = scores[slot] ?? 0
    if (kind === 'instruction' && score > close) [closest, close] = [slot, score]
    const about = Math.min(1, (found[slot] ?? 0) / wholly)
    scores[slot] = score + about * (kind === 'instruction' ? weights.instruction : preference)
  }
  if (closest === -1) return
  const most = scores.reduce((all, score) => Math.max(all, score), 0)
  scores[closest] = Math.max(scores[closest] ?? 0, weights.closestInstruction * most)
}
