import type { Document, IndexDescription } from 'mongodb'
import type { Lease, Member } from '../cluster-ports.ts'
import { bodyText, type CommitRow, eventsText, headOf, keyOf, snapshotText } from '../commit-row.ts'
import { jsonOf } from '../long-json.ts'
import type { PartRow } from '../merged-parts.ts'
import type { Commit, CommitKey, StoredRecord } from '../ports.ts'
import type { FoundBy } from './row-lists.ts'

/** A commit as stored in the collection `commits`: a `CommitRow` without its null or false fields. */
export interface CommitDocument extends Omit<CommitRow, 'events' | 'snapshot' | 'open' | 'due'> {
  /** `<actor>:<seq>`, padded so that it sorts. */
  readonly _id: string
  events?: string
  snapshot?: string
  open?: true
  due?: number
}

/**
 * A record as stored in its kind's collection. `data` is JSON text; `keys` are the JSON texts of its indexed fields.
 */
export interface RecordDocument {
  readonly _id: string
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  readonly version: number
  readonly created_at: number
  readonly updated_at: number
  /** Absent for never. */
  expires_at?: number
  readonly data: string
  readonly keys: Readonly<Record<string, string>>
  // and the lists that it is in, in a field whose name follows from its kind (row-lists.ts)
  /** JSON text of messages; absent when all are delivered. */
  outbox?: string
  /** Set while there is an outbox. This field is indexed, since the outbox's text is too long for an index. */
  delivered?: false
}

/**
 * A document of the collection `leases`: a lease (`_id` is its shard) or a member (`_id` is `member:` and its process).
 */
export interface OwnerDocument {
  readonly _id: number | string
  readonly holder?: string | null
  readonly address?: string | null
  readonly epoch?: number
  readonly level?: number
  readonly member?: Member
  /**
   * Of a member: digest of the leases that it holds as far as it knows (read-leases.ts); absent while they change, and of
   * one of an earlier release.
   */
  readonly held?: string
  /** By the server's clock. */
  readonly until: Date
}

/** An `OwnerDocument` as read. */
export interface OwnerView extends OwnerDocument {
  readonly leftMs: number
}

/** The lease in a document; empty for a member. */
export const leaseOf = ({ _id, holder = null, address = null, epoch = 0, leftMs, level = 0 }: OwnerView): Lease[] =>
  typeof _id === 'number' ? [{ shard: _id, holder, address, epoch, leftMs, level }] : []

/**
 * Timeout for building indexes: a server builds a few at a time and several nodes may start at once, so that the usual
 * 3 s are too short.
 */
export const whilePreparing = { timeoutMS: 120_000 } as const

/** Indexes of `commits` in addition to the one on `_id`. */
export const commitIndexes: IndexDescription[] = [
  { key: { actor: 1, cause: 1 }, unique: true },
  { key: { shard: 1, at: 1, seq: 1 }, partialFilterExpression: { open: true } },
  { key: { shard: 1, due: 1 }, partialFilterExpression: { due: { $exists: true } } },
  { key: { project: 1, tenant: 1, actor: 1 }, partialFilterExpression: { seq: 1, tenant: { $type: 'string' } } },
  { key: { project: 1, actor: 1 }, partialFilterExpression: { seq: 1 } },
  { key: { actor: 1, last_sequence: 1 }, partialFilterExpression: { events: { $exists: true } } },
]

/** The document of a commit. */
export const toDocument = (commit: Commit): CommitDocument => {
  const document: CommitDocument = { _id: keyOf(commit), ...headOf(commit), body: bodyText(commit) }
  const [events, snapshot] = [eventsText(commit), snapshotText(commit)]
  if (events !== null) document.events = events
  if (snapshot !== null) document.snapshot = snapshot
  if (commit.open) document.open = true
  if (commit.due !== null) document.due = commit.due
  return document
}

/** The filter of one commit, with the key by which commits are distributed over shards (sharding.ts). */
export const withKey = (key: CommitKey) => ({ _id: keyOf(key), actor: key.actor })

/**
 * The index of statements that name an `_id`. Their further conditions are for the shards, and the server would otherwise
 * compare the indexes of these as well.
 */
export const byId = { hint: { _id: 1 } } as const

/** Matches records that have not expired. */
export const unexpired = (now: number) => ({ expires_at: { $not: { $lte: now } } })

/** The row in a document. */
export const rowOf = (document: CommitDocument): CommitRow => ({
  ...document,
  events: document.events ?? null,
  snapshot: document.snapshot ?? null,
  open: document.open ?? false,
  due: document.due ?? null,
})

/** A document with the fields that merging needs. */
export const partRow = ({ seq, at, cause, events = '[]', open, due }: CommitDocument): PartRow => ({
  ...{ seq, at, cause, events },
  open: open ?? false,
  due: due ?? null,
})

/** The document of a record, with the fields by which it is found. */
export const toRecordDocument = async (record: StoredRecord, found: FoundBy): Promise<RecordDocument> => ({
  _id: record.id,
  ...toRecordUpdate(record, found, await jsonOf(record.data)),
})

/**
 * The replacement for a record's document under the same `_id`, from its data as JSON. Built field by field, since
 * every written row passes here.
 */
export const toRecordUpdate = (
  { project, tenant, user, version, created_at, updated_at, expires_at, outbox }: StoredRecord,
  found: FoundBy,
  data: string,
): Omit<RecordDocument, '_id'> => {
  const update: Omit<RecordDocument, '_id'> = {
    project,
    tenant,
    user,
    version,
    created_at,
    updated_at,
    data,
    ...found,
  }
  if (expires_at !== null) update.expires_at = expires_at
  if (outbox !== undefined) {
    update.outbox = JSON.stringify(outbox)
    update.delivered = false
  }
  return update
}

/** The record in a document. */
export const toRecord = (document: RecordDocument): StoredRecord => ({
  id: document._id,
  project: document.project,
  tenant: document.tenant,
  user: document.user,
  version: document.version,
  created_at: document.created_at,
  updated_at: document.updated_at,
  expires_at: document.expires_at ?? null,
  data: JSON.parse(document.data),
  ...(document.outbox !== undefined && { outbox: JSON.parse(document.outbox) }),
})

/** The server's error for one statement of a batch. */
export interface WriteError {
  readonly index: number
  readonly code: number
  /** The violated unique index. */
  readonly keyPattern?: Readonly<Record<string, unknown>>
}

/** The refused statements of a batch, from the server's answer to `insert` or `update`. */
export const writeErrorsIn = (answer: Document): readonly WriteError[] =>
  (answer.writeErrors ?? []) as readonly WriteError[]
