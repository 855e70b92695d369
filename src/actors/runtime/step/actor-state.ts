import type { AnyMachineSnapshot } from 'xstate'
import type { MachineDefinition, StateValue, StoredState } from '#machines/definition.ts'
import type { Commit, InFlight, Json, JsonObject, Reminder } from '#storage/ports.ts'
import { isObject, isStateValue } from '../schema.ts'

/** Text of the current turn, folded from the log, and the sequence before its first event. */
export interface TurnText {
  readonly from: number
  readonly value: string
}

/** An actor's whole state in memory: the after-image of its newest commit. Immutable; a step makes the next one. */
export interface ActorState {
  readonly seq: number
  readonly lastSequence: number
  /** Number of sequences to leave out before the next event (fence.ts). */
  readonly skip: number
  readonly snapshot: AnyMachineSnapshot
  readonly reminders: Readonly<Record<string, Reminder>>
  readonly inFlight: Readonly<Record<string, InFlight>>
  readonly text: TurnText
  /** Why the actor is parked, that is, accepts no events until an operator decides; absent while it runs. */
  readonly parked?: Parked
}

/**
 * Number of failures at which a throw of an effect parks its actor. With one failure fewer, an effect that is started
 * again after a crash is treated as suspect (counted-starts.ts).
 */
export const maxStarts = 3

/** Why an actor is parked: an effect failed too often, or the machine throws at its result. */
export interface Parked {
  readonly kind: 'parked_actor' | 'poison_result'
  /** Id of the effect. */
  readonly effect: string
  readonly reason: string
}

/** Only the state of a step's draft: the rest is not needed after the commit, and may be large. */
export const stateAlone = ({
  seq,
  lastSequence,
  skip,
  snapshot,
  reminders,
  inFlight,
  text,
  parked,
}: ActorState): ActorState => {
  const state = { seq, lastSequence, skip, snapshot, reminders, inFlight, text }
  return parked === undefined ? state : { ...state, parked }
}

/** Owner of an actor, and its time of creation in ms since the epoch. Fixed at its first commit. */
export interface Owner {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  readonly createdAt: number
}

/** The machine's own part of a state, as plain data. */
export const storedState = ({ value, context, output, historyValue }: AnyMachineSnapshot): StoredState => ({
  value,
  context,
  ...(output !== undefined && { output }),
  ...(hasKeys(historyValue) && { history: idsIn(historyValue) }),
})

const hasKeys = (entries: object): boolean => {
  for (const _ in entries) return true
  return false
}

const idsIn = (remembered: AnyMachineSnapshot['historyValue']): NonNullable<StoredState['history']> =>
  Object.fromEntries(Object.entries(remembered).map(([id, nodes]) => [id, nodes.map((node) => node.id)]))

/** Builds a commit's `snapshot` field: the machine's state and what the host stores with it. */
export const snapshotDocument = (
  state: Pick<ActorState, 'snapshot' | 'text' | 'parked' | 'skip'>,
  owner: Owner,
): JsonObject => ({
  ...storedState(state.snapshot),
  user: owner.user,
  created_at: owner.createdAt,
  text_from: state.text.from,
  ...(state.skip > 0 && { skip: state.skip }),
  ...(state.parked !== undefined && { parked: { ...state.parked } }),
})

/** A commit cannot be restored: state or version are unknown, or snapshot or blob missing. The actor is parked. */
export class Unrestorable extends Error {
  override readonly name = 'Unrestorable'
}

/** Reads the machine's part of a snapshot document. @throws {Unrestorable} */
export const readStoredState = (commit: Commit): StoredState => {
  const { value, context, output, history } = commit.snapshot ?? {}
  if (!isStateValue(value) || !isObject(context)) throw new Unrestorable(`no snapshot at ${commit.actor}:${commit.seq}`)
  return { value, context, ...(output !== undefined && { output }), ...(isHistory(history) && { history }) }
}

const isHistory = (value: Json | undefined): value is Json & NonNullable<StoredState['history']> =>
  isObject(value) &&
  Object.values(value).every((ids) => Array.isArray(ids) && ids.every((id) => typeof id === 'string'))

/** Reads the owner from a commit. */
export const readOwner = (commit: Commit): Owner => {
  const { user, created_at } = commit.snapshot ?? {}
  return {
    project: commit.project,
    tenant: commit.tenant,
    user: typeof user === 'string' ? user : null,
    createdAt: typeof created_at === 'number' ? created_at : commit.at,
  }
}

/** Why the actor is parked as of a commit; undefined when it runs. */
export const readParked = ({ snapshot }: Pick<Commit, 'snapshot'>): Parked | undefined => {
  const parked = snapshot?.parked
  if (!isObject(parked)) return undefined
  const { kind, effect, reason } = parked
  if (typeof effect !== 'string' || typeof reason !== 'string') return undefined
  return { kind: kind === 'poison_result' ? kind : 'parked_actor', effect, reason }
}

/** Number of sequences to leave out before the next event. */
export const readSkip = ({ snapshot }: Pick<Commit, 'snapshot'>): number => {
  const skip = snapshot?.skip
  return typeof skip === 'number' ? skip : 0
}

/** Sequence of the event before the turn's text. */
export const readTextFrom = (commit: Commit): number => {
  const from = commit.snapshot?.text_from
  return typeof from === 'number' ? from : 0
}

/** Restores a live snapshot from plain data. @throws {Unrestorable} for a state that the machine does not have. */
export const revive = (definition: MachineDefinition, state: StoredState): AnyMachineSnapshot => {
  try {
    const { value, context, output, history } = state
    const snapshot = definition.machine.resolveState({
      value: plainValue(value),
      context,
      output,
      ...(history !== undefined && { historyValue: nodesIn(definition, history) }),
    })
    if (snapshot.status !== 'error') return snapshot
  } catch (cause) {
    throw new Unrestorable(`state ${JSON.stringify(state.value)} of ${definition.name}`, { cause })
  }
  throw new Unrestorable(`state ${JSON.stringify(state.value)} of ${definition.name}`)
}

/** @throws for a state that the machine does not have */
const nodesIn = (
  { machine }: MachineDefinition,
  history: NonNullable<StoredState['history']>,
): AnyMachineSnapshot['historyValue'] =>
  Object.fromEntries(
    Object.entries(history).map(([id, ids]) => [id, ids.map((each) => machine.getStateNodeById(each))]),
  )

type PlainValue = string | { [state: string]: PlainValue | undefined }

const plainValue = (value: StateValue): PlainValue => {
  if (typeof value === 'string') return value
  const plain: { [state: string]: PlainValue | undefined } = {}
  for (const [state, inner] of Object.entries(value)) plain[state] = inner && plainValue(inner)
  return plain
}
