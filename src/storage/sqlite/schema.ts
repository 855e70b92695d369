import type { SQLOutputValue } from 'node:sqlite'
import type { CommitRow } from '../commit-row.ts'
import type { PartRow } from '../merged-parts.ts'
import type { OpenCommit, StoredRecord } from '../ports.ts'

/** One row as SQLite gives it. The casts below hold because only this adapter writes these tables. */
export type RawRow = Record<string, SQLOutputValue>

/** The table of commits and its indexes. Rows are appended in the order of time: a table ordered by actor wrote three times the pages. */
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

/** A row of `commits` with the columns that an open commit is known by. */
export const openCommit = (raw: RawRow): OpenCommit => ({ ...raw }) as unknown as OpenCommit

/** A row of `commits` with the columns that merging looks at. */
export const partRow = (raw: RawRow): PartRow => ({ ...raw, open: raw.open === 1 }) as unknown as PartRow

/** A row of a kind's table. */
export const storedRecord = (raw: RawRow): StoredRecord => {
  // field by field: a copy of what SQLite gives, which has no prototype, takes ten times as long
  const { id, project, tenant, user, version, created_at, updated_at, expires_at, data, outbox } = raw
  const fields = { id, project, tenant, user, version, created_at, updated_at, expires_at }
  const record = { ...fields, data: JSON.parse(String(data)) } as unknown as StoredRecord
  return typeof outbox === 'string' ? { ...record, outbox: JSON.parse(outbox) } : record
}

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
