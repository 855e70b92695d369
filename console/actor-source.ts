import type { Actor } from './actor-facts.ts'
import { callApi, pathOf } from './api.ts'
import type { Bundle } from './bundle.ts'
import { type FollowOptions, follow } from './follow.ts'

export interface ActorSource {
  /** whether the actor may change, and can be acted on */
  readonly live: boolean
  readonly actor: () => Promise<Actor>
  readonly steps: (after: number, limit: number) => Promise<{ data: readonly Step[]; last_seq: number }>
  readonly events: (after: number, limit: number) => Promise<{ data: readonly ActorEvent[]; last_sequence: number }>
  readonly follow: (options: Omit<FollowOptions, 'url'> & { last: () => number }) => () => void
}

/** An actor on the server. */
export const liveSource = (project: string, id: string): ActorSource => {
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

/** An actor from a saved bundle. */
export const bundleSource = ({ actor, steps, log }: Bundle): ActorSource => ({
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

/** The events of an actor's log after one of them, so many at most. @param after sequence of that event */
export const eventsAfter = async (
  project: string,
  id: string,
  after: number,
  max: number,
): Promise<readonly ActorEvent[]> => {
  const events = []
  for (let last = after, more = true; more && events.length < max; ) {
    const { data, last_sequence } = await liveSource(project, id).events(last, pageSize)
    events.push(...data)
    last = data.at(-1)?.sequence ?? last_sequence
    more = last < last_sequence
  }
  return events
}

/** The newest events of an actor's log. */
export const newestEvents = async (project: string, id: string, max: number) => {
  const { last_sequence } = await callApi(project, 'project_actors.get', { params: { actor_id: id } })
  return eventsAfter(project, id, Math.max(0, last_sequence - max), max)
}
