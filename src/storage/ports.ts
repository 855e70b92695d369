import type { Json, JsonObject, LogEvent, StoredEvent } from '../machines/json.ts'
import type { FlightsInProgress, Reminders } from '../machines/pending.ts'
import type { EffectPolicy } from '../machines/vocabulary.ts'
import type { BlobStore } from './blob-port.ts'
import type { LeaseStore } from './cluster-ports.ts'
import type { EffectParts, MergeOutcome } from './effect-parts.ts'
import type { Residue } from './residue.ts'
import type { Scope } from './scope.ts'
import type { SearchStore } from './search/search-port.ts'
import type { VectorStore } from './search/vector-port.ts'
import type { Total } from './totals.ts'

export type { Json, JsonObject, LogEvent, StoredEvent } from '../machines/json.ts'
export type { InFlight, Reminder } from '../machines/pending.ts'
export type { EffectPolicy } from '../machines/vocabulary.ts'
export type { BlobStore } from './blob-port.ts'
export type { EffectParts, MergeOutcome } from './effect-parts.ts'

/**
 * An effect as data. `id` is `<actor>:<seq>:<n>` and is sent as the Idempotency-Key to the service that the effect
 * calls.
 */
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
 * One step of one actor: the atomic unit of the runtime, written by one insert.
 *
 * It carries the after-image (`snapshot`, `reminders`, `in_flight`), so that recovery replays no code.
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
  /** Id of the request, message, effect result or reminder that caused this step; unique with `actor`. */
  readonly cause: string
  /**
   * Identifies this write, so that a write with an unknown outcome can be distinguished from another writer's commit.
   */
  readonly nonce: string
  readonly event: StoredEvent
  /**
   * Innermost states before and after the step, as dotted paths; the first is null before the first step. Absent when
   * unchanged.
   */
  readonly moved?: readonly [from: string | null, to: string]
  /** Summary of the context fields that the step changed; absent when it changed none. */
  readonly changed?: JsonObject
  readonly events: readonly LogEvent[]
  /**
   * Number of commits directly before this one whose log events it carries as well, before its own: parts of an effect
   * that it ended. They are removed with its write. Absent for none.
   */
  readonly replaces?: number
  /** Sequence of the actor's newest log event after this step; 0 for none. */
  readonly last_sequence: number
  readonly effects: readonly EffectRecord[]
  readonly messages: readonly MessageRecord[]
  /** Persisted machine snapshot; absent on commits older than the last two. */
  readonly snapshot?: JsonObject
  readonly reminders: Reminders
  readonly in_flight: FlightsInProgress
  /** True while work that this commit implies (an effect, a message, its list row) is not done. */
  readonly open: boolean
  /** Earliest reminder in ms since the epoch; null for none. */
  readonly due: number | null
}

/**
 * Outcome of one appended commit.
 * - `done`: durable.
 * - `overtaken`: (actor, seq) exists, written by another process; nothing was written. A store that `replacesAtOnce`
 *   answers so as well when a later commit has replaced the one with this key.
 * - `duplicate`: (actor, cause) exists: the cause was processed before; nothing was written.
 * - `unknown`: the answer was lost; read the commit back by (actor, seq) and compare `nonce`, never assume.
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
  /**
   * Writes each commit independently (unordered) and returns outcomes in the order given. `done` means durable (fsync,
   * or majority + journal). Never rejects: a failure is `unknown`. Once a commit is `done`, and not before, those that
   * it `replaces` are removed, the last one first; a store without transactions may leave the first of them to `merge`.
   */
  append(commits: readonly Commit[]): Promise<readonly AppendOutcome[]>
  /** Returns the newest commit of an actor, with its snapshot; null for an unknown actor. */
  head(actor: string): Promise<Commit | null>
  /** `head`, and the data of the kind's record with the actor's id, as of after it. Absent in a store without round trips. */
  headBeside?(actor: string, kind: RecordKind, project: string): Promise<HeadBeside>
  /** Returns the commit with this sequence number; null when there is none. */
  at(actor: string, seq: number): Promise<Commit | null>
  /** Returns the commit that this cause made; null when there is none. */
  byCause(actor: string, cause: string): Promise<Commit | null>
  /** Returns commits of an actor with `seq > after`, ascending, at most `limit`; those that merges removed are missing. */
  ofActor(actor: string, after: number, limit: number): Promise<readonly Commit[]>
  /** Returns log events with `sequence > after`, ascending, at most `limit`; each with its commit's `at`. */
  events(actor: string, after: number, limit: number): Promise<readonly StoredLogEvent[]>
  /** Returns commits with `open`, by shard, then oldest first, at most `limit`. */
  open(check: OpenQuery): Promise<readonly OpenCommit[]>
  /** Returns commits with `from <= due <= now`, earliest first, at most `limit`. */
  due(check: DueQuery): Promise<readonly Commit[]>
  /**
   * Housekeeping off the hot path, which a crash may lose without harm: clears `open` of the `close` commits, `due` of
   * the `undue` commits, and both and `snapshot` of the `retire` commits.
   */
  settle(work: SettleWork): Promise<void>
  /**
   * Housekeeping: moves the log events of an ended effect's parts into few commits, and removes the other parts, as
   * well as those whose events the commit `before` carries (specs/decisions/0152-compaction.md). At every moment, even if the process dies midway, `events` returns the same
   * events with the same times. Two processes that merge the same parts do not undo each other's work.
   */
  merge(parts: EffectParts): Promise<MergeOutcome>
  /**
   * Returns commits of one project (null: of all) by actor, then `seq`: those after `after`, at most `limit`. For
   * operators' tools only: reading all pages reads the whole store once, including other projects' commits, so no
   * request may call it.
   */
  ofProject(project: string | null, after: CommitKey | null, limit: number): Promise<readonly Commit[]>
  /**
   * Returns the actors of a tenant, or of the whole project (null), by id, after `after`, at most `limit`: every actor
   * whose first commit exists. `forget` removes that commit last, so that a partly removed actor is still found, unless
   * its first commit never existed.
   */
  actorsOf(
    project: string,
    tenant: string | null,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<readonly string[]>
  /** Removes every commit of an actor (hard delete), the first one last. */
  forget(actor: string): Promise<void>
}

/** `head`, and the data of the record beside it; null when there is none. */
export type HeadBeside = { readonly head: Commit | null; readonly beside: JsonObject | null }

/** Selects open commits. */
export interface OpenQuery {
  readonly limit: number
  /** All when omitted. */
  readonly shards?: readonly number[]
  /** Starts at the position of this commit, with it and others at that position; from the first one when omitted. */
  readonly from?: Pick<OpenCommit, 'shard' | 'at' | 'seq'>
  /** Only those whose `at` is this or earlier, in ms since the epoch; all when omitted. */
  readonly until?: number
}

/** An open commit, with the fields that a sweep needs before it loads the actor. */
export type OpenCommit = Pick<Commit, 'actor' | 'seq' | 'shard' | 'epoch' | 'at'>

/** Selects due commits; times in ms since the epoch. */
export interface DueQuery {
  readonly now: number
  /** Earliest due time; no lower bound when omitted. */
  readonly from?: number
  readonly limit: number
  /** All when omitted. */
  readonly shards?: readonly number[]
}

/** A log event with the time of its commit (ms since the epoch). */
export interface StoredLogEvent extends LogEvent {
  readonly at: number
}

/** Key of one commit. */
export interface CommitKey {
  readonly actor: string
  readonly seq: number
}

/** Commits that `CommitStore.settle` clears fields of. */
export interface SettleWork {
  readonly close: readonly CommitKey[]
  readonly undue: readonly CommitKey[]
  readonly retire: readonly CommitKey[]
}

/**
 * A resource without a lifecycle, or the list row of a resource with one (`version` is then the commit's `seq`). `data`
 * is the resource; indexed fields are read from it.
 */
export interface StoredRecord {
  readonly id: string
  readonly project: string
  readonly tenant: string | null
  /** External user id that the row belongs to; null when it belongs to no user. */
  readonly user: string | null
  /** 1 at creation, +1 on every replace. */
  readonly version: number
  /** ms since the epoch. */
  readonly created_at: number
  readonly updated_at: number
  /** ms since the epoch after which the record no longer exists for readers and may be removed; null for never. */
  readonly expires_at: number | null
  readonly data: JsonObject
  /**
   * Messages caused by its changes that may not be delivered yet, oldest first; absent when all are. Only in kinds with
   * `outbox`.
   */
  readonly outbox?: readonly MessageRecord[]
}

/**
 * A combination of conditions for lists: one index, in the order of the list, so that the cost of a page does not
 * depend on the number of records. A list by several fields at once is refused unless they are declared together, or
 * one is `narrow`.
 */
export interface ListFilter {
  /** Fields of `data`. */
  readonly fields: readonly string[]
  /**
   * Scope that the index covers; `project` when absent. Under a narrower scope, records that the index finds are
   * filtered further, which suits fields that belong to one owner anyway.
   */
  readonly within?: 'project' | 'tenant' | 'user'
  /** Whether the fields leave so few records that any further condition can be applied by filtering. */
  readonly narrow?: boolean
}

/** Declares a kind of record: its unique keys and the filters of its lists. Adapters create the indexes at start. */
export interface RecordKind {
  /** Collection or table name, snake_case plural. */
  readonly name: string
  /**
   * Unique keys: lists of fields of `data`, unique within the project, or everywhere when `global`. Records that lack a
   * field are not in that index.
   */
  readonly unique?: readonly { readonly fields: readonly string[]; readonly global?: boolean }[]
  /**
   * Equality filters of lists; a plain field is a filter within a project. Lists by project, tenant and user are always
   * indexed.
   */
  readonly filters?: readonly (string | ListFilter)[]
  /** Whether its records may carry messages: `openOutboxes` finds those that do. */
  readonly outbox?: boolean
  /**
   * Field of `data` with an ISO 8601 time in UTC: from then on, `due` finds the record. One that lacks it is never due. Who
   * declares it removes its records, which do not expire by themselves: no `sweep` looks for them.
   */
  readonly due?: string
}

/** Query of a list: newest first unless `ascending`. The order is by id, which sorts by time of creation. */
export interface RecordQuery {
  readonly where?: { readonly [field: string]: Json }
  /** Returns only records after this id in the order of the list (cursor paging). */
  readonly after?: string
  /** Rows to skip (page paging). */
  readonly skip?: number
  readonly limit: number
  readonly ascending?: boolean
}

/**
 * Scoped documents with optimistic locking by version. A scope with a tenant or user sees only records of that tenant
 * or user.
 */
export interface RecordStore {
  /** Creates collections and indexes; called once at start, before any other method. */
  prepare(kinds: readonly RecordKind[]): Promise<void>
  get(kind: RecordKind, scope: Scope, id: string): Promise<StoredRecord | null>
  /** Returns the existing records among these ids, in any order, by one read. */
  getMany(kind: RecordKind, scope: Scope, ids: readonly string[]): Promise<readonly StoredRecord[]>
  /** Returns the record whose unique fields equal `key`, within the scope. */
  find(kind: RecordKind, scope: Scope, key: JsonObject): Promise<StoredRecord | null>
  /** Returns the record whose global unique fields equal `key`, in any project: for credentials only. */
  findGlobal(kind: RecordKind, key: JsonObject): Promise<StoredRecord | null>
  /** Inserts a record; `exists`, and nothing is written, when the id or a unique key is taken. */
  insert(kind: RecordKind, record: StoredRecord): Promise<'done' | 'exists'>
  /**
   * Inserts each record independently, all by one durable write; outcomes in the order given. After an error it is
   * unknown which were written: insert them again under the same ids, and treat `exists` as written.
   */
  insertMany(kind: RecordKind, records: readonly StoredRecord[]): Promise<readonly ('done' | 'exists')[]>
  /**
   * Writes `record` (`version` is the new one) if the stored version is `record.version - 1`; `conflict` also when a
   * unique key is taken.
   */
  replace(kind: RecordKind, record: StoredRecord): Promise<'done' | 'conflict' | 'missing'>
  remove(kind: RecordKind, scope: Scope, id: string): Promise<boolean>
  list(kind: RecordKind, scope: Scope, query: RecordQuery): Promise<readonly StoredRecord[]>
  count(kind: RecordKind, scope: Scope, where?: { readonly [field: string]: Json }): Promise<number>
  /**
   * Like `count`, for page numbers, at a bounded cost: exact up to `exactTotal`, and above `currentTotal` up to
   * `totalAgeMs` old (specs/decisions/0040).
   */
  total(kind: RecordKind, scope: Scope, where?: { readonly [field: string]: Json }): Promise<Total>
  /**
   * Upserts list rows; of two writes of one id the higher `version` wins, in any order. Once resolved, a crash of the
   * store alone loses no row.
   */
  project(rows: readonly { readonly kind: RecordKind; readonly record: StoredRecord }[]): Promise<void>
  /**
   * Returns records with an outbox, expired ones too, of every project, by id after `after`, at most `limit`. Requires
   * a `kind` with `outbox`.
   */
  openOutboxes(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]>
  /**
   * Which of these kinds have a record with an outbox, found by one statement: every process looks for them every few
   * seconds, and there are dozens of kinds. Requires kinds with `outbox`.
   */
  withOpenOutboxes(kinds: readonly RecordKind[]): Promise<readonly RecordKind[]>
  /** Returns unexpired records of every project, by id after `after`, at most `limit`. For installation-wide work. */
  ofEveryProject(kind: RecordKind, after: string | null, limit: number): Promise<readonly StoredRecord[]>
  /**
   * Returns unexpired records of every project whose field `due` is at most `at`, the earliest first, at most `limit`; only
   * these are read. Requires a `kind` with `due`. For installation-wide work.
   */
  due(kind: RecordKind, at: string, limit: number): Promise<readonly StoredRecord[]>
  /**
   * Removes the outbox of a record that still has this version, and the record itself if it has expired. The version
   * does not change. False when another process has written since, so that the outbox is a different one.
   */
  closeOutbox(kind: RecordKind, record: Pick<StoredRecord, 'id' | 'project' | 'version'>): Promise<boolean>
  /**
   * Removes at most `limit` records that a tenant or a user owns, expired ones too; those with an outbox stay until it
   * is delivered. For hard deletion: `scope` names a tenant, or is `wholeProjectScope`. Returns the number removed.
   */
  clear(kind: RecordKind, scope: Scope, limit: number): Promise<number>
  /**
   * Counts the records that a tenant or a user owns, expired ones too. For hard deletion: `scope` names a tenant, or is
   * `wholeProjectScope`.
   */
  left(kind: RecordKind, scope: Scope): Promise<number>
  /**
   * Removes records whose `expires_at` has passed and that have no outbox, at most `limit` (all when omitted); returns
   * the number removed.
   */
  sweep(kind: RecordKind, now: number, limit?: number): Promise<number>
}

/** A storage adapter. */
export interface Storage {
  /**
   * Set when a commit and the removal of those that it replaces are one transaction: nothing is left to `merge`, and no
   * commit is written with the key of a replaced one.
   */
  readonly replacesAtOnce?: true
  readonly name: string
  readonly commits: CommitStore
  readonly records: RecordStore
  readonly blobs: BlobStore
  /** Null for a store that only one process can use. */
  readonly leases: LeaseStore | null
  /** The number of shards of its actors, fixed for its life, a power of two up to 1,024; absent: 256. */
  readonly shards?: number
  /** Null for a store that cannot search vectors. */
  readonly vectors: VectorStore | null
  readonly search?: SearchStore
  /**
   * Resolves when the store answers; rejects with `StoreUnavailable` otherwise. readiness.ts checks whether it accepts
   * writes.
   */
  ping(): Promise<void>
  /**
   * Removes from the store's files what was removed from it before the call, and returns what may be left in them.
   * Without a call an embedded store does so within seconds.
   *
   * @throws {StoreUnavailable}
   */
  purge(): Promise<Residue>
  close(): Promise<void>
}

/**
 * The store cannot be reached or did not answer in time; the request may be retried.
 * @example if (error instanceof StoreUnavailable) return answer(503)
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}
