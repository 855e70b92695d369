import type { Logger } from 'pino'
import type { MachineDefinition, Migrated } from '#machines/definition.ts'
import type { Commit, Json, MessageRecord, Storage } from '#storage/ports.ts'
import { putBack } from './blobs/blob-fields.ts'
import type { Clock } from './clock.ts'
import { compacted, earliest, newNonce } from './commit/commit-document.ts'
import { writeCommit } from './commit/commit-writer.ts'
import { checkEpoch, fence } from './commit/fence.ts'
import { startsCounted } from './effects/counted-starts.ts'
import { isLeftOver } from './erasure/erased-actors.ts'
import { epochHere, type Ownership } from './recovery/ownership.ts'
import { shardOf } from './recovery/shard.ts'
import { Resident } from './resident.ts'
import { isEvent, isObject } from './schema.ts'
import {
  type ActorState,
  readOwner,
  readParked,
  readStoredState,
  readTextFrom,
  revive,
  type TurnText,
  Unrestorable,
} from './step/actor-state.ts'
import { contextChange } from './step/context-change.ts'

/** An actor, loaded. */
export interface Activated {
  readonly resident: Resident
  /** What its newest commit implies may not be done. */
  readonly open: boolean
  /** Messages that may not be delivered: those of all commits that are not closed, in order. */
  readonly unsent: readonly MessageRecord[]
  /** The commits that are not closed, newest first: rows that they leave may not be written. */
  readonly unclosed: readonly Commit[]
}

/** What loading an actor needs of its host. */
export interface ActivationParts {
  readonly storage: Storage
  readonly definitions: readonly MachineDefinition[]
  readonly clock: Clock
  readonly log: Logger
  readonly ownership: Ownership
  /** Name of this node, for people. */
  readonly nodeName?: string
}

/** What loading needs once it has begun: the epoch under which it goes on to its end. */
interface TakingOver extends ActivationParts {
  readonly epoch: number
}

/**
 * Loads an actor from its newest commit: one indexed read, and one commit when an earlier process wrote that
 * (fence.ts). A snapshot of an older machine version is migrated by a commit of its own. What cannot be restored comes
 * back parked, visibly, and takes nothing.
 *
 * @returns null for an unknown actor.
 * @throws {Elsewhere} when this process does not run the actor; {Superseded} {StoreUnavailable}
 */
export const activate = async (given: ActivationParts, id: string): Promise<Activated | null> => {
  const { storage } = given
  const definition = definitionFor(given, id)
  const epoch = epochHere(given.ownership, shardOf(id))
  const parts = { ...given, epoch }
  for (;;) {
    const head = definition && (await storage.commits.head(id))
    if (!definition || !head) return null
    checkEpoch(head, epoch)
    const found = await restoredOrParked(parts, definition, head)
    if (found === null) continue
    // what this process wrote and closed itself stands where it belongs; a fence may have come in after a removal, too
    const certain = !head.open && head.epoch === epoch
    if (certain || !(await isLeftOver(storage.records, head))) return found
    await storage.commits.forget(id)
    return null
  }
}

/**
 * An actor as its newest commit has it, not taken over: for reads by a process that does not run it. Null for an
 * unknown one.
 *
 * @throws {StoreUnavailable}
 */
export const readActor = async (parts: Pick<ActivationParts, 'storage' | 'definitions'>, id: string) => {
  const { storage } = parts
  const definition = definitionFor(parts, id)
  const head = definition && (await storage.commits.head(id))
  if (!definition || !head || (head.open && (await isLeftOver(storage.records, head)))) return null
  const resident = await readOrParked(storage, definition, head)
  resident.dead = true
  return resident
}

const readOrParked = async (storage: Storage, definition: MachineDefinition, head: Commit): Promise<Resident> => {
  try {
    const { value, context } = migratedState(definition, await wholeCommit({ ...head, messages: [] }, storage))
    return residentOf(definition, head, stateAt(head, revive(definition, { value, context }), noText))
  } catch (error) {
    if (!(error instanceof Unrestorable)) throw error
    return parkedResident(definition, head, { why: error })
  }
}

const definitionFor = ({ definitions }: Pick<ActivationParts, 'definitions'>, id: string) =>
  definitions.find(({ idPrefix }) => id.startsWith(`${idPrefix}_`))

/** Null when another process wrote in between. */
const restoredOrParked = async (
  parts: TakingOver,
  definition: MachineDefinition,
  head: Commit,
): Promise<Activated | null> => {
  try {
    return await restored(parts, definition, head)
  } catch (error) {
    if (!(error instanceof Unrestorable)) throw error
    parts.log.error({ actorId: head.actor, machine: head.machine, err: error }, 'actor parked')
    return {
      resident: parkedResident(definition, head, { why: error, epoch: parts.epoch }),
      open: false,
      unsent: [],
      unclosed: [],
    }
  }
}

const parkedResident = (
  definition: MachineDefinition,
  head: Commit,
  { why: { message }, epoch = head.epoch }: { readonly why: Unrestorable; readonly epoch?: number },
) => {
  const resident = residentOf(definition, { ...head, epoch }, parkedState(definition, head))
  resident.unrestorable = message
  return resident
}

const restored = async (parts: TakingOver, definition: MachineDefinition, found: Commit) => {
  const { storage, clock, epoch, ownership, nodeName } = parts
  const isCrash = found.epoch < epoch && ownership.crashed(shardOf(found.actor))
  const head = isCrash ? startsCounted(found) : found
  const takeover = { crashed: isCrash, ...(nodeName !== undefined && { node: nodeName }) }
  const commit = await migrated(parts, definition, await wholeCommit(head, storage))
  const state = await stateOf(storage, definition, commit)
  const newest = commit.seq === head.seq ? await fence(storage.commits, head, { epoch, clock, takeover }) : commit
  // another process's migration is no fence
  if (newest === null || newest.epoch !== epoch) return null
  const resident = residentOf(definition, newest, { ...state, seq: newest.seq })
  if (newest.seq > head.seq && head.seq > 1) resident.retiring.push(head.seq - 1)
  return { resident, open: newest.open, ...(await takeOver(storage, newest, resident.retiring)) }
}

/**
 * The commits that are not closed, and their messages; commits are closed in order, so these stand at the end of the log. Those
 * of them that are old are added to `retiring`.
 */
const takeOver = async (
  storage: Storage,
  newest: Commit,
  retiring: number[],
): Promise<Pick<Activated, 'unsent' | 'unclosed'>> => {
  if (!newest.open) return { unsent: [], unclosed: [] }
  const unclosed = [newest]
  let unsent = newest.messages
  for (let seq = newest.seq - 1; seq > 0; seq--) {
    const commit = await storage.commits.at(newest.actor, seq)
    if (commit === null || !commit.open) break
    unclosed.push(commit)
    if (seq <= newest.seq - 2) retiring.push(seq)
    if (commit.messages.length > 0) unsent = [...(await wholeCommit(commit, storage)).messages, ...unsent]
  }
  return { unsent, unclosed }
}

const residentOf = (definition: MachineDefinition, commit: Commit, state: ActorState): Resident =>
  new Resident({
    id: commit.actor,
    definition,
    owner: readOwner(commit),
    place: { shard: shardOf(commit.actor), epoch: commit.epoch },
    state,
    at: commit.at,
  })

/** The commit with its blobs put back, as far as a host reads them. */
const wholeCommit = async (commit: Commit, storage: Storage): Promise<Commit> => {
  const restore = (value: Json): Promise<Json> => putBack(value, storage.blobs, commit.project)
  const snapshot = await restore(commit.snapshot ?? {})
  const messages = await Promise.all(
    commit.messages.map(async (message): Promise<MessageRecord> => {
      const event = await restore(message.event)
      return isEvent(event) ? { ...message, event } : message
    }),
  )
  return { ...commit, messages, snapshot: isObject(snapshot) ? snapshot : {} }
}

const versionOf = (commit: Commit): number => Number(commit.machine.split('@')[1])

const migratedState = (definition: MachineDefinition, commit: Commit): Required<Migrated> => {
  let state = { ...readStoredState(commit), reminders: commit.reminders, inFlight: commit.in_flight }
  for (let version = versionOf(commit); version !== definition.version; version++) {
    const migrate = definition.migrations[version]
    if (migrate === undefined) throw new Unrestorable(`no migration of ${commit.machine}`)
    const { reminders, inFlight } = state
    state = { reminders, inFlight, ...attempted(() => migrate(state, reminders, inFlight), commit) }
  }
  return state
}

const attempted = (migrate: () => Migrated, commit: Commit): Migrated => {
  try {
    return migrate()
  } catch (cause) {
    throw new Unrestorable(`the migration of ${commit.machine} failed`, { cause })
  }
}

const migrated = async (parts: TakingOver, definition: MachineDefinition, commit: Commit): Promise<Commit> => {
  const { storage, clock, epoch, ownership, nodeName } = parts
  if (commit.machine === `${definition.name}@${definition.version}`) return commit
  const state = migratedState(definition, commit)
  const { moved: _moved, changed: _changed, ...standing } = commit
  const changed = contextChange(readStoredState(commit).context, state.context)
  const next: Commit = {
    ...standing,
    seq: commit.seq + 1,
    epoch,
    // nothing of the actor has changed that its reader sees: it is as old as it was
    at: commit.at,
    machine: `${definition.name}@${definition.version}`,
    cause: `migrate:${commit.machine}:${definition.version}`,
    nonce: newNonce(),
    event: {
      ...{ type: '$migrated', from: commit.machine },
      ...(commit.epoch !== epoch && {
        ...{ at: clock.now(), crashed: commit.epoch < epoch && ownership.crashed(shardOf(commit.actor)) },
        ...(nodeName !== undefined && { node: nodeName }),
      }),
    },
    events: [],
    effects: [],
    messages: [],
    reminders: state.reminders,
    in_flight: state.inFlight,
    due: earliest(state.reminders),
    snapshot: { ...commit.snapshot, value: state.value, context: state.context },
    ...(changed !== undefined && { changed }),
  }
  const written = await writeCommit(storage.commits, await compacted(next, storage.blobs), clock)
  if (written === 'done') return next
  const newest = await storage.commits.head(commit.actor)
  if (newest === null) throw new Unrestorable(`${commit.actor} has gone`)
  checkEpoch(newest, epoch)
  return migrated(parts, definition, await wholeCommit(newest, storage))
}

const stateOf = async (storage: Storage, definition: MachineDefinition, commit: Commit): Promise<ActorState> =>
  stateAt(commit, revive(definition, readStoredState(commit)), await textOf(storage, definition, commit))

const stateAt = (commit: Commit, snapshot: ActorState['snapshot'], text: TurnText): ActorState => ({
  seq: commit.seq,
  lastSequence: commit.last_sequence,
  snapshot,
  reminders: commit.reminders,
  inFlight: commit.in_flight,
  text,
  ...parkedAt(commit),
})

const parkedAt = (commit: Commit): Pick<ActorState, 'parked'> => {
  const parked = readParked(commit)
  return parked === undefined ? {} : { parked }
}

/** For an actor that makes no step here. */
const noText: TurnText = { from: 0, value: '' }

/** Only a turn that goes on (or waits) will have its text read; but it may be read in any state but the last. */
const textOf = async (storage: Storage, definition: MachineDefinition, commit: Commit): Promise<TurnText> => {
  const from = readTextFrom(commit)
  const fold = definition.text
  if (fold === undefined) return { from, value: '' }
  let value = ''
  for (let after = from; after < commit.last_sequence; ) {
    const events = await storage.commits.events(commit.actor, after, 500)
    if (events.length === 0) throw new Unrestorable(`events after ${after} of ${commit.actor} are missing`)
    for (const event of events) {
      const payload = await putBack(event.payload, storage.blobs, commit.project)
      if (isObject(payload)) value += fold.adds({ ...event, payload }) ?? ''
    }
    after = events.at(-1)?.sequence ?? commit.last_sequence
  }
  return { from, value }
}

const parkedState = (definition: MachineDefinition, commit: Commit): ActorState => ({
  seq: commit.seq,
  lastSequence: commit.last_sequence,
  snapshot: definition.machine.resolveState({ value: initialOf(definition), context: commit.snapshot?.context ?? {} }),
  reminders: {},
  inFlight: {},
  text: { from: 0, value: '' },
})

const initialOf = (definition: MachineDefinition): string => Object.keys(definition.machine.states)[0] ?? ''
