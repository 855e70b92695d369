import { actionDefinition } from '#machines/action/action-definition.ts'
import { definitionOf, type StateValue } from '#machines/index.ts'
import type { RunContext } from '#machines/run/run-data.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import type { OpenCall } from '#machines/session/session-data.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Storage, StoredLogEvent } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import { nullWhenNotFound, orNotFound } from '../call/not-found.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { shownPayload } from '../records/shown-event.ts'
import { contextOf, storedState } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import { listSessions } from '../sessions/list-sessions.ts'
import { flightsOf } from './flights.ts'
import type { Nodes } from './nodes.ts'

export interface ActorViewParts extends Pick<Services, 'definitions' | 'host' | 'records'> {
  readonly storage: Pick<Storage, 'blobs' | 'commits'>
  readonly nodes: Pick<Nodes, 'runnerOf'>
}

type Actor = ResultOf<'project_actors.get'>
type ActorEvent = ResultOf<'project_actors.events'>['data'][number]
type Related = Actor['related'][number]

/**
 * The console's views of a project. The scope is the project that the path names; authentication has checked that it
 * belongs to the member.
 */
export const actorViewUseCases = ({
  host,
  records,
  storage,
  definitions,
  nodes,
}: ActorViewParts): UseCasesOf<'project_sessions' | 'project_actors'> => ({
  'project_sessions.list': (call) => listSessions({ host, records }, call),
  'project_actors.get': async (call) => {
    const actor = await findActor({ host, definitions }, call)
    const [related, node, in_flight] = await Promise.all([
      relatedTo({ host, definitions, scope: call.scope }, actor),
      nodes.runnerOf(actor.id),
      flightsOf(storage, actor),
    ])
    return actorView(actor, { related, node, in_flight })
  },
  'project_actors.events': async (call) => {
    const actor = await findActor({ host, definitions }, call)
    const { after, limit } = call.query
    const events = await host.readPage(actor, after, limit)
    return { data: events.map(actorEventView), last_sequence: actor.state.lastSequence }
  },
  'project_actors.stream': async (call) => {
    const actor = await findActor({ host, definitions }, call)
    return { stream: host.feed.follow(actor.id, call.after ?? 0, { at: 'never' }), replayed: false }
  },
})

type ActorCall = Pick<Call<{ readonly actor_id: string }, unknown, unknown>, 'scope' | 'params'>

/**
 * Returns an actor of any machine, even if it is parked. @throws {ServiceError} `not_found`, also for an actor of
 * another project.
 */
const findActor = async (
  { host, definitions }: Pick<ActorViewParts, 'host' | 'definitions'>,
  { scope, params }: ActorCall,
): Promise<Resident> => {
  const id = params.actor_id
  const definition = orNotFound(definitionOf(definitions, id), 'actor_id')
  try {
    return await host.find(scope, definition, id)
  } catch (error) {
    // the scope has been checked when `actor_parked` is thrown, so the actor may be shown
    const parked = error instanceof ServiceError && error.code === 'actor_parked' ? await host.load(id) : null
    if (parked === null) throw error
    return parked
  }
}

/** A live actor, as the API returns it. */
const actorView = (
  actor: Resident,
  { related, node, in_flight }: Pick<Actor, 'related' | 'node' | 'in_flight'>,
): Actor => {
  const { definition, state, parked } = actor
  const { value } = storedState(state.snapshot)
  return {
    id: actor.id,
    machine: definition.name,
    version: definition.version,
    // a parked actor holds a placeholder instead of the state that could not be restored
    state: parked === undefined ? value : null,
    active: parked === undefined ? activePaths(value) : [],
    seq: state.seq,
    last_sequence: state.lastSequence,
    busy: actor.busy,
    node,
    parked: parked ?? null,
    in_flight,
    reminders: Object.entries(state.reminders).map(([name, { due }]) => ({ name, due: new Date(due).toISOString() })),
    related,
    created_at: new Date(actor.owner.createdAt).toISOString(),
    updated_at: new Date(actor.touchedAt).toISOString(),
  }
}

/** Returns the dotted paths of all active states, outer states first. */
export const activePaths = (value: StateValue, prefix = ''): readonly string[] => {
  if (typeof value === 'string') return [prefix + value]
  return Object.entries(value).flatMap(([state, inner]) => {
    const path = prefix + state
    return inner === undefined ? [path] : [path, ...activePaths(inner, `${path}.`)]
  })
}

/** Dependencies of the lookup of related actors, and its scope. */
type Place = Pick<ActorViewParts, 'host' | 'definitions'> & Pick<ActorCall, 'scope'>

const relatedTo = async (place: Place, actor: Resident): Promise<readonly Related[]> => {
  if (actor.parked !== undefined) return []
  const { context } = actor.state.snapshot
  if (actor.definition === actionDefinition) {
    const { session_id, run_id } = contextOf(actionDefinition, { context })
    const waiter = session_id ?? run_id
    return waiter === null ? [] : listed([await relatedActor(place, waiter)])
  }
  if (actor.definition === runDefinition) return relatedToRun(place, contextOf(runDefinition, { context }))
  if (actor.definition !== sessionDefinition) return []
  const open = contextOf(sessionDefinition, { context }).calls.filter(
    ({ status }) => status === 'pending' || status === 'running',
  )
  return listed(await Promise.all(open.map((call) => openAction(place, call))))
}

/** The run that delegated to this one, its own children, and the actions that it waits for. */
const relatedToRun = async (place: Place, { parent, calls }: RunContext): Promise<readonly Related[]> => {
  const open = calls.filter(({ status }) => status === 'pending' || status === 'running')
  const found = open.map((call) =>
    call.child === null ? openAction(place, call) : relatedActor(place, call.child, call.tool),
  )
  const above = parent === null ? [] : [relatedActor(place, parent.run_id)]
  return listed(await Promise.all([...above, ...found]))
}

/**
 * Returns the action of a tool call. The message that creates it may still be in transit; this does not wait for that,
 * which could take forever, and shows the action as pending.
 */
const openAction = async (place: Place, { action_id, tool, status }: OpenCall): Promise<Related | null> => {
  const action = await relatedActor(place, action_id, tool)
  if (action !== null || status !== 'pending') return action
  return { id: action_id, machine: actionDefinition.name, state: 'pending_approval', label: tool }
}

const listed = (found: readonly (Related | null)[]): readonly Related[] => found.filter((each) => each !== null)

/** Returns a related actor; null when there is none: a call that needs no approval has no actor. */
const relatedActor = async (place: Place, id: string, label: string | null = null): Promise<Related | null> => {
  const actor = await findActor(place, { scope: place.scope, params: { actor_id: id } }).catch(nullWhenNotFound)
  if (actor === null) return null
  const { value } = storedState(actor.state.snapshot)
  const state = actor.parked === undefined ? (activePaths(value).at(-1) ?? '') : 'parked'
  return { id, machine: actor.definition.name, state, label }
}

const actorEventView = (event: StoredLogEvent): ActorEvent => ({
  sequence: event.sequence,
  event_type: event.event_type,
  turn_number: event.turn_number ?? null,
  payload: shownPayload(event, 'person'),
  created_at: new Date(event.at).toISOString(),
})
