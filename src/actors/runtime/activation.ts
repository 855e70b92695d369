import type { MachineDefinition, Migrated } from '#machines/definition.ts'
import { definitionOf } from '#machines/definition-of.ts'
import type { Commit, JsonObject, MessageRecord, Storage } from '#storage/ports.ts'
import { restoreBlobs } from './blobs/blob-fields.ts'
import { SnapshotBlobs } from './blobs/snapshot-blobs.ts'
import { wholeCommit, wholeMessages } from './blobs/whole-commit.ts'
import type { Clock } from './clock.ts'
import { compacted, earliest, newNonce } from './commit/commit-document.ts'
import { writeCommit } from './commit/commit-writer.ts'
import { checkEpoch, fence, skipAfter } from './commit/fence.ts'
import { startsCounted } from './effects/counted-starts.ts'
import { isLeftOver, readHead } from './erasure/erased-actors.ts'
import type { Logger } from './logger.ts'
import { epochHere, type Ownership } from './recovery/ownership.ts'
import { shardsOf } from './recovery/shard.ts'
import { Resident } from './resident.ts'
import { isObject } from './schema.ts'
import {
  type ActorState,
  readOwner,
  readParked,
  readSkip,
  readStoredState,
  readTextFrom,
  revive,
  type TurnText,
  Unrestorable,
} from './step/actor-state.ts'
import { contextChange } from './step/context-change.ts'

/** A loaded actor and the work that its commits may have left unfinished. */
export interface Activated {
  readonly resident: Resident
  /** Whether the newest commit is open: what it implies may not be done. */
  readonly open: boolean
  /** Messages that may not have been delivered: those of all open commits, in order. */
  readonly unsent: readonly MessageRecord[]
  /** The open commits, newest first: their ledger rows may not have been written. */
  readonly unclosed: readonly Commit[]
}

/** Dependencies of `activate`. */
export interface ActivationParts {
  readonly storage: Storage
  readonly definitions: readonly MachineDefinition[]
  readonly clock: Clock
  readonly log: Logger
  readonly ownership: Ownership
  /** Display name of this node. */
  readonly nodeName?: string
  /** Called with the newest commit of an actor that another process ran, while its fence is written. */
  readonly foresee?: (definition: MachineDefinition, commit: Commit) => void
}

/** Dependencies of one activation, with the epoch that was in force when it began. */
interface TakingOver extends ActivationParts {
  readonly epoch: number
}

/**
 * Loads an actor from its newest commit: one indexed read, and one commit when an earlier process wrote the newest one
 * (fence.ts), beside which the other open commits and the text of a turn are read. A snapshot of an older machine
 * version is migrated by a further commit. An actor that cannot be restored is returned parked: operators see it, and it
 * accepts no events.
 *
 * @returns null for an unknown actor.
 * @throws {Elsewhere} when this process does not run the actor; {Superseded} {StoreUnavailable}
 */
export const activate = async (given: ActivationParts, id: string): Promise<Activated | null> => {
  const { storage } = given
  const definition = definitionFor(given, id)
  const epoch = epochHere(given.ownership, given.ownership.space.of(id))
  const parts = { ...given, epoch }
  for (;;) {
    if (!definition) return null
    // a closed commit of this epoch is certainly no leftover of an erased log; anything else, even a fence, may be a
    // late write
    const isCertain = (head: Commit): boolean => !head.open && head.epoch === epoch
    const { head, isLeftOver: isErased } = await readHead(storage, id, isCertain)
    if (!head) return null
    checkEpoch(head, epoch)
    const found = isErased && !isCertain(head) ? 'left over' : await restoredOrParked(parts, definition, head)
    if (found === null) continue
    if (found !== 'left over') return found
    await storage.commits.forget(id)
    return null
  }
}

/**
 * Reads an actor from its newest commit without taking it over, for processes that do not run it. Null for an unknown
 * actor.
 *
 * @throws {StoreUnavailable}
 */
export const readActor = async (parts: Pick<ActivationParts, 'storage' | 'definitions'>, id: string) => {
  const { storage } = parts
  const definition = definitionFor(parts, id)
  if (!definition) return null
  for (;;) {
    const { head, isLeftOver: isErased } = await readHead(storage, id, ({ open }) => !open)
    if (!head || (head.open && isErased)) return null
    const resident = await readOrParked(storage, definition, head)
    if (resident === null) continue
    resident.dead = true
    return resident
  }
}

/** An actor's machine, and the store that has it. */
interface Restoring {
  readonly storage: Storage
  readonly definition: MachineDefinition
}

/** Null when another process wrote a commit in between. */
const readOrParked = async (
  storage: Storage,
  definition: MachineDefinition,
  head: Commit,
): Promise<Resident | null> => {
  try {
    const commit = await wholeCommit({ ...head, messages: [] }, storage)
    // the process of a newer release that wrote it knew that this one can read it (`readableBy`)
    const isNewer = versionOf(head) > definition.version
    const state = isNewer ? readStoredState(commit) : migratedState(definition, commit)
    return residentOf({ storage, definition }, head, { state: stateAt(head, revive(definition, state), noText) })
  } catch (error) {
    if (!(error instanceof Unrestorable)) throw error
    if (await isReplaced(storage, head)) return null
    return parkedResident({ storage, definition }, head, { why: error })
  }
}

/** Whether the commit is not the newest any more: its blobs may have been removed since it was read. */
const isReplaced = async ({ commits }: Storage, { actor, nonce }: Commit): Promise<boolean> =>
  (await commits.head(actor))?.nonce !== nonce

const definitionFor = ({ definitions }: Pick<ActivationParts, 'definitions'>, id: string) =>
  definitionOf(definitions, id)

/** Null when another process wrote a commit in between; `left over` when the log was removed in between. */
type Restored = Activated | 'left over' | null

const restoredOrParked = async (parts: TakingOver, definition: MachineDefinition, head: Commit): Promise<Restored> => {
  try {
    return await restored(parts, definition, head)
  } catch (error) {
    if (!(error instanceof Unrestorable)) throw error
    if (await isReplaced(parts.storage, head)) return null
    parts.log.error({ actorId: head.actor, machine: head.machine, err: error }, 'actor parked')
    return {
      resident: parkedResident({ storage: parts.storage, definition }, head, { why: error, epoch: parts.epoch }),
      open: false,
      unsent: [],
      unclosed: [],
    }
  }
}

const parkedResident = (
  restoring: Restoring,
  head: Commit,
  { why: { message }, epoch = head.epoch }: { readonly why: Unrestorable; readonly epoch?: number },
) => {
  const resident = residentOf(restoring, { ...head, epoch }, { state: parkedState(restoring.definition, head) })
  resident.unrestorable = message
  return resident
}

const restored = async (parts: TakingOver, definition: MachineDefinition, found: Commit): Promise<Restored> => {
  const { storage, clock, epoch, ownership, nodeName } = parts
  const isCrash = found.epoch < epoch && ownership.crashed(ownership.space.of(found.actor))
  const head = isCrash ? startsCounted(found) : found
  const takeover = { crashed: isCrash, ...(nodeName !== undefined && { node: nodeName }) }
  const whole = await wholeCommit(head, storage)
  const blobs = new SnapshotBlobs(head.snapshot)
  const commit = await migrated(parts, definition, { commit: whole, blobs })
  if (commit === null) return null
  // an actor that cannot be restored is not taken over: a fence would stay open
  const snapshot = revive(definition, readStoredState(commit))
  if (head.epoch !== epoch) parts.foresee?.(definition, commit)
  const fencing = { epoch, clock, takeover, skip: skipAfter(definition, head) }
  const fenced = commit.seq === head.seq ? fence(storage.commits, head, fencing) : commit
  // what is durable up to `head` stays as it is, whether or not the fence is written
  const [newest, text, open] = await Promise.all([
    fenced,
    textOf(storage, definition, commit),
    openUpTo(storage, whole),
    // of lower epochs nothing is added to what `head` refers to once the fence is written
    blobs.areUsed && head.epoch !== epoch ? blobs.sweep(storage.blobs, { ...commit, epoch }) : undefined,
  ])
  // a migration that another process wrote does not fence the actor for this one
  if (newest === null || newest.epoch !== epoch) return null
  const isNew = newest.seq > head.seq
  const passed = isNew ? await passedBy(storage, head, newest) : 'nothing'
  if (passed !== 'nothing') return passed === 'erasure' ? 'left over' : null
  const state = { ...stateAt(commit, snapshot, text), seq: newest.seq, skip: readSkip(newest) }
  const resident = residentOf({ storage, definition }, newest, { state, blobs })
  if (isNew && head.seq > 1) resident.retiring.push(head.seq - 1)
  for (const { seq } of open.unclosed) if (seq <= newest.seq - 2) resident.retiring.push(seq)
  const unclosed = isNew ? [newest, ...open.unclosed] : open.unclosed
  return { resident, open: newest.open, unsent: open.unsent, unclosed }
}

/**
 * What happened between the read of `found` and the write of the commit after it. A `write`: the earlier process has
 * written, so that the new commit has the key of a part that the end of its stream has replaced. Then it fences nothing;
 * it is closed, and left out by readers like the replaced ones.
 */
const passedBy = async (
  storage: Storage,
  found: Commit,
  { actor, seq }: Commit,
): Promise<'nothing' | 'write' | 'erasure'> => {
  const { commits, records, replacesAtOnce } = storage
  const streams = Object.values(found.in_flight).some(({ policy }) => policy === 'stream')
  if (replacesAtOnce === true || !streams) return (await isLeftOver(records, found)) ? 'erasure' : 'nothing'
  const { head, isLeftOver: isErased } = await readHead(storage, actor)
  if (isErased) return 'erasure'
  if (head?.seq === seq) return 'nothing'
  await commits.settle({ close: [{ actor, seq }], undue: [{ actor, seq }], retire: [{ actor, seq }] })
  return 'write'
}

/** Reads the open commits up to `newest`, and their messages. Commits are closed in order: they are the last of the log. */
const openUpTo = async (storage: Storage, newest: Commit): Promise<Pick<Activated, 'unsent' | 'unclosed'>> => {
  if (!newest.open) return { unsent: [], unclosed: [] }
  const unclosed = [newest]
  let unsent = newest.messages
  for await (const commit of openBefore(storage, newest)) {
    unclosed.push(commit)
    if (commit.messages.length > 0) unsent = [...(await wholeMessages(commit, storage)), ...unsent]
  }
  return { unsent, unclosed }
}

/** Number of commits per read: a turn that streams has left one open for each second, and its readers wait. */
const openAtOnce = 16

/** Yields the open commits before this one, newest first, without those that a later one replaces. */
async function* openBefore(storage: Storage, newest: Commit): AsyncGenerator<Commit> {
  for (let next = before(newest); next > 0; ) {
    const from = Math.max(0, next - openAtOnce)
    const found = await storage.commits.ofActor(newest.actor, from, next - from)
    for (const commit of found.toReversed()) {
      if (commit.seq > next) continue
      if (commit.seq !== next || !commit.open) return
      yield commit
      next = before(commit)
    }
    if (next > from) return
  }
}

/** `seq` of the commit before this one that is still needed. */
const before = ({ seq, replaces = 0 }: Commit): number => seq - 1 - replaces

const residentOf = (
  { storage, definition }: Restoring,
  commit: Commit,
  kept: { readonly state: ActorState; readonly blobs?: SnapshotBlobs },
): Resident =>
  new Resident({
    id: commit.actor,
    definition,
    owner: readOwner(commit),
    place: { shard: shardsOf(storage).of(commit.actor), epoch: commit.epoch },
    ...kept,
    at: commit.at,
  })

const versionOf = (commit: Commit): number => Number(commit.machine.split('@')[1])

const migratedState = (
  definition: MachineDefinition,
  commit: Commit,
): Migrated & Required<Pick<Migrated, 'reminders' | 'inFlight'>> => {
  let state = { ...readStoredState(commit), reminders: commit.reminders, inFlight: commit.in_flight }
  for (let version = versionOf(commit); version !== definition.version; version++) {
    const migrate = definition.migrations[version]
    if (migrate === undefined) throw new Unrestorable(`no migration of ${commit.machine}`)
    const { reminders, inFlight } = state
    state = { ...state, ...attempted(() => migrate(state, { reminders, inFlight, at: commit.at }), commit) }
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

/** Null when another process wrote a commit in between, whose messages and effects count too. */
const migrated = async (
  parts: TakingOver,
  definition: MachineDefinition,
  { commit, blobs }: { readonly commit: Commit; readonly blobs: SnapshotBlobs },
): Promise<Commit | null> => {
  const { storage, clock, epoch, ownership, nodeName } = parts
  if (commit.machine === `${definition.name}@${definition.version}`) return commit
  const { reminders, inFlight, ...state } = migratedState(definition, commit)
  const { moved: _moved, changed: _changed, replaces: _replaces, ...standing } = commit
  const changed = contextChange(readStoredState(commit).context, state.context)
  const next: Commit = {
    ...standing,
    seq: commit.seq + 1,
    epoch,
    // readers of the actor see no change, so it keeps its time
    at: commit.at,
    machine: `${definition.name}@${definition.version}`,
    cause: `migrate:${commit.machine}:${definition.version}`,
    nonce: newNonce(),
    event: {
      ...{ type: '$migrated', from: commit.machine },
      ...(commit.epoch !== epoch && {
        ...{ at: clock.now(), crashed: commit.epoch < epoch && ownership.crashed(ownership.space.of(commit.actor)) },
        ...(nodeName !== undefined && { node: nodeName }),
      }),
    },
    events: [],
    effects: [],
    messages: [],
    // an effect that the migration starts has to be found after a crash
    open: commit.open || Object.keys(inFlight).length > 0,
    reminders,
    in_flight: inFlight,
    due: earliest(reminders),
    snapshot: { ...commit.snapshot, ...state, ...skipped(definition, commit, epoch) },
    ...(changed !== undefined && { changed }),
  }
  const written = await writeCommit(storage.commits, await compacted(next, storage.blobs, blobs), { clock })
  if (written !== 'done') return null
  blobs.stored(next)
  return next
}

const skipped = (definition: MachineDefinition, commit: Commit, epoch: number): JsonObject => {
  const skip = commit.epoch === epoch ? readSkip(commit) : skipAfter(definition, commit)
  return skip === 0 ? {} : { skip }
}

const stateAt = (commit: Commit, snapshot: ActorState['snapshot'], text: TurnText): ActorState => ({
  seq: commit.seq,
  lastSequence: commit.last_sequence,
  skip: readSkip(commit),
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

/** The turn text of an actor that takes no step in this process. */
const noText: TurnText = { from: 0, value: '' }

/**
 * Rebuilds the text of the turn from the log. It is needed only while a turn is running or waiting, but a machine may
 * read it in any state except a final one.
 */
const textOf = async (storage: Storage, definition: MachineDefinition, commit: Commit): Promise<TurnText> => {
  const from = readTextFrom(commit)
  const fold = definition.text
  if (fold === undefined) return { from, value: '' }
  let value = ''
  for (let after = from; after < commit.last_sequence; ) {
    const events = await storage.commits.events(commit.actor, after, 500)
    if (events.length === 0) throw new Unrestorable(`events after ${after} of ${commit.actor} are missing`)
    for (const event of events) {
      const payload = await restoreBlobs(event.payload, storage.blobs, commit.project)
      if (event.event_type === fold.restartsAt) value = ''
      if (isObject(payload)) value += fold.adds({ ...event, payload }) ?? ''
    }
    after = events.at(-1)?.sequence ?? commit.last_sequence
  }
  return { from, value }
}

const parkedState = (definition: MachineDefinition, commit: Commit): ActorState => ({
  seq: commit.seq,
  lastSequence: commit.last_sequence,
  skip: 0,
  snapshot: definition.machine.resolveState({ value: initialOf(definition), context: commit.snapshot?.context ?? {} }),
  reminders: {},
  inFlight: {},
  text: { from: 0, value: '' },
})

const initialOf = (definition: MachineDefinition): string => Object.keys(definition.machine.states)[0] ?? ''
