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

const blobsIn = (db: Database): BlobStore => {
  db.exec(blobTable)
  const insert = 'insert into blobs (project, hash, content) values (?, ?, ?) on conflict do nothing'
  const select = 'select content from blobs where project = ? and hash = ?'
  const page = 'select hash from blobs where project = ? and hash > ? order by hash limit ?'
  const remove = 'delete from blobs where project = ? and hash >= ? and hash < ?'
  return {
    put: (project, hash, content) => db.write(true, () => void db.statement(insert).run(project, hash, kept(content))),
    get: async (project, hash) => contentIn(db.read(() => db.statement(select).get(project, hash))),
    remove: (project, prefix) => {
      const start = blobPrefix(prefix)
      return db.remove(() => void db.statement(remove).run(project, start, afterPrefix(start)))
    },
    hashes: async (project, after, limit) =>
      db.read(() => db.statement(page).all(project, after ?? '', limit)).map((raw) => textIn(raw, 'hash') ?? ''),
  }
}

/** Content with a NUL character is stored as bytes, because SQLite returns a text only up to its first NUL. */
const kept = (content: string): string | Buffer => (content.includes('\0') ? Buffer.from(content) : content)
