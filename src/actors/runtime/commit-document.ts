import { randomBytes } from 'node:crypto'
import type { MachineDefinition } from '../../machines/definition.ts'
import type { BlobStore, Commit, Json, JsonObject, Reminder, StoredEvent } from '../../storage/ports.ts'
import { type Owner, snapshotDocument } from './actor-state.ts'
import { isLarge, maxInlineLength, maxSnapshotString, type Taken, takeOut } from './blob-fields.ts'
import { actorBlobs } from './blob-owner.ts'
import { isEvent, isObject } from './schema.ts'
import type { Draft } from './step.ts'

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

const earliest = (reminders: Readonly<Record<string, Reminder>>): number | null => {
  let due: number | null = null
  for (const name in reminders) {
    const each = reminders[name]
    if (each !== undefined && (due === null || each.due < due)) due = each.due
  }
  return due
}

/** The commit with long strings moved to the blob store, which has them before the commit is written. */
export const compacted = (commit: Commit, blobs: BlobStore): Commit | Promise<Commit> => {
  const { event, events, messages, snapshot = {} } = commit
  const large =
    isLarge(event, maxInlineLength) ||
    isLarge(snapshot, maxSnapshotString) ||
    events.some(({ payload }) => isLarge(payload, maxInlineLength)) ||
    messages.some((message) => isLarge(message.event, maxInlineLength))
  if (!large) return commit
  const taken: Taken[] = []
  const owner = actorBlobs(commit)
  const small = {
    ...commit,
    event: asEvent(takeOut(event, maxInlineLength, taken, owner)),
    events: events.map((each) => ({
      ...each,
      payload: asObject(takeOut(each.payload, maxInlineLength, taken, owner)),
    })),
    messages: messages.map((each) => ({ ...each, event: asEvent(takeOut(each.event, maxInlineLength, taken, owner)) })),
    snapshot: asObject(takeOut(snapshot, maxSnapshotString, taken, owner)),
  }
  return Promise.all(taken.map(({ hash, content }) => blobs.put(commit.project, hash, content))).then(() => small)
}

const asEvent = (value: Json): StoredEvent => {
  if (!isEvent(value)) throw new Error('an event is an object with a type')
  return value
}

const asObject = (value: Json): JsonObject => {
  if (!isObject(value)) throw new Error('a payload is an object')
  return value
}
