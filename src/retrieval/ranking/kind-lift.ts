import type { Concept } from '../analysis/analysis.ts'
import { type StatementKind, seeksAdvice } from '../analysis/statement-kind.ts'
import type { PassageTable } from '../passage-table.ts'
import type { Weights } from './weights.ts'

/** Share of a question's words at which an instruction or a preference is lifted in full. */
const wholly = 0.3

/** Scores to adjust, by slot, and how much of the question's words each passage has. */
export interface Lifted {
  readonly concepts: readonly Concept[]
  readonly scores: Float32Array
  readonly found: (slot: number) => number
  readonly allowed: Uint8Array
}

/**
 * Raises the scores of instructions for later requests, and of preferences if the question seeks advice, because they
 * share few words with the requests they apply to. The instruction with the most words of the question, or the closer
 * of two with equally many, gets a score near the best of the other passages. Replies to the assistant are lowered.
 */
export function liftByKind(
  question: string,
  { table, weights }: { readonly table: PassageTable; readonly weights: Weights },
  { concepts, scores, found, allowed }: Lifted,
): void {
  if ((weights.instruction === 0 && weights.reply === 0) || table.kinds.size === 0) return
  const preference = seeksAdvice(question) ? weights.preference : 0
  const lifts: Readonly<Record<StatementKind, number>> = { instruction: weights.instruction, preference, reply: 0 }
  let [closest, close] = [-1, 0]
  for (const [slot, kind] of table.kinds) {
    if ((allowed[slot] ?? 0) === 0) continue
    const score = scores[slot] ?? 0
    const isAbout = kind === 'instruction' && score > 0 ? score + wordsIn(table.conditionOf(slot), concepts) : 0
    if (isAbout > close) [closest, close] = [slot, isAbout]
    scores[slot] =
      kind === 'reply' ? score * (1 - weights.reply) : score + Math.min(1, found(slot) / wholly) * lifts[kind]
  }
  if (closest === -1 || weights.closestInstruction === 0) return
  const max = scores.reduce((all, score) => Math.max(all, score), 0)
  scores[closest] = Math.max(scores[closest] ?? 0, weights.closestInstruction * max)
}

const wordsIn = (terms: ReadonlySet<string>, concepts: readonly Concept[]): number =>
  concepts.filter((concept) => concept.terms.some((term) => terms.has(term))).length
