import { h } from './dom.js'
import { ahead, preciseTime, stateName, time, toneOf } from './format.js'
import { titleOf } from './names.js'
import { routeHash } from './route.js'
import { activeAt, effectSpans, ownersOf, takeoverText } from './steps-model.js'

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

/**
 * The actor as of a commit, as far as the loaded commits show it.
 *
 * @param {Actor} actor
 * @param {import('./steps-model.js').StepBook} book
 * @param {number} index
 * @returns {Actor}
 */
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

/** A coloured label for a state or a status. @param {string} state */
export const chip = (state) => h('span', { class: 'chip', 'data-tone': toneOf(state), title: state }, stateName(state))

/**
 * Related actors, such as open actions, as links to their charts; null when there are none.
 *
 * @param {string} project
 * @param {Actor} actor
 */
export const relatedList = (project, actor) => {
  if (actor.related.length === 0) return null
  const title = actor.machine === 'session' ? 'Open actions' : actor.machine === 'action' ? 'Belongs to' : 'Related'
  return h(
    'section',
    { class: 'related', 'aria-label': title },
    h('h2', {}, title),
    h('ul', {}, ...actor.related.map((each) => relatedItem(project, each))),
  )
}

/**
 * Facts about an actor in addition to its state.
 *
 * @param {Actor} actor
 */
export const factList = (actor) =>
  h(
    'dl',
    { class: 'facts' },
    ...fact('Machine', `${actor.machine} v${actor.version}`),
    ...fact('Node', actor.node ?? 'none'),
    ...fact('Commits', String(actor.seq)),
    ...fact('Events', String(actor.last_sequence)),
    ...fact('In flight', listed(actor.in_flight.map(({ name, policy }) => `${name} (${policy.replaceAll('_', ' ')})`))),
    ...fact('Reminders', listed(actor.reminders.map(({ name, due }) => `${shortName(name, actor)} ${ahead(due)}`))),
    ...fact('Created', time(actor.created_at)),
    ...fact('Updated', time(actor.updated_at)),
  )

/**
 * The nodes that ran the actor and when, newest first; null when there was only one process.
 *
 * @param {readonly import('./steps-model.js').Step[]} steps
 */
export const ownerList = (steps) => {
  const owners = ownersOf(steps)
  if (!owners.some(({ seq }) => seq > 1)) return null
  return h(
    'section',
    { class: 'owners', 'aria-label': 'Takeovers' },
    h('h2', {}, 'Takeovers'),
    h('ol', {}, ...owners.map(ownerItem)),
  )
}

/** @param {ReturnType<typeof ownersOf>[number]} owner */
const ownerItem = (owner) => {
  const { node, epoch, since, until, after_crash, seq } = owner
  const from = since === null ? 'an earlier time' : preciseTime(since)
  return h(
    'li',
    {},
    h('strong', {}, node ?? 'a node'),
    ` from ${from} ${until === null ? 'on' : `to ${preciseTime(until)}`}, commit ${seq}, epoch ${epoch} `,
    h('span', { class: 'chip', 'data-tone': after_crash ? 'bad' : 'calm' }, takeoverText(owner)),
  )
}

/** @param {string} project @param {Related} related */
const relatedItem = (project, { id, label, state }) =>
  h(
    'li',
    {},
    chip(state),
    h('a', { href: routeHash({ view: 'actor', project, id }), title: id, 'data-id': id }, titleOf(id, label)),
  )

/** @param {string} name @param {string} value */
const fact = (name, value) => [h('dt', {}, name), h('dd', {}, value)]

/** @param {readonly string[]} words */
const listed = (words) => (words.length === 0 ? 'none' : words.join(', '))

/**
 * Shortens XState's name of a delay, which is `xstate.after.<delay>.<machine>.<state>`.
 *
 * @param {string} name
 * @param {Actor} actor
 */
const shortName = (name, { machine }) => name.replace(/^xstate\.after\./, '').replace(`.${machine}.`, ' of ')
