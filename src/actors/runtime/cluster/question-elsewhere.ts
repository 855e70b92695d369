import type { JsonObject } from '#storage/ports.ts'
import type { Host } from '../host.ts'
import type { Routed } from './router.ts'

/** Routes a question to an effect to the process that runs its actor. */
export const questionElsewhere = (
  { atWork }: Pick<Host, 'atWork'>,
  actor: string,
  question: JsonObject,
): Routed<JsonObject | null> => ({
  here: () => atWork.answer(actor, question),
  request: () => ({ kind: 'question', actor, question }),
  answered: (answer) => (answer.kind === 'said' ? answer.said : null),
})
