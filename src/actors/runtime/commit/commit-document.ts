import { randomBytes } from 'node:crypto'
import type { MachineDefinition } from '#machines/definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BlobStore, Commit, Json, JsonObject, Reminder, StoredEvent } from '#storage/ports.ts'
import { lengthOf, measured, type Taken, takeOut } from '../blobs/blob-fields.ts'
import { actorBlobs } from '../blobs/blob-owner.ts'
import { isEvent, isObject } from '../schema.ts'
import { type Owner, snapshotDocument } from '../step/actor-state.ts'
import type { Draft } from '../step/step.ts'

const processPart = randomBytes(6).toString('base64url')
let writes = 0

/** A value that no other write of any process has. */
export const newNonce = (): string => `${processPart}.${(++writes).toString(36)}`

/** Where and why a commit is written. */
export interface CommitFacts {
  readonly actor: string
  readonly shard: number
  readonly epoch: number
  /** ms since the epoch. */
  readonly at: number
  readonly owner: Owner
  readonly cause: string
  /** The event as it is kept for the record; without what the log events say already. */
  readonly event: StoredEvent
}

/** The one document that makes a step durable. */
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
  ...(draft.moved !== undefined && { moved: draft.moved }),
  ...(draft.changed !== undefined && { changed: draft.changed }),
  events: draft.events,
  last_sequence: draft.lastSequence,
  effects: draft.effects,
  messages: draft.messages,
  snapshot: snapshotDocument(draft, facts.owner),
  reminders: draft.reminders,
  in_flight: draft.inFlight,
  open: true,
  due: earliest(draft.reminders),
})

/** When the first of these falls due, in ms since the epoch; null for none. */
export const earliest = (reminders: Readonly<Record<string, Reminder>>): number | null => {
  let due: number | null = null
  for (const name in reminders) {
    const each = reminders[name]
    if (each !== undefined && (due === null || each.due < due)) due = each.due
  }
  return due
}

/** Strings, objects and lists longer than this leave a commit's events and messages. */
const maxInlineLength = 64 * 1024

/** A commit is not longer than this: the shorter of these bounds are tried until it is. */
const inlineLengths = [maxInlineLength, 4 * 1024, 256]

/** A commit's events, messages and event together, in UTF-16 units of JSON. */
export const maxCommitLength = 256 * 1024

/** A snapshot, in UTF-16 units of JSON. */
export const maxSnapshotLength = 32 * 1024

/** Fields of a snapshot's context that are longer than this leave it; the shorter ones are tried until it is short enough. */
const [longestField, shortField] = [4 * 1024, 512]

/** One blob, in bytes of UTF-8: MongoDB takes documents of 16 MB. */
export const maxBlobBytes = 15 * 1024 * 1024

/** A commit that no store would ever take: it is too long whatever leaves it, or one of its fields is. Never tried again. */
export class CommitTooLarge extends ServiceError {
  constructor(message: string) {
    super('body_too_large', { message })
  }
}

/**
 * The commit with all that is long moved to the blob store, which has it before the commit is written
 * (specs/bounds.ts).
 *
 * @throws {CommitTooLarge} when that is not enough
 */
export const compacted = (commit: Commit, blobs: Pick<BlobStore, 'put'>): Commit | Promise<Commit> => {
  const taken: Taken[] = []
  const small = withShortSnapshot(withShortEvents(commit, taken), taken)
  if (taken.length === 0) return small
  if (taken.some(({ content }) => isTooLong(content)))
    throw new CommitTooLarge(`a field is longer than ${maxBlobBytes}`)
  const stored = taken.map(({ hash, content }) => blobs.put(commit.project, hash, content))
  return Promise.all(stored).then(() => small)
}

/** Whether a blob may not be this long. */
export const isTooLong = (content: string): boolean =>
  content.length > maxBlobBytes || (content.length > maxBlobBytes / 3 && Buffer.byteLength(content) > maxBlobBytes)

const withShortEvents = (commit: Commit, taken: Taken[]): Commit => {
  if (eventsLength(commit) <= maxCommitLength) return commit
  for (const maxLength of inlineLengths) {
    const own: Taken[] = []
    const small = eventsUpTo(maxLength, commit, own)
    if (eventsLength(small, Number.POSITIVE_INFINITY) > maxCommitLength) continue
    taken.push(...own)
    return small
  }
  throw new CommitTooLarge(`a commit of ${commit.actor} is longer than ${maxCommitLength}`)
}

/** Infinite when a field is longer than `maxLength`, or looks like a reference. */
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
  const short = (value: JsonObject) => asObject(takeOut(value, { maxLength, levels: 1 }, { taken, owner }))
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

/** The snapshot's own fields and those of the machine's context are looked at one by one. */
const withShortSnapshot = (commit: Commit, taken: Taken[]): Commit => {
  const { snapshot } = commit
  if (snapshot === undefined) return commit
  if (measured(snapshot, longestField, 2) <= maxSnapshotLength) return commit
  for (const maxLength of [longestField, shortField]) {
    const own: Taken[] = []
    const small = takeOut(snapshot, { maxLength, levels: 2 }, { taken: own, owner: actorBlobs(commit) })
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
