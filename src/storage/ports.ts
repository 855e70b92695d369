import type { Json, JsonObject, LogEvent, StoredEvent } from '#specs/dsl/json.ts'
import type { Scope } from '#specs/scope.ts'
import type { FlightsInProgress, Reminders } from '../machines/pending.ts'
import type { EffectPolicy } from '../machines/vocabulary.ts'
import type { LeaseStore } from './cluster-ports.ts'

export type { Json, JsonObject, LogEvent, StoredEvent } from '#specs/dsl/json.ts'
export type { InFlight, Reminder } from '../machines/pending.ts'
export type { EffectPolicy } from '../machines/vocabulary.ts'

/** An effect as data. `id` is `<actor>:<seq>:<n>` and is the Idempotency-Key at whatever the effect calls. */
export interface EffectRecord {
  readonly id: string
  readonly name: string
  readonly params: JsonObject
  readonly policy: EffectPolicy
}

/** A message to another actor; `id` is the cause at the receiver, so that it is processed once. */
export interface MessageRecord {
  readonly id: string
  readonly to: string
  readonly event: StoredEvent
}

/**
 * One step of one actor: the whole atomic unit of the runtime, written by one insert.
 *
 * It carries the after-image (`snapshot`, `reminders`, `in_flight`), so recovery replays no code.
 */
export interface Commit {
  readonly actor: string
  /** 1, 2, 3 … per actor; unique with `actor`. */
  readonly seq: number
  /** 0–255. */
  readonly shard: number
  readonly epoch: number
  /** ms since the epoch. */
  readonly at: number
  readonly project: string
  readonly tenant: string | null
  /** `<machine>@<version>`, e.g. `session@1`. */
  readonly machine: string
  /** What made this step: id of the request, message, effect result or reminder; unique with `actor`. */
  readonly cause: string
  /** Names this very write, so that an unknown outcome can be distinguished from another writer's commit. */
  readonly nonce: string
  readonly event: StoredEvent
  /** Innermost states before and after the step, as dotted paths; null before the first. Absent when it changed neither. */
  readonly moved?: readonly [from: string | null, to: string]
  /** Fields of the machine's context that the step changed, in summary; absent when it changed none. */
  readonly changed?: JsonObject
  readonly events: readonly LogEvent[]
  /** Sequence of the actor's newest log event after this step; 0 for none. */
  readonly last_sequence: number
  readonly effects: readonly EffectRecord[]
  readonly messages: readonly MessageRecord[]
  /** Persisted machine snapshot; absent on commits older than the last two. */
  readonly snapshot?: JsonObject
  readonly reminders: Reminders
  readonly in_flight: FlightsInProgress
  /** True while something that this commit implies (an effect, a message, its list row) is not done. */
  readonly open: boolean
  /** Earliest reminder in ms since the epoch; null for none. */
  readonly due: number | null
}

/**
 * What became of one appended commit.
 * - `done`: durable.
 * - `overtaken`: (actor, seq) exists, written by another process; nothing was written.
 * - `duplicate`: (actor, cause) exists; the cause was processed before; nothing was written.
 * - `unknown`: the answer was lost; read back by (actor, seq) and compare `nonce`, never assume.
 */
export type AppendOutcome = 'done' | 'overtaken' | 'duplicate' | 'unknown'

/**
 * The commit log. Adapters: `sqlite`, `mongo`, and `test/support/memory` for tests; one contract suite runs on all.
 *
 * Actor ids are unique over all projects; callers that serve a request compare the commit's `project` and
 * `tenant` with their scope (the runtime's host does, in one place).
 * Every method rejects with `StoreUnavailable` when the store cannot be reached.
 */
export interface CommitStore {
  /** Writes each commit, or not, on its own (unordered); outcomes in the order given. Durable (fsync / majority + journal) when it says `done`. Never rejects: trouble is `unknown`. */
  append(commits: readonly Commit[]): Promise<readonly AppendOutcome[]>
  /** The newest commit of an actor, with its snapshot; null for an unknown actor. */
  head(actor: string): Promise<Commit | null>
  /** The commit with this very sequence number. */
  at(actor: string, seq: number): Promise<Commit | null>
  /** The commit that this cause made. */
  byCause(actor: string, cause: string): Promise<Commit | null>
  /** Commits of an actor with `seq > after`, ascending, at most `limit`; those that a merge removed are missing. */
  ofActor(actor: string, after: number, limit: number): Promise<readonly Commit[]>
  /** Log events with `sequence > after`, ascending, at most `limit`; each with its commit's `at`. */
  events(actor: string, after: number, limit: number): Promise<readonly StoredLogEvent[]>
  /** Commits with `open`, by shard, then oldest first, at most `limit`. */
  open(look: OpenLook): Promise<readonly OpenCommit[]>
  /** Commits with `from <= due <= now`, earliest first, at most `limit`. */
  due(look: DueLook): Promise<readonly Commit[]>
  /**
   * Housekeeping, off the hot path, may be lost in a crash without harm: drops `open` of the `close` commits,
   * `due` of the `undue` commits, and both and `snapshot` of the `retire` commits.
   */
  settle(work: SettleWork): Promise<void>
  /**
   * Housekeeping: puts the log events of an ended effect's parts into few commits, and removes the others
   * (specs/decisions/0152-compaction.md). At each moment, also when the process dies in the middle, `events` gives the
   * same events with the same times. Of two processes that do the same neither undoes the other's work.
   */
  merge(parts: EffectParts): Promise<MergeOutcome>
  /**
   * Commits of one project (null: of all) by actor, then `seq`: those after `after`, at most `limit`. For the operator's
   * tools: all pages together read the whole store once, other projects' commits too, so no request may call it.
   */
  ofProject(project: string | null, after: CommitKey | null, limit: number): Promise<readonly Commit[]>
  /**
   * Actors of a tenant, or of the whole project (null), by id, after `after`, at most `limit`: every one that has its first
   * commit. `forget` takes that one last, so an actor of which something is left is found, but for one whose first commit
   * was never there.
   */
  actorsOf(
    project: string,
    tenant: string | null,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly string[]>
  /** Removes every commit of an actor (hard delete), the first one last. */
  forget(actor: string): Promise<void>
}

/** Which open commits to look for. */
export interface OpenLook {
  readonly limit: number
  /** All when omitted. */
  readonly shards?: readonly number[]
  /** From the place of this one on, itself and others at the same place included; from the first on when omitted. */
  readonly from?: Pick<OpenCommit, 'shard' | 'at' | 'seq'>
  /** Only those whose `at` is this or earlier, in ms since the epoch; all when omitted. */
  readonly until?: number
}

/** An open commit, as far as a sweep has to know before it loads the actor. */
export type OpenCommit = Pick<Commit, 'actor' | 'seq' | 'shard' | 'epoch' | 'at'>

/** Which due commits to look for; times in ms since the epoch. */
export interface DueLook {
  readonly now: number
  /** From the earliest on when omitted. */
  readonly from?: number
  readonly limit: number
  /** All when omitted. */
  readonly shards?: readonly number[]
}

/** A log event with the time of its commit (ms since the epoch). */
export interface StoredLogEvent extends LogEvent {
  readonly at: number
}

/** Names one commit. */
export interface CommitKey {
  readonly actor: string
  readonly seq: number
}

/** What `CommitStore.settle` takes off which commits. */
export interface SettleWork {
  readonly close: readonly CommitKey[]
  readonly undue: readonly CommitKey[]
  readonly retire: readonly CommitKey[]
}

/** The parts of an effect: commits of `actor` between `after` and `before` whose cause is the effect's id, `#` and a number. */
export interface EffectParts {
  readonly actor: string
  readonly effect: string
  readonly after: number
  readonly before: number
  /** Of the caller: nothing is done when the actor has a commit of a higher one. */
  readonly epoch: number
}

/**
 * What became of a merge.
 * - `removed`: so many commits went; `next` is where to go on, null when all parts were looked at.
 * - `waits`: a part is not closed yet.
 * - `overtaken`: another process runs the actor.
 */
export type MergeOutcome =
  | { readonly kind: 'removed'; readonly commits: number; readonly next: number | null }
  | { readonly kind: 'waits' | 'overtaken' }

/**
 * A resource without a lifecycle, or the list row of one that has (then `version` is the commit's `seq`).
 * `data` is the resource; indexed fields are read from it.
 */
export interface StoredRecord {
  readonly id: string
  readonly project: string
  readonly tenant: string | null
  /** External user id that the row belongs to, where it has one. */
  readonly user: string | null
  /** 1 at creation, +1 on every replace. */
  readonly version: number
  /** ms since the epoch. */
  readonly created_at: number
  readonly updated_at: number
  /** ms since the epoch after which the record counts as gone and may be removed; null for never. */
  readonly expires_at: number | null
  readonly data: JsonObject
  /** Messages that its changes caused and that may not be delivered yet, oldest first; absent when all are. Only in kinds with `outbox`. */
  readonly outbox?: readonly MessageRecord[]
}

/**
 * Conditions that lists put together: one index, in the order of the list, so that a page costs the same among many
 * records. A list by several fields at once is refused unless they are declared together, or one that is `narrow`.
 */
export interface ListFilter {
  /** Fields of `data`. */
  readonly fields: readonly string[]
  /**
   * Which scopes have an index of their own; `project` when absent. Under a narrower scope the rest is sorted out among what
   * the index finds, which suits fields that belong to one owner anyway.
   */
  readonly within?: 'project' | 'tenant' | 'user'
  /** They leave so few records that any other condition may be sorted out among them. */
  readonly narrow?: boolean
}

/** Declares a kind of record: its unique keys and what lists may filter on. Adapters create the indexes at start. */
export interface RecordKind {
  /** Collection or table name, snake_case plural. */
  readonly name: string
  /** Fields of `data` (each list one unique key within the project, or everywhere when `global`); records that lack a field are not in that index. */
  readonly unique?: readonly { readonly fields: readonly string[]; readonly global?: boolean }[]
  /** What a list may filter on by equality; a field alone is one within a project. Lists by project, tenant and user are always indexed. */
  readonly filters?: readonly (string | ListFilter)[]
  /** Its records may carry messages: `openOutboxes` finds those that do. */
  readonly outbox?: boolean
}

/** Newest first unless `ascending`; order is by id, which sorts by time of creation. */
export interface RecordQuery {
  readonly where?: { readonly [field: string]: Json }
  /** Only records after this id in the order of the list (cursor paging). */
  readonly after?: string
  /** Rows to skip (page paging). */
  readonly skip?: number
  readonly limit: number
  readonly ascending?: boolean
}

/** Scoped documents under a version guard. A scope with a tenant or user sees only records of that tenant or user. */
export interface RecordStore {
  /** Makes collections and indexes; called once at start, before any other method. */
  prepare(kinds: readonly RecordKind[]): Promise<void>
  get(kind: RecordKind, scope: Scope, id: string): Promise<StoredRecord | null>
  /** The records of these ids that there are, in any order: one read for all. */
  getMany(kind: RecordKind, scope: Scope, ids: readonly string[]): Promise<readonly StoredRecord[]>
  /** The record whose unique fields equal `key`, within the scope. */
  find(kind: RecordKind, scope: Scope, key: JsonObject): Promise<StoredRecord | null>
  /** The record whose global unique fields equal `key`, in any project: for credentials only. */
  findGlobal(kind: RecordKind, key: JsonObject): Promise<StoredRecord | null>
  /** `exists` when the id or a unique key is taken; nothing is written then. */
  insert(kind: RecordKind, record: StoredRecord): Promise<'done' | 'exists'>
  /**
   * Inserts each record, or not, on its own, and all by one durable write; outcomes in the order given. What an error leaves
   * unwritten is not known: insert it again under the same ids, and take `exists` for written.
   */
  insertMany(kind: RecordKind, records: readonly StoredRecord[]): Promise<readonly ('done' | 'exists')[]>
  /** Writes `record` (its `version` is the new one) if the stored version is `record.version - 1`. `conflict` also when a unique key is taken. */
  replace(kind: RecordKind, record: StoredRecord): Promise<'done' | 'conflict' | 'missing'>
  remove(kind: RecordKind, scope: Scope, id: string): Promise<boolean>
  list(kind: RecordKind, scope: Scope, query: RecordQuery): Promise<readonly StoredRecord[]>
  count(kind: RecordKind, scope: Scope, where?: { readonly [field: string]: Json }): Promise<number>
  /** For the numbers of pages: `count`, but what counts more than `exactTotal` may be `totalAgeMs` behind (specs/decisions/0041). */
  total(kind: RecordKind, scope: Scope, where?: { readonly [field: string]: Json }): Promise<number>
  /** Upserts list rows; of two writes of one id the higher `version` stays, whatever their order. No crash of the store alone takes back what it has resolved for. */
  project(rows: readonly { readonly kind: RecordKind; readonly record: StoredRecord }[]): Promise<void>
  /**
   * Records with an outbox, expired ones too, of every project, by id after `after`, at most `limit`.
   * `kind` has to have `outbox`.
   */
  openOutboxes(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]>
  /** Records of every project that have not expired, by id after `after`, at most `limit`. For what concerns the whole installation. */
  ofEveryProject(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]>
  /**
   * Takes the outbox off a record whose version is still this one, and removes the record if it has expired. Its version
   * stays. False when another process has written since: the outbox is another one then.
   */
  closeOutbox(kind: RecordKind, record: Pick<StoredRecord, 'id' | 'project' | 'version'>): Promise<boolean>
  /**
   * Removes at most `limit` records that a tenant or a user owns, expired ones too; those with an outbox stay until it
   * is delivered. For hard deletion: `scope` names a tenant, or is `wholeProjectScope`. Returns how many went.
   */
  clear(kind: RecordKind, scope: Scope, limit: number): Promise<number>
  /** How many records a tenant or a user owns, expired ones too. For hard deletion: `scope` names a tenant, or is `wholeProjectScope`. */
  left(kind: RecordKind, scope: Scope): Promise<number>
  /** Removes records whose `expires_at` has passed and that have no outbox, at most `limit` (all when omitted); returns how many. */
  sweep(kind: RecordKind, now: number, limit?: number): Promise<number>
}

/**
 * Values over 64 KB, by SHA-256 within a project. What belongs to an owner has the owner's ids before its hash
 * (`ten_….ses_….<sha256>`), so that it can be removed with its owner.
 */
export interface BlobStore {
  /** Stores `content`; storing the same again does nothing. Durable when it resolves. */
  put(project: string, hash: string, content: string): Promise<void>
  get(project: string, hash: string): Promise<string | null>
  /** Hashes of a project's blobs, ascending, after `after`, at most `limit`. For backups. */
  hashes(project: string, after: string | null, limit: number): Promise<readonly string[]>
  /** Removes a project's blobs whose hash starts with `prefix`, which is not empty. */
  remove(project: string, prefix: string): Promise<void>
}

/** What an adapter offers. */
export interface Storage {
  readonly name: 'memory' | 'sqlite' | 'mongo'
  readonly commits: CommitStore
  readonly records: RecordStore
  readonly blobs: BlobStore
  /** Null where one process is all there can be. */
  readonly leases: LeaseStore | null
  /** Resolves when the store answers; rejects with `StoreUnavailable` otherwise. Whether it takes writes: readiness.ts. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The store cannot be reached or did not answer in time; the request may be retried. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
