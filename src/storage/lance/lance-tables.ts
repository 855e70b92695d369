import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from '../ports.ts'
import type { ArrowSchema, LanceConnection, LancePackages, LanceTable } from './lance-package.ts'
import { TableUpkeep } from './table-upkeep.ts'

/** Bounds of what LanceDB keeps in memory, in bytes: parts of indexes, and descriptions of files. */
const [indexCacheBytes, metadataCacheBytes] = [128n * 1024n * 1024n, 32n * 1024n * 1024n]
/** Time in seconds after which the changes of other processes are seen. */
const seenAfterS = 1
/** Age in ms from which earlier versions of a table are removed. */
const versionMs = 600_000
/** Number of rows from which a table has indexes of vectors and keys. */
const indexedFrom = 50_000
/** Attempts to put a table in order while another process does the same, and the longest pause in ms between two. */
const [maxTries, pauseMs] = [8, 200]
/** Number of names that are listed at once. */
const pageSize = 1_000

/** Tables of LanceDB in a folder, or in a bucket that nodes share. */
export class LanceTables {
  readonly packages: LancePackages
  readonly #db: LanceConnection
  readonly #open = new Map<string, Promise<LanceTable | null>>()
  readonly #turns = new Map<string, Promise<void>>()
  readonly #upkeep: TableUpkeep

  private constructor(db: LanceConnection, packages: LancePackages) {
    this.#db = db
    this.packages = packages
    this.#upkeep = new TableUpkeep({
      ...{ lance: packages.lance, versionMs, indexedFrom },
      open: (name) => this.open(name),
      drop: (name) => this.drop(name),
    })
  }

  /**
   * @param uri a folder, or the address of a bucket (`s3://…`, `gs://…`, `az://…`).
   * @throws {StoreUnavailable}
   */
  static async at(packages: LancePackages, uri: string): Promise<LanceTables> {
    const { lance } = packages
    const session = new lance.Session(indexCacheBytes, metadataCacheBytes)
    const db = await guarded(lance.connect(uri, { readConsistencyInterval: seenAfterS }, session))
    const tables = new LanceTables(db, packages)
    await tables.#probe()
    // what an earlier process did not come to
    for (const name of await tables.names('')) tables.changed(name)
    return tables
  }

  /** Notes a change of a table, which is put in order later. */
  changed(name: string): void {
    this.#upkeep.changed(name)
  }

  async names(prefix: string): Promise<readonly string[]> {
    const names: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await guarded(
        this.#db.tableNames({ limit: pageSize, ...(after !== undefined && { startAfter: after }) }),
      )
      names.push(...page.filter((name) => name.startsWith(prefix)))
      after = page.at(-1)
      if (page.length < pageSize) return names
    }
  }

  /** The table, opened once; null when there is none. */
  async open(name: string): Promise<LanceTable | null> {
    const known = this.#open.get(name)
    if (known !== undefined) return known
    const opened = guarded(this.#db.openTable(name).catch(noTable))
    this.#open.set(name, opened)
    const table = await opened.catch((error: unknown) => {
      this.#open.delete(name)
      throw error
    })
    // another process may create it at any time
    if (table === null) this.#open.delete(name)
    return table
  }

  async create(name: string, schema: ArrowSchema): Promise<LanceTable> {
    // another process may create it at the same time
    const again = (error: unknown) => this.#db.openTable(name).catch(() => Promise.reject(error))
    const table = await guarded(this.#db.createEmptyTable(name, schema, { existOk: true }).catch(again))
    this.#open.set(name, Promise.resolve(table))
    return table
  }

  async drop(name: string): Promise<void> {
    this.#open.delete(name)
    await guarded(this.#db.dropTable(name).catch(noTable))
  }

  /** Changes a table after all changes of it that this process has begun: writers that meet repeat their work. */
  async inTurn(name: string, work: () => Promise<void>): Promise<void> {
    const turn = (this.#turns.get(name) ?? Promise.resolve()).then(work)
    const ended = turn.catch(() => {})
    this.#turns.set(name, ended)
    try {
      await turn
    } finally {
      if (this.#turns.get(name) === ended) this.#turns.delete(name)
    }
  }

  /** Opens the table again after a failure: another process may have removed it and made it anew. */
  async on<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await guarded(work())
    } catch (error) {
      this.#open.delete(name)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#upkeep.close()
    this.#db.close()
  }

  /** Stores and removes a table: a folder that cannot be written opens, and an address that names a file, too. */
  async #probe(): Promise<void> {
    const { Field, Schema, Utf8 } = this.packages.arrow
    const name = `start.${randomUUID()}`
    await this.create(name, new Schema([new Field('key', new Utf8(), false)]))
    await this.drop(name)
  }
}

/** A name that is safe in files, however the rest is named; the project stands first, so that its tables can be listed. */
export const tableName = (project: string, rest: string): string =>
  `${project}.${createHash('sha256').update(rest).digest('hex').slice(0, 32)}`

/** A text in a filter. */
export const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

export const texts = (values: readonly string[]): string => values.map(text).join(', ')

/**
 * Does work on a table, again if it meets a change by others.
 *
 * @param met called before it is done again, with the number of times.
 */
export const againstOthers = async (
  table: LanceTable,
  work: () => Promise<unknown>,
  met: (times: number) => void = () => {},
): Promise<void> => {
  for (let tried = 1; ; tried++) {
    try {
      await work()
      return
    } catch (error) {
      if (tried === maxTries || !(error instanceof Error && /commit conflict/i.test(error.message))) throw error
      met(tried)
      await pause(Math.random() * pauseMs)
      await table.checkoutLatest()
    }
  }
}

/** LanceDB has no codes of errors. */
const noTable = (error: unknown): null => {
  if (error instanceof Error && /was not found|not found/i.test(error.message)) return null
  throw error
}

const guarded = async <T>(operation: Promise<T>): Promise<T> => {
  try {
    return await operation
  } catch (error) {
    throw new StoreUnavailable(`lancedb failed: ${lanceReason(error)}`, { cause: error })
  }
}

/** The innermost of the causes that LanceDB lists in a message, without the places in its sources. */
export const lanceReason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  const cause = message.split('Caused by:').at(-1) ?? message
  return cause
    .replaceAll(/\s+/g, ' ')
    .replace(/, \/\S+\.rs:\d+:\d+.*$/, '')
    .trim()
}
