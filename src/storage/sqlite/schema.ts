import type { SQLOutputValue } from 'node:sqlite'
import type { CommitRow } from '../commit-row.ts'
import type { PartRow } from '../merged-parts.ts'
import type { OpenCommit, StoredRecord } from '../ports.ts'

/** One row as returned by SQLite. The casts below are valid because only this adapter writes these tables. */
export type RawRow = Record<string, SQLOutputValue>

/**
 * The table of commits and its indexes. Rows are stored in order of time: a table ordered by actor wrote three times as
 * many pages.
 */
export const commitTable = `
  create table if not exists commits (
    actor text not null, seq integer not null, shard integer not null, epoch integer not null, at integer not null,
    project text not null, tenant text, machine text not null, cause text not null, nonce text not null,
    last_sequence integer not null, open integer not null, due integer,
    events text, snapshot text, body text not null,
    unique (actor, seq), unique (actor, cause)
  );
  create index if not exists commits_open on commits (shard, at, seq) where open = 1;
  create index if not exists commits_first on commits (project, tenant, actor) where seq = 1 and tenant is not null;
  create index if not exists commits_of_project on commits (project, actor) where seq = 1;
  drop index if exists commits_due;
  create index if not exists commits_due_at on commits (due) where due is not null;
`

/** The table of large values. */
export const blobTable =
  'create table if not exists blobs (project text not null, hash text not null, content text not null, unique (project, hash))'

/** A row of `commits`. */
export const commitRow = (raw: RawRow): CommitRow => ({ ...raw, open: raw.open === 1 }) as unknown as CommitRow

/** A row of `commits` with the columns of an `OpenCommit`. */
export const openCommit = (raw: RawRow): OpenCommit => ({ ...raw }) as unknown as OpenCommit

/** A row of `commits` with the columns that merging needs. */
export const partRow = (raw: RawRow): PartRow => ({ ...raw, open: raw.open === 1 }) as unknown as PartRow

/** A row of a kind's table. */
export const storedRecord = (raw: RawRow): StoredRecord => {
  const { id, project, tenant, user, version, created_at, updated_at, expires_at, data, outbox } = raw
  return recordOf([id, project, tenant, user, version, created_at, updated_at, expires_at, data, outbox])
}

/** The columns of a kind's table, in the order of `listedRecord`. */
export const recordColumns = 'id, project, tenant, user, version, created_at, updated_at, expires_at, data, outbox'

/** A row of a kind's table as an array, which SQLite returns in half the time of an object. */
const recordOf = (values: readonly unknown[]): StoredRecord => {
  // field by field: copying SQLite's row object takes ten times as long
  const [id, project, tenant, user, version, created_at, updated_at, expires_at, text, outbox] = values
  const data: unknown = JSON.parse(String(text))
  const record = { id, project, tenant, user, version, created_at, updated_at, expires_at, data } as unknown
  if (typeof outbox !== 'string') return record as StoredRecord
  return { ...(record as StoredRecord), outbox: JSON.parse(outbox) }
}

/** `recordOf` for a row of a statement that returns arrays, which its type does not show. */
export const listedRecord = (raw: unknown): StoredRecord => recordOf(raw as readonly unknown[])

/** The values of a statement that returns arrays. */
export const valuesIn = (raw: unknown): readonly unknown[] => raw as readonly unknown[]

/** A column that holds a number. */
export const numberIn = (raw: RawRow | undefined, column: string): number | null => {
  const value = raw?.[column]
  return typeof value === 'number' ? value : null
}

/** A column that holds text. */
export const textIn = (raw: RawRow | undefined, column: string): string | null => {
  const value = raw?.[column]
  return typeof value === 'string' ? value : null
}

/** The content of a blob; null without a row. */
export const contentIn = (raw: RawRow | undefined): string | Uint8Array | null => {
  const value = raw?.content
  return value instanceof Uint8Array ? value : textIn(raw, 'content')
}
