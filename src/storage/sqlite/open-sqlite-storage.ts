import type { BlobStore, Storage } from '../ports.ts'
import { afterPrefix, blobPrefix } from '../record-keys.ts'
import { SqliteCommits } from './commits.ts'
import { Database } from './database.ts'
import { SqliteRecords } from './records.ts'
import { blobTable, contentIn, textIn } from './schema.ts'

/**
 * The embedded store: one file, durable at every acknowledgement (WAL, synchronous=FULL).
 *
 * @param options.path the file; its folder is created when missing.
 * @param options.now ms since the epoch; decides which records have expired.
 * @throws {StoreUnavailable} when the file cannot be opened.
 *
 * @example
 * const storage = openSqliteStorage({ path: 'orders.db' })
 */
export const openSqliteStorage = ({
  path,
  now = Date.now,
}: {
  readonly path: string
  readonly now?: () => number
}): Storage => {
  const db = new Database(path)
  return {
    name: 'sqlite',
    replacesAtOnce: true,
    commits: new SqliteCommits(db),
    records: new SqliteRecords(db, now),
    blobs: blobsIn(db),
    leases: null,
    vectors: null,
    ping: async () => void db.read(() => db.statement('select 1').get()),
    purge: () => db.purge(),
    close: async () => db.close(),
  }
}

/** Time in ms for which one turn of the event loop deletes blobs: of one with megabytes, SQLite overwrites every page. */
const removalMs = 4

const blobsIn = (db: Database): BlobStore => {
  db.exec(blobTable)
  const insert = 'insert into blobs (project, hash, content) values (?, ?, ?) on conflict do nothing'
  const select = 'select content from blobs where project = ? and hash = ?'
  const page = 'select hash from blobs where project = ? and hash > ? order by hash limit ?'
  const range = 'select rowid from blobs where project = ? and hash >= ? and hash < ? limit ?'
  const remove = `delete from blobs where rowid in (${range})`
  return {
    put: (project, hash, content) => db.write(true, () => void db.statement(insert).run(project, hash, kept(content))),
    get: async (project, hash) => textOf(contentIn(db.read(() => db.statement(select).get(project, hash)))),
    bytes: async (project, hash) => bytesOf(contentIn(db.read(() => db.statement(select).get(project, hash)))),
    remove: async (project, prefix) => {
      const start = blobPrefix(prefix)
      for (let [count, removed] = [1, 1]; removed === count; ) {
        const begun = count
        const ms = await db.remove(() => {
          const from = performance.now()
          removed = Number(db.statement(remove).run(project, start, afterPrefix(start), begun).changes)
          return performance.now() - from
        })
        if (removed === count) removed = count = ms < removalMs ? count * 2 : Math.max(1, count >> 1)
      }
    },
    hashes: async (project, after, limit) =>
      db.read(() => db.statement(page).all(project, after ?? '', limit)).map((raw) => textIn(raw, 'hash') ?? ''),
  }
}

/** Content with a NUL character is stored as bytes, because SQLite returns a text only up to its first NUL. */
const kept = (content: string | Uint8Array): string | Uint8Array =>
  typeof content === 'string' && content.includes('\0') ? Buffer.from(content) : content

const textOf = (content: string | Uint8Array | null): string | null =>
  content instanceof Uint8Array
    ? Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString()
    : content

const bytesOf = (content: string | Uint8Array | null): Uint8Array | null =>
  typeof content === 'string' ? Buffer.from(content) : content
