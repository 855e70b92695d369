import type { Actor as Answer } from './answers.d.ts'
import { activeAt, effectSpans, type StepBook } from './steps-model.ts'

type Flight = Omit<Answer['in_flight'][number], 'policy'> & { readonly policy: string }

/** as the server answers, or a saved bundle has it */
export type Actor = Omit<Answer, 'state' | 'in_flight'> & { readonly in_flight: readonly Flight[] }

/** The state in words: the innermost active one, or that the actor is parked. */
export const stateOf = (actor: Actor) => (actor.parked === null ? (actor.active.at(-1) ?? '') : 'parked')

/** The actor as of a commit, as far as the loaded commits show it. */
export const actorAt = (actor: Actor, book: StepBook, index: number): Actor => {
  const step = book.steps[index]
  if (step === undefined) return actor
  const leaf = book.stateAt(index)
  const spans = effectSpans(book.steps.slice(0, index + 1))
  const in_flight = step.in_flight.map(({ id, name }) => {
    const span = spans.find((each) => each.id === id)
    const since = span === undefined ? null : new Date(span.startedAt).toISOString()
    return { id, name, policy: span?.policy ?? '', started: true, about: null, since, deadline: null }
  })
  return {
    ...actor,
    ...{ active: leaf === null ? actor.active : activeAt(leaf), parked: null, seq: step.seq, updated_at: step.at },
    ...{ last_sequence: book.sequenceAt(index), in_flight, reminders: step.reminders },
  }
}
