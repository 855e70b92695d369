import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from '../ports.ts'
import { afterPrefix } from '../record-keys.ts'
import type { BlobVectors, NearestQuery, StoredVector, VectorSpace, VectorStore } from '../vector-port.ts'
import type { ArrowTable, LanceConnection, LancePackages, LanceTable } from './lance-package.ts'
import { TableUpkeep } from './table-upkeep.ts'
import { type VectorRow, VectorRows, vectorsOf } from './vector-rows.ts'

/** Bounds of what LanceDB keeps in memory, in bytes: parts of indexes, and descriptions of files. */
const [indexCacheBytes, metadataCacheBytes] = [128n * 1024n * 1024n, 32n * 1024n * 1024n]
/** Time in seconds after which the changes of other processes are seen. */
const seenAfterS = 1
/** Age in ms from which earlier versions of a table are removed. */
const versionMs = 600_000
/** Number of vectors from which a space has an index. */
const indexedFrom = 50_000
/** Attempts to store vectors once while another process stores the same, and the longest pause in ms between two. */
const [maxTries, pauseMs] = [8, 200]
/** Number of names that are listed at once. */
const pageSize = 1_000
/** Number of partitions of an index that a search reads, and how many times the limit is compared exactly. */
const [partitions, refineFactor] = [20, 10]

/**
 * The vectors of large bases in LanceDB: tables in a folder, or in a bucket that nodes share. Each space has a table, so
 * that no search meets the vectors of another project.
 */
export class LanceVectors implements VectorStore {
  readonly min: number
  readonly #db: LanceConnection
  readonly #arrow: LancePackages['arrow']
  readonly #tables = new Map<string, Promise<LanceTable | null>>()
  readonly #turns = new Map<string, Promise<void>>()
  readonly #spaces = new Map<string, { readonly version: number; readonly space: VectorSpace }>()
  readonly #upkeep: TableUpkeep

  private constructor(db: LanceConnection, { lance, arrow }: LancePackages, min: number) {
    this.#db = db
    this.#arrow = arrow
    this.min = min
    this.#upkeep = new TableUpkeep({
      ...{ lance, versionMs, indexedFrom },
      open: (name) => this.#table(name),
      drop: async (name) => {
        this.#tables.delete(name)
        await db.dropTable(name)
      },
    })
  }

  /**
   * @param uri a folder, or the address of a bucket (`s3://…`, `gs://…`, `az://…`).
   * @param min number of vectors from which a space should be searched here.
   * @throws {StoreUnavailable}
   */
  static async open(packages: LancePackages, { uri, min }: LanceSettings): Promise<LanceVectors> {
    const { lance } = packages
    const session = new lance.Session(indexCacheBytes, metadataCacheBytes)
    const db = await guarded(lance.connect(uri, { readConsistencyInterval: seenAfterS }, session))
    const vectors = new LanceVectors(db, packages, min)
    await vectors.#probe()
    // what an earlier process did not come to
    for (const name of await vectors.#names('')) vectors.#upkeep.changed(name)
    return vectors
  }

  async put({ project, blob, space, group, vectors }: BlobVectors): Promise<void> {
    const dimensions = vectors[0]?.numbers.length ?? 0
    if (dimensions === 0) return
    const name = tableOf(project, space)
    const rows = new VectorRows(this.#arrow, dimensions)
    const encoded = await rows.encoded(
      vectors.map(({ id, numbers }, n): VectorRow => ({ key: `${blob}:${n}`, group, id, numbers })),
    )
    await this.#inTurn(name, async () => {
      const table = (await this.#table(name)) ?? (await this.#create(name, rows))
      await this.#on(name, () => once(table, { rows: encoded, filter: keysFrom(`${blob}:`) }))
    })
    this.#upkeep.changed(name)
  }

  async count(project: string, blob: string): Promise<number> {
    const counts = await this.#each(project, (table) => table.countRows(keysFrom(`${blob}:`)))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  async space(project: string, space: string): Promise<VectorSpace> {
    const name = tableOf(project, space)
    const table = await this.#table(name)
    if (table === null) return { counts: new Map(), dimensions: null }
    return this.#on(name, async () => {
      const version = await table.version()
      const known = this.#spaces.get(name)
      if (known?.version === version) return known.space
      const found = await spaceOf(table)
      this.#spaces.set(name, { version, space: found })
      return found
    })
  }

  async isReady(): Promise<boolean> {
    return true
  }

  async nearest({ project, space, groups, vector, limit }: NearestQuery): Promise<readonly StoredVector[]> {
    const search = (table: LanceTable) => {
      const query = table.vectorSearch(vector).distanceType('cosine').nprobes(partitions).refineFactor(refineFactor)
      const among = groups === null ? query : query.where(`\`group\` IN (${texts(groups)})`)
      return among.limit(limit).select(['id', 'vector', '_distance']).toArrow()
    }
    return groups?.length === 0 ? [] : this.#read(project, space, search)
  }

  async get(project: string, space: string, ids: readonly string[]): Promise<readonly StoredVector[]> {
    if (ids.length === 0) return []
    return this.#read(project, space, (table) => found(table, `id IN (${texts(ids)})`))
  }

  async removeGroups(groups: readonly string[]): Promise<void> {
    if (groups.length > 0) await this.#remove('', `\`group\` IN (${texts(groups)})`)
  }

  /** Removes the vectors of a project's blobs whose hash starts with `prefix`. @throws {StoreUnavailable} */
  async removeBlobs(project: string, prefix: string): Promise<void> {
    await this.#remove(`${project}.`, keysFrom(prefix))
  }

  async close(): Promise<void> {
    await this.#upkeep.close()
    this.#db.close()
  }

  /** Stores and removes a table: a folder that cannot be written opens, and an address that names a file, too. */
  async #probe(): Promise<void> {
    const name = `start.${randomUUID()}`
    await this.#create(name, new VectorRows(this.#arrow, 1))
    this.#tables.delete(name)
    await guarded(this.#db.dropTable(name).catch(noTable))
  }

  async #read(
    project: string,
    space: string,
    query: (table: LanceTable) => ReturnType<ReturnType<LanceTable['query']>['toArrow']>,
  ): Promise<readonly StoredVector[]> {
    const name = tableOf(project, space)
    const table = await this.#table(name)
    return table === null ? [] : this.#on(name, async () => vectorsOf(await query(table)))
  }

  async #remove(prefix: string, filter: string): Promise<void> {
    for (const name of await this.#names(prefix)) {
      const table = await this.#table(name)
      if (table === null || (await this.#on(name, () => table.countRows(filter))) === 0) continue
      await this.#inTurn(name, () => this.#on(name, async () => void (await table.delete(filter))))
      this.#upkeep.changed(name)
    }
  }

  async #each<T>(project: string, work: (table: LanceTable) => Promise<T>): Promise<readonly T[]> {
    const results: T[] = []
    for (const name of await this.#names(`${project}.`)) {
      const table = await this.#table(name)
      if (table !== null) results.push(await this.#on(name, () => work(table)))
    }
    return results
  }

  async #names(prefix: string): Promise<readonly string[]> {
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
  async #table(name: string): Promise<LanceTable | null> {
    const known = this.#tables.get(name)
    if (known !== undefined) return known
    const opened = guarded(this.#db.openTable(name).catch(noTable))
    this.#tables.set(name, opened)
    const table = await opened.catch((error: unknown) => {
      this.#tables.delete(name)
      throw error
    })
    // another process may create it at any time
    if (table === null) this.#tables.delete(name)
    return table
  }

  async #create(name: string, { schema }: VectorRows): Promise<LanceTable> {
    // another process may create it at the same time
    const again = (error: unknown) => this.#db.openTable(name).catch(() => Promise.reject(error))
    const table = await guarded(this.#db.createEmptyTable(name, schema, { existOk: true }).catch(again))
    this.#tables.set(name, Promise.resolve(table))
    return table
  }

  /** Changes a table after all changes of it that this process has begun: writers that meet repeat their work. */
  async #inTurn(name: string, work: () => Promise<void>): Promise<void> {
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
  async #on<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await guarded(work())
    } catch (error) {
      this.#tables.delete(name)
      throw error
    }
  }
}

/** Where the tables are, and from how many vectors on a space should be searched there. */
export interface LanceSettings {
  readonly uri: string
  readonly min: number
}

/** A name that is safe in files, however the space is named; the project stands first, so that its tables can be listed. */
const tableOf = (project: string, space: string): string =>
  `${project}.${createHash('sha256').update(space).digest('hex').slice(0, 32)}`

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`

const texts = (values: readonly string[]): string => values.map(text).join(', ')

const keysFrom = (prefix: string): string => `key >= ${text(prefix)} AND key < ${text(afterPrefix(prefix))}`

const found = (table: LanceTable, filter: string) => table.query().where(filter).select(['id', 'vector']).toArrow()

/**
 * Stores rows, each once. LanceDB has no unique keys: of two processes that insert the same at the same time, as when an
 * actor is taken over from one that still runs, neither sees the other's rows.
 */
const once = async (
  table: LanceTable,
  { rows, filter }: { readonly rows: ArrowTable; readonly filter: string },
): Promise<void> => {
  for (let tried = 0; tried < maxTries; tried++) {
    await table.mergeInsert('key').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows)
    if ((await table.countRows(filter)) <= rows.numRows) return
    await table.delete(filter)
    await pause(Math.random() * pauseMs)
  }
  throw new Error('another process stores the same vectors')
}

/** Counts by groups, batch by batch, so that a million rows leave the event loop to others. */
const spaceOf = async (table: LanceTable): Promise<VectorSpace> => {
  const { fields } = await table.schema()
  const counts = new Map<string, number>()
  for await (const batch of table.query().select(['group'])) {
    for (const value of batch.getChild('group') ?? []) {
      const group = String(value)
      counts.set(group, (counts.get(group) ?? 0) + 1)
    }
  }
  const dimensions = fields.find(({ name }) => name === 'vector')?.type.listSize ?? null
  return { counts, dimensions: counts.size === 0 ? null : dimensions }
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
