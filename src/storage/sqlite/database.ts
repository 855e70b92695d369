import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { checkStoreVersion, storeVersion } from '../newer-store.ts'
import { StoreUnavailable } from '../ports.ts'
import type { Residue } from '../residue.ts'
import { numberIn } from './schema.ts'

interface Job {
  readonly durable: boolean
  readonly work: () => unknown
  readonly settle: (error: Error | null) => void
}

const constraint = 19

/** Path of a database without a file. */
const inMemory = ':memory:'

/** How long a statement waits for another process, in ms. */
const busyTimeoutMs = 1_000
/** Delay in ms after which the write-ahead log is emptied of what was removed, unless that happens sooner. */
const purgeAfterMs = 2_000
/** Interval in ms at which emptying it is tried again while another process reads the file, and the number of tries. */
const busyMs = 250
const maxAttempts = 8

/**
 * One SQLite file with grouped writes: all writes of one turn of the event loop go into one transaction, hence one
 * fsync. SQLite calls block, so that no read sees an unfinished transaction.
 */
export class Database {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #arrays = new Map<string, StatementSync>()
  #queue: Job[] = []
  #synchronous = 'full'
  #purging: Promise<Residue> | null = null
  #purgeTimer: NodeJS.Timeout | null = null

  /**
   * @param path the file, readable by its owner only; its folder is created when missing.
   * @throws {NewerStore} {StoreUnavailable}
   */
  constructor(path: string) {
    if (path !== inMemory) {
      mkdirSync(dirname(path), { recursive: true })
      keepToOwner(path)
    }
    this.#db = guarded(() => new DatabaseSync(path, { timeout: busyTimeoutMs }))
    const version = this.#versionOf(path)
    this.exec('pragma journal_mode = wal; pragma synchronous = full')
    // removed content is overwritten in its pages (specs/decisions/0250-forgetting-includes-writes.md)
    this.exec('pragma secure_delete = on')
    if (version < storeVersion) this.exec(`pragma user_version = ${storeVersion}`)
  }

  #versionOf(path: string): number {
    const version = numberIn(
      guarded(() => this.#db.prepare('pragma user_version').get()),
      'user_version',
    )
    try {
      checkStoreVersion(resolve(path), version ?? 0)
    } catch (error) {
      this.#db.close()
      throw error
    }
    return version ?? 0
  }

  /** Runs statements immediately, outside any group: for tables and indexes at start. */
  exec(sql: string): void {
    guarded(() => this.#db.exec(sql))
  }

  /** Runs work that calls `exec` many times, as one transaction, immediately. */
  together(work: () => void): void {
    this.exec('begin immediate')
    try {
      work()
      this.exec('commit')
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('rollback')
      throw error
    }
  }

  /** Returns the prepared statement of this text, which is cached. */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Like `statement`, but rows are arrays of columns: twice as fast, for lists. */
  arrays(sql: string): StatementSync {
    const known = this.#arrays.get(sql)
    if (known) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    this.#arrays.set(sql, statement)
    return statement
  }

  /** Runs a read. @throws {StoreUnavailable} when SQLite cannot answer. */
  read<T>(work: () => T): T {
    return guarded(work)
  }

  /**
   * Runs `work` within the next group, and resolves when the group is on disk; `durable: false` skips the fsync where a
   * loss is harmless.
   *
   * A constraint violation that `work` does not catch rejects only this call; any other SQLite error rolls back the
   * whole group.
   */
  write<T>(durable: boolean, work: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let result: T
    const run = () => {
      result = work()
    }
    if (this.#queue.push({ durable, work: run, settle: (error) => (error ? reject(error) : resolve(result)) }) === 1) {
      setImmediate(() => this.#flush())
    }
    return promise
  }

  /** Like a durable `write`, of work that removes content. */
  remove<T>(work: () => T): Promise<T> {
    this.purgeSoon()
    return this.write(true, work)
  }

  /** Purges the files within seconds, since content is being removed. */
  purgeSoon(): void {
    this.#purgeTimer ??= setTimeout(() => void this.purge().catch(() => {}), purgeAfterMs).unref()
  }

  /**
   * Writes everything into the file and empties the write-ahead log, which still contains what was removed. Calls in
   * one turn of the event loop share this.
   *
   * @throws {StoreUnavailable}
   */
  purge(): Promise<Residue> {
    this.#purging ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#purging = null
        this.#emptyLog().then(resolve, reject)
      })
    })
    return this.#purging
  }

  async #emptyLog(): Promise<Residue> {
    if (this.#purgeTimer !== null) clearTimeout(this.#purgeTimer)
    this.#purgeTimer = null
    for (let tries = 0; tries < maxAttempts && this.#db.isOpen; tries++) {
      if (tries > 0) await new Promise((resolve) => setTimeout(resolve, busyMs).unref())
      if (guarded(() => this.#truncated())) return 'overwritten'
    }
    this.purgeSoon()
    return 'pending'
  }

  /** @returns false while another process reads the file, for which no request here may wait. */
  #truncated(): boolean {
    if (!this.#db.isOpen) return false
    this.#flush()
    this.#db.exec('pragma busy_timeout = 0')
    try {
      return numberIn(this.#db.prepare('pragma wal_checkpoint(truncate)').get(), 'busy') === 0
    } finally {
      this.#db.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
    }
  }

  #flush(): void {
    const jobs = this.#queue
    this.#queue = []
    if (jobs.length === 0) return
    let errors: (Error | null)[]
    try {
      errors = this.#transaction(jobs)
    } catch (error) {
      errors = jobs.map(() => unavailable(error))
    }
    for (const [i, job] of jobs.entries()) job.settle(errors[i] ?? null)
  }

  #transaction(jobs: readonly Job[]): (Error | null)[] {
    this.#setSynchronous(jobs.some((job) => job.durable) ? 'full' : 'normal')
    this.#db.exec('begin immediate')
    try {
      const errors = jobs.map(runAlone)
      this.#db.exec('commit')
      return errors
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('rollback')
      throw error
    }
  }

  #setSynchronous(mode: 'full' | 'normal'): void {
    if (mode === this.#synchronous) return
    this.#db.exec(`pragma synchronous = ${mode}`)
    this.#synchronous = mode
  }

  /** Writes what is queued and closes the file; later calls fail with `StoreUnavailable`. */
  close(): void {
    if (!this.#db.isOpen) return
    if (this.#purgeTimer !== null) clearTimeout(this.#purgeTimer)
    this.#flush()
    this.#statements.clear()
    this.#arrays.clear()
    this.#db.close()
  }
}

/** Creates the file before SQLite does, which would not restrict its mode; the WAL gets the mode of the file. */
export const keepToOwner = (path: string): void => {
  try {
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
  } catch {
    // owned by another user, or a file system without modes: SQLite reports whether it can be used
  }
}

const runAlone = ({ work }: Job): Error | null => {
  try {
    work()
    return null
  } catch (error) {
    const code = sqliteCode(error)
    if (code !== null && code !== constraint) throw error
    return error instanceof Error ? error : new Error(String(error))
  }
}

const guarded = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw sqliteCode(error) === null ? error : unavailable(error)
  }
}

const unavailable = (cause: unknown): StoreUnavailable => new StoreUnavailable('sqlite does not answer', { cause })

/** SQLite's primary result code; null when the error is not SQLite's own (-1: the file is closed). */
const sqliteCode = (error: unknown): number | null => {
  if (!(error instanceof Error) || !('code' in error)) return null
  if (error.code === 'ERR_INVALID_STATE') return -1
  return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null
}
