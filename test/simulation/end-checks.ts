import { matchesState } from 'xstate'
import { actionDefinition } from '#machines/action/action-definition.ts'
import type { StateValue } from '#machines/definition.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { contextOf } from '#runtime/schema.ts'
import { readParked, readStoredState } from '#runtime/step/actor-state.ts'
import { inPieces } from '#storage/pieces.ts'
import type { Commit, JsonObject, OpenCommit, Storage } from '#storage/ports.ts'
import type { KnownActor, Ledger } from './ledger.ts'
import { isBad } from './world/bad-actors.ts'
import type { OutsideWorld } from './world/outside-world.ts'

const newest = ({ commits }: KnownActor): Commit | undefined => commits.at(-1)
const stateOf = (commit: Commit | undefined): StateValue => (commit === undefined ? '' : readStoredState(commit).value)
const stored = (commit: Commit | undefined): JsonObject => (commit ? readStoredState(commit).context : {})

/** Clocks are off by some time, and reminders are delivered at intervals. */
const slackMs = 5000

/**
 * What has to hold once faults have ended and the system is idle: no work is left, nothing was done twice or without
 * cause.
 */
export const checkTheEnd = async (
  ledger: Ledger,
  outside: OutsideWorld,
  inner: Storage,
  now: number,
): Promise<void> => {
  for (const [id, known] of ledger.actors) {
    const commit = newest(known)
    if (commit === undefined) continue
    ledger.expect(readParked(commit) === undefined, () => `${id} is parked still`)
    const flights = Object.keys(commit.in_flight)
    ledger.expect(flights.length === 0, () => `${id} still has ${flights.join()} in flight`)
    ledger.expect(commit.due === null || commit.due > now - slackMs, () => `${id} has a reminder that nobody delivers`)
    if (id.startsWith('ses_')) checkSession(id, known, commit, ledger)
    if (id.startsWith('act_')) checkAction(id, known, commit, ledger, outside)
    const head = await inner.commits.head(id)
    ledger.expect(head?.seq === commit.seq, () => `the store has ${id} at ${head?.seq}, not ${commit.seq}`)
  }
}

/** The store returns every committed event once, in order and with its time, from any point a reader resumes at. */
export const checkLogs = async (ledger: Ledger, inner: Storage): Promise<void> => {
  for (const [id, { commits }] of ledger.actors) {
    if (ledger.forgotten.has(id)) continue
    const written = commits.flatMap(({ events, at }) =>
      inPieces(events).map(({ sequence, event_type }) => [sequence, event_type, at]),
    )
    const middle = Math.floor(written.length / 2)
    const after = Number(written[middle - 1]?.[0] ?? 0)
    const read = async (from: number) =>
      (await inner.commits.events(id, from, 10_000)).map(({ sequence, event_type, at }) => [sequence, event_type, at])
    const [all, half] = [JSON.stringify(await read(0)), JSON.stringify(await read(after))]
    ledger.expect(all === JSON.stringify(written), () => `the log of ${id} is ${all}, not ${JSON.stringify(written)}`)
    ledger.expect(half === JSON.stringify(written.slice(middle)), () => `the log of ${id} after ${after} is ${half}`)
  }
}

/** After a clean restart no work is left, and nothing of deleted actors. */
export const checkTidiness = async (ledger: Ledger, inner: Storage, now: number): Promise<void> => {
  for (const id of ledger.forgotten) {
    const head = await inner.commits.head(id)
    ledger.expect(head === null, () => `${id} was deleted, and is in the store`)
  }
  // an actor that was loaded a moment ago was fenced, and is closed when it is left alone
  const open = (await inner.commits.open({ limit: 100 })).filter(
    (commit) => writtenAt(commit, ledger) < now - slackMs && !isBad(commit.actor),
  )
  ledger.expect(open.length === 0, () => `still open: ${open.map(({ actor, seq }) => `${actor}:${seq}`).join()}`)
}

/** A fence has the time of the commit before it, which may be long ago. */
const writtenAt = ({ actor, seq, at }: OpenCommit, ledger: Ledger): number => {
  const event = ledger.actors.get(actor)?.commits[seq - 1]?.event
  return event?.type === '$fenced' ? Number(event.at) : at
}

const checkSession = (id: string, known: KnownActor, commit: Commit, ledger: Ledger): void => {
  const state = stateOf(commit)
  ledger.expect(!matchesState('active.working', state), () => `${id} still works`)
  ledger.expect(!matchesState('deleted', state), () => `${id} is deleted, and its log stays`)
  const waits = matchesState('paused', state)
  ledger.expect(known.log.open === waits, () => `${id} is ${JSON.stringify(state)} and its turn is not`)
  for (const call of contextOf(sessionDefinition, { context: stored(commit) }).calls) {
    if (!waits || call.status !== 'pending') continue
    const action = ledger.actors.get(call.action_id)
    const value = action && stateOf(newest(action))
    ledger.expect(value === 'pending_approval', () => `${id} waits for ${call.action_id}, which is ${String(value)}`)
  }
}

const checkAction = (id: string, known: KnownActor, commit: Commit, ledger: Ledger, outside: OutsideWorld): void => {
  const state = stateOf(commit)
  const action = contextOf(actionDefinition, { context: stored(commit) })
  const calls = outside.calls.get(id)?.length ?? 0
  if (state === 'pending_approval') checkPending(id, action.owner, commit, ledger)
  if (action.kind !== 'http') return
  const approved = known.commits.some(({ event }) => event.type === 'approve')
  ledger.expect(approved || calls === 0, () => `the tool of ${id} is called without an approval`)
  ledger.expect(state !== 'executing', () => `${id} still executes`)
  if (state === 'executed') {
    ledger.expect(calls > 0, () => `${id} is executed without a call`)
    const key = outside.calls.get(id)?.at(-1)
    ledger.expect(action.output === `ran ${key}`, () => `${id} was answered ${action.output}`)
  }
  if (state === 'failed' && action.error?.code === 'tool_http_error') {
    ledger.expect(calls > 0, () => `${id} failed without a call`)
  }
}

/** A waiting action is expected by a session, and has an expiry. */
const checkPending = (id: string, owner: string | null, commit: Commit, ledger: Ledger): void => {
  const session = owner === null ? undefined : ledger.actors.get(owner)
  const calls = session ? contextOf(sessionDefinition, { context: stored(newest(session)) }).calls : []
  const wanted = owner === null || calls.some((call) => call.action_id === id && call.status === 'pending')
  ledger.expect(wanted, () => `${id} waits for an approval that nobody wants`)
  ledger.expect(commit.due !== null, () => `${id} waits without an end`)
}

/** Long afterwards, unused actors have expired. */
export const checkExpiry = (ledger: Ledger): void => {
  for (const [id, known] of ledger.actors) {
    const state = stateOf(newest(known))
    ledger.expect(state !== 'pending_approval', () => `${id} has not expired`)
    ledger.expect(!matchesState('active.idle', state), () => `${id} has not expired`)
    ledger.expect(!matchesState('paused', state), () => `${id} still waits after all its actions have expired`)
  }
}
