import { definitionOf } from '#machines/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Commit, CommitStore, Json } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import { sanitized, truncated } from '../records/sanitize.ts'
import type { ObservationParts } from './list-actors.ts'

type Step = ResultOf<'observation.steps'>['data'][number]

const time = (ms: number): string => new Date(ms).toISOString()

/** Returns one page of an actor's commits. @throws {ServiceError} `not_found`, also for an actor of another project. */
export const actorSteps = async (
  { host, definitions, commits }: Pick<ObservationParts, 'host' | 'definitions'> & { readonly commits: CommitStore },
  { scope, params, query }: Parameters<UseCases['observation.steps']>[0],
): Promise<ResultOf<'observation.steps'>> => {
  const definition = orNotFound(definitionOf(definitions, params.actor_id), 'actor_id')
  const { state } = await host.find(scope, definition, params.actor_id).catch(async (error: unknown) => {
    // the scope has been checked when `actor_parked` is thrown, so the actor may be shown
    const parked = error instanceof ServiceError && error.code === 'actor_parked'
    const actor = parked ? await host.load(params.actor_id) : null
    if (actor === null) throw error
    return actor
  })
  const found = await commits.ofActor(params.actor_id, query.after, query.limit)
  return { data: found.map(stepView), last_seq: state.seq }
}

/** A commit as a step, as the API returns it. */
const stepView = (commit: Commit): Step => ({
  seq: commit.seq,
  at: time(commit.at),
  version: commit.machine,
  cause: commit.cause,
  caused_by: causeKind(commit),
  event: commit.event.type,
  owner: ownerSince(commit),
  from: commit.moved?.[0] ?? null,
  to: commit.moved?.[1] ?? null,
  context: commit.changed === undefined ? null : sanitized(commit.changed),
  events: commit.events.map(({ sequence, event_type }) => ({ sequence, event_type })),
  effects: commit.effects.map(({ params, ...effect }) => ({ ...effect, params: shownParams(params) })),
  messages: commit.messages.map(({ id, to, event }) => ({ id, to, event: event.type })),
  reminders: Object.entries(commit.reminders).map(([name, { due }]) => ({ name, due: time(due) })),
  in_flight: Object.entries(commit.in_flight).map(([id, { name }]) => ({ id, name })),
})

/** The process that runs the actor from this commit on, if it changed; else null. */
const ownerSince = ({ seq, at, epoch, event }: Pick<Commit, 'seq' | 'at' | 'epoch' | 'event'>): Step['owner'] => {
  const taken = event.type === '$fenced' || (event.type === '$migrated' && typeof event.at === 'number')
  if (seq !== 1 && !taken) return null
  return {
    node: typeof event.node === 'string' ? event.node : null,
    epoch,
    since: seq === 1 ? time(at) : typeof event.at === 'number' ? time(event.at) : null,
    after_crash: typeof event.crashed === 'boolean' ? event.crashed : null,
  }
}

/** Classifies what caused a step, by the format of its cause: ids of messages, effects and reminders differ. */
const causeKind = ({ seq, cause, event }: Pick<Commit, 'seq' | 'cause' | 'event'>): Step['caused_by'] => {
  if (['$retry', '$skip', '$discard'].includes(event.type)) return 'operator'
  if (event.type.startsWith('$')) return 'runtime'
  if (seq === 1) return 'creation'
  if (cause.endsWith('#done')) return 'effect'
  if (cause.includes('#')) return 'part'
  if (/:\d+:m\d+$/.test(cause)) return 'message'
  if (event.type.startsWith('xstate.after')) return 'reminder'
  return 'request'
}

const shownParams = (params: Json): Json => {
  const shown = sanitized(params)
  const text = JSON.stringify(shown)
  return text.length <= maxParamsLength ? shown : truncated(text).slice(0, maxParamsLength)
}

const maxParamsLength = 2_000
