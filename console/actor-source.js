import { callApi, pathOf } from './api.js'
import { follow } from './follow.js'

/**
 * @typedef {import('./actor-facts.js').Actor} Actor
 *
 * The source of a page's actor.
 *
 * @typedef {object} ActorSource
 * @property {boolean} live whether the actor may change, and can be acted on
 * @property {() => Promise<Actor>} actor
 * @property {(after: number, limit: number) => Promise<{ data: readonly Step[], last_seq: number }>} steps
 * @property {(after: number, limit: number) => Promise<{ data: readonly ActorEvent[], last_sequence: number }>} events
 * @property {(options: Omit<import('./follow.js').FollowOptions, 'url'> & { last: () => number }) => () => void} follow
 */

/** An actor on the server. @param {string} project @param {string} id @returns {ActorSource} */
export const liveSource = (project, id) => {
  const params = { actor_id: id }
  return {
    live: true,
    actor: () => callApi(project, 'project_actors.get', { params }),
    steps: (after, limit) => callApi(project, 'observation.steps', { params, query: { after, limit } }),
    events: (after, limit) => callApi(project, 'project_actors.events', { params, query: { after, limit } }),
    follow: ({ last, ...options }) =>
      follow({
        ...options,
        url: () => pathOf(project, 'project_actors.stream', { params, query: { after: last(), restarts: true } }),
      }),
  }
}

/** An actor from a saved bundle. @param {import('./bundle.js').Bundle} bundle @returns {ActorSource} */
export const bundleSource = ({ actor, steps, log }) => ({
  live: false,
  actor: async () => actor,
  steps: async (after, limit) => ({
    data: steps.filter(({ seq }) => seq > after).slice(0, limit),
    last_seq: steps.at(-1)?.seq ?? 0,
  }),
  events: async (after, limit) => ({
    data: log.filter(({ sequence }) => sequence > after).slice(0, limit),
    last_sequence: log.at(-1)?.sequence ?? 0,
  }),
  follow: () => () => {},
})

/** Number of events per read. */
const pageSize = 200

/** The events of an actor's log after one of them, so many at most. @param {string} project @param {string} id @param {number} after sequence of that event @param {number} max @returns {Promise<readonly ActorEvent[]>} */
export const eventsAfter = async (project, id, after, max) => {
  const events = []
  for (let last = after, more = true; more && events.length < max; ) {
    const { data, last_sequence } = await liveSource(project, id).events(last, pageSize)
    events.push(...data)
    last = data.at(-1)?.sequence ?? last_sequence
    more = last < last_sequence
  }
  return events
}

/** The newest events of an actor's log. @param {string} project @param {string} id @param {number} max */
export const newestEvents = async (project, id, max) => {
  const { last_sequence } = await callApi(project, 'project_actors.get', { params: { actor_id: id } })
  return eventsAfter(project, id, Math.max(0, last_sequence - max), max)
}
