import { DatabaseSync } from 'node:sqlite'
import { StoreInUse } from '../store-in-use.ts'
import { keepToOwner } from './database.ts'

/** A process that was just killed may hold its locks for a moment, in ms. */
const patienceMs = 1_000

const busy = 5

/** A lock whose handle is collected as garbage is given back. */
const claims = new Set<DatabaseSync>()

/**
 * Claims a store on SQLite for this process until it ends, however it ends: a lock of the operating system on a file beside
 * the store, which no crash leaves behind (specs/decisions/0238-one-server-per-file.md).
 *
 * @param path file of the store.
 * @returns gives it back; so does the end of the process.
 * @throws {StoreInUse} while another process has it.
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
    // a disk without locks: a later start takes over, as on other stores
    return () => {}
  }
  const held = lock
  claims.add(held)
  return () => {
    claims.delete(held)
    held.close()
  }
}
