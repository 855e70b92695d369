import { activeAt, effectSpans } from './steps-model.js'

/**
 * @typedef {{ id: string, machine: string, state: string, label: string | null }} Related
 * @typedef {object} Actor
 * @property {string} id
 * @property {string} machine
 * @property {number} version
 * @property {readonly string[]} active
 * @property {number} seq
 * @property {number} last_sequence
 * @property {boolean} busy
 * @property {string | null} node
 * @property {string | null} parked
 * @property {readonly { id: string, name: string, policy: string, started: boolean, about: string | null, since: string | null, deadline: string | null }[]} in_flight
 * @property {readonly { name: string, due: string }[]} reminders
 * @property {readonly Related[]} related
 * @property {string} created_at
 * @property {string} updated_at
 */

/** The state in words: the innermost active one, or that the actor is parked. @param {Actor} actor */
export const stateOf = (actor) => (actor.parked === null ? (actor.active.at(-1) ?? '') : 'parked')

/** The actor as of a commit, as far as the loaded commits show it. @param {Actor} actor @param {import('./steps-model.js').StepBook} book @param {number} index @returns {Actor} */
export const actorAt = (actor, book, index) => {
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
