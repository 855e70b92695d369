import { randomBytes } from 'node:crypto'
import type { MachineDefinition } from '#machines/definition.ts'
import type { BlobStore, Commit, Json, JsonObject, Reminder, StoredEvent } from '#storage/ports.ts'
import { extractBlobs, lengthOf, measured, type Taken } from '../blobs/blob-fields.ts'
import { actorBlobs } from '../blobs/blob-owner.ts'
import { SnapshotBlobs } from '../blobs/snapshot-blobs.ts'
import type { RefusedError } from '../refused.ts'
import { isEvent, isObject } from '../schema.ts'
import { type Owner, snapshotDocument } from '../step/actor-state.ts'
import type { Draft } from '../step/step.ts'

const processPart = randomBytes(6).toString('base64url')
let writes = 0

/** Returns a value that is unique over all writes of all processes. */
export const newNonce = (): string => `${processPart}.${(++writes).toString(36)}`

/** The parts of a commit that do not come from the step: actor, place, time, owner and cause. */
export interface CommitFacts {
  readonly actor: string
  readonly shard: number
  readonly epoch: number
  /** ms since the epoch. */
  readonly at: number
  readonly owner: Owner
  readonly cause: string
  /** The event as recorded, without what the log events already contain. */
  readonly event: StoredEvent
}

/**
 * Builds the one document that makes a step durable. Fields that may be missing come last: each field after a spread is a
 * call of V8's runtime, .07 µs (specs/decisions/0228-hot-paths.md).
 */
export const commitOf = (definition: MachineDefinition, draft: Draft, facts: CommitFacts): Commit => ({
  actor: facts.actor,
  seq: draft.seq,
  shard: facts.shard,
  epoch: facts.epoch,
  at: facts.at,
  project: facts.owner.project,
  tenant: facts.owner.tenant,
  machine: `${definition.name}@${definition.version}`,
  cause: facts.cause,
  nonce: newNonce(),
  event: facts.event,
  events: draft.events,
  last_sequence: draft.lastSequence,
  effects: draft.effects,
  messages: draft.messages,
  snapshot: snapshotDocument(draft, facts.owner),
  reminders: draft.reminders,
  in_flight: draft.inFlight,
  open: true,
  due: earliest(draft.reminders),
  ...(draft.moved !== undefined && { moved: draft.moved }),
  ...(draft.changed !== undefined && { changed: draft.changed }),
})

/** Time at which the first of these reminders is due, in ms since the epoch; null for none. */
export const earliest = (reminders: Readonly<Record<string, Reminder>>): number | null => {
  let due: number | null = null
  for (const name in reminders) {
    const each = reminders[name]
    if (each !== undefined && (due === null || each.due < due)) due = each.due
  }
  return due
}

/** Longer strings, objects and lists of a commit's events and messages are moved to the blob store. */
const maxInlineLength = 64 * 1024

/** Inline bounds, tried in this order until the commit is no longer than `maxCommitLength`. */
const inlineLengths = [maxInlineLength, 4 * 1024, 256]

/** Maximum length of a commit's events, messages and event together, in UTF-16 units of JSON. */
export const maxCommitLength = 256 * 1024

/** Maximum length of a snapshot, in UTF-16 units of JSON. */
export const maxSnapshotLength = 32 * 1024

/** Maximum length of a commit's effects in flight, and of its reminders, in UTF-16 units: MongoDB accepts 16 MB in all. */
export const maxPendingLength = 2 * 1024 * 1024

/** Longer fields of a snapshot's context are moved to the blob store; the shorter bound applies if needed. */
const [longestField, shortField] = [4 * 1024, 512]

/** Maximum length of one blob, in bytes of UTF-8: MongoDB accepts documents of up to 16 MB. */
export const maxBlobBytes = 15 * 1024 * 1024

/** A commit that no store would accept: it, or one field, is too long even with blobs moved out. Never retried. */
export class CommitTooLarge extends Error implements RefusedError {
  override readonly name = 'CommitTooLarge'
  readonly code = 'body_too_large'
  readonly isPassing = false
}

/**
 * Moves the long fields of a commit to the blob store, which stores them before the commit is written
 * (specs/bounds.ts).
 *
 * @param ofSnapshots the blobs of the actor's snapshots, which are stored once; notes those of this one.
 * @throws {CommitTooLarge} when that is not enough
 */
export const compacted = (
  commit: Commit,
  blobs: Pick<BlobStore, 'put'>,
  ofSnapshots = new SnapshotBlobs(),
): Commit | Promise<Commit> => {
  checkPending(commit)
  const taken: Taken[] = []
  const ofSnapshot: Taken[] = []
  const small = withShortSnapshot(withShortEvents(commit, taken), ofSnapshot, ofSnapshots.namesFor(commit))
  const use = () => ofSnapshots.use(ofSnapshot.map(({ hash }) => hash))
  taken.push(...ofSnapshot.filter(({ hash }) => !ofSnapshots.has(hash)))
  if (taken.length === 0) {
    use()
    return small
  }
  if (taken.some(({ content }) => isTooLong(content)))
    throw new CommitTooLarge(`a field is longer than ${maxBlobBytes}`)
  const stored = taken.map(({ hash, content }) => blobs.put(commit.project, hash, content))
  return Promise.all(stored).then(() => {
    use()
    return small
  })
}

/**
 * Refuses the step with which too much would be pending: every commit repeats it, so that later ones, such as that of a
 * result, could not be written either.
 *
 * @throws {CommitTooLarge}
 */
const checkPending = ({ actor, effects, in_flight, reminders }: Commit): void => {
  let waiting = 0
  for (const name in reminders) waiting += lengthOf(reminders[name]?.event)
  let running = 0
  if (effects.length > 0) for (const id in in_flight) running += lengthOf(in_flight[id]?.params)
  if (Math.max(waiting, running) > maxPendingLength)
    throw new CommitTooLarge(`effects in flight or reminders of ${actor} are longer than ${maxPendingLength}`)
}

/** Whether the content exceeds the maximum length of a blob. */
export const isTooLong = (content: string): boolean =>
  content.length > maxBlobBytes || (content.length > maxBlobBytes / 3 && Buffer.byteLength(content) > maxBlobBytes)

const withShortEvents = (commit: Commit, taken: Taken[]): Commit => {
  if (isShort(commit)) return commit
  for (const maxLength of inlineLengths) {
    const own: Taken[] = []
    const small = eventsUpTo(maxLength, commit, own)
    if (eventsLength(small, Number.POSITIVE_INFINITY) > maxCommitLength) continue
    taken.push(...own)
    return small
  }
  throw new CommitTooLarge(`a commit of ${commit.actor} is longer than ${maxCommitLength}`)
}

/** Whether a commit is short enough for every store without moving anything to the blob store. */
export const isShort = (commit: Commit): boolean => eventsLength(commit) <= maxCommitLength

/** Approximate length; infinite when a field is longer than `maxLength`, or looks like a blob reference. */
const eventsLength = ({ event, events, messages, effects }: Commit, maxLength = maxInlineLength): number => {
  const each = (value: Json | undefined) =>
    maxLength === Number.POSITIVE_INFINITY ? lengthOf(value) : measured(value, maxLength, 1)
  let length = each(event)
  for (const { payload, hidden } of events) length += 64 + each(payload) + each(hidden)
  for (const { to, event: sent } of messages) length += 2 * to.length + 64 + each(sent)
  for (const { params } of effects) length += 2 * (128 + lengthOf(params))
  return length
}

const eventsUpTo = (maxLength: number, commit: Commit, taken: Taken[]): Commit => {
  const { event, events, messages } = commit
  const owner = actorBlobs(commit)
  const named = (hash: string): string => owner + hash
  const short = (value: JsonObject) => asObject(extractBlobs(value, { maxLength, levels: 1 }, { taken, named }))
  return {
    ...commit,
    event: asEvent(short(event)),
    events: events.map(({ hidden, ...each }) => ({
      ...each,
      payload: short(each.payload),
      ...(hidden !== undefined && { hidden: short(hidden) }),
    })),
    messages: messages.map((each) => ({ ...each, event: asEvent(short(each.event)) })),
  }
}

/** Moves long fields of the snapshot; its own fields and those of the machine's context are considered one by one. */
const withShortSnapshot = (commit: Commit, taken: Taken[], named: (hash: string) => string): Commit => {
  const { snapshot } = commit
  if (snapshot === undefined) return commit
  if (measured(snapshot, longestField, 2) <= maxSnapshotLength) return commit
  for (const maxLength of [longestField, shortField]) {
    const own: Taken[] = []
    const small = extractBlobs(snapshot, { maxLength, levels: 2 }, { taken: own, named })
    if (lengthOf(small) > maxSnapshotLength) continue
    taken.push(...own)
    return { ...commit, snapshot: asObject(small) }
  }
  throw new CommitTooLarge(`a snapshot of ${commit.actor} is longer than ${maxSnapshotLength}`)
}

const asEvent = (value: Json): StoredEvent => {
  if (!isEvent(value)) throw new Error('an event is an object with a type')
  return value
}

const asObject = (value: Json): JsonObject => {
  if (!isObject(value)) throw new Error('a payload is an object')
  return value
}
