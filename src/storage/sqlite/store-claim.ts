import { DatabaseSync } from 'node:sqlite'
import { StoreInUse } from '../store-in-use.ts'
import { keepToOwner } from './database.ts'

/** Time in ms to wait for the lock: a process that was just killed may hold it for a moment. */
const patienceMs = 1_000

const busy = 5

/** Keeps the handles of locks alive, since garbage collection of a handle releases its lock. */
const claims = new Set<DatabaseSync>()

/**
 * Claims a SQLite store for this process until it ends, in whatever way: an operating system lock on a file next to the
 * store, which no crash leaves behind (specs/decisions/0115-starting.md).
 *
 * @param path file of the store.
 * @returns a function that releases the claim; the end of the process does so too.
 * @throws {StoreInUse} while another process holds it.
 */
export const claimStore = (path: string): (() => void) => {
  const file = `${path}.lock`
  keepToOwner(file)
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file, { timeout: patienceMs })
    lock.exec('pragma journal_mode = off; begin exclusive')
  } catch (error) {
    lock?.close()
    if (error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === busy)
      throw new StoreInUse(
        `Another process uses ${path}. Stop that server or tool first, or set DATA_DIR to another folder.`,
        { cause: error },
      )
    // a file system without locks: a later start takes over, as on other stores
    return () => {}
  }
  const held = lock
  claims.add(held)
  return () => {
    claims.delete(held)
    held.close()
  }
}
