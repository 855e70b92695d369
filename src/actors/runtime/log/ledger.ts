import type { Commit, RecordKind, StoredRecord } from '#storage/ports.ts'
import type { Owner } from '../step/actor-state.ts'

/** A row that a commit leaves for good, such as the usage of a model call. */
export interface LedgerRow {
  readonly kind: RecordKind
  readonly record: StoredRecord
}

/**
 * The rows that a commit leaves beside its actor's list row. Pure: called again after a crash, it gives the same rows
 * under the same ids, and so each is there once. They are written behind the commit, in the batches of the list rows;
 * until they are, the commit stays open (specs/decisions/0070-usage.md).
 */
export type Ledger = (commit: Commit, owner: Owner) => readonly LedgerRow[]
