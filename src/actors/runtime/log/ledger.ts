import type { Commit, RecordKind, StoredRecord } from '#storage/ports.ts'
import type { Owner } from '../step/actor-state.ts'

/** A permanent row derived from a commit, such as the usage of a model call. */
export interface LedgerRow {
  readonly kind: RecordKind
  readonly record: StoredRecord
}

/**
 * Derives the rows of a commit other than its actor's list row. Pure: called again after a crash, it returns the same
 * rows with the same ids, so each is stored once. They are written asynchronously after the commit, in the batches of
 * the list rows; until then the commit stays open (specs/decisions/0070-usage.md).
 */
export type Ledger = (commit: Commit, owner: Owner) => readonly LedgerRow[]

/** Returns a row for the commit by which this process took an actor over, or null. Called once for each takeover. */
export type TakenOver = (fence: Commit) => LedgerRow | null
