import { randomBytes } from 'node:crypto'
import type { Caller } from '../call/caller.ts'
import { type Complete, judged } from '../call/guarding/model-verdict.ts'
import type { QuestionJudge } from '../call/reuse.ts'

/** Two questions, and the caller of the second one. */
interface Compared {
  readonly questions: readonly [stored: string, current: string]
  readonly caller: Caller
}

/** Decides whether the answer to one question is the answer to another. Never throws. */
export type SameAnswer = (judge: QuestionJudge, compared: Compared) => Promise<boolean>

const instructions =
  'You compare two messages of users to the same assistant. They are the same only if a complete and correct answer to the first is a complete and correct answer to the second, and the other way round. Another subject, object, number, time, place, person, condition, negation or wanted detail makes them different. When in doubt they are different.'

/**
 * Compares questions by a model, in one call of its own, which is metered and limited as any other. Whatever fails, and what
 * is no clear verdict, counts as different. The name of the verdict is a new one each time, so no text can contain it.
 */
export const questionJudge =
  (complete: Complete): SameAnswer =>
  async ({ model, timeoutMs }, { questions, caller }) => {
    const field = `same_${randomBytes(8).toString('hex')}`
    const call = { operation: 'cache_policy.judge', caller, signal: AbortSignal.timeout(timeoutMs) }
    try {
      return (await judged(complete, call, { model, instructions, texts: questions, field })) === true
    } catch {
      return false
    }
  }
