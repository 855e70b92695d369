import { randomUUID } from 'node:crypto'
import { afterPrefix } from '../record-keys.ts'
import type { BlobVectors, NearestQuery, StoredVector, VectorSpace, VectorStore } from '../vector-port.ts'
import type { LancePackages, LanceQuery, LanceTable } from './lance-package.ts'
import { isSearchTable } from './lance-search.ts'
import { LanceTables, tableName, text, texts } from './lance-tables.ts'
import { columnOf } from './search-rows.ts'
import { type VectorRow, VectorRows, vectorsOf } from './vector-rows.ts'

/** Number of partitions of an index that a search reads, and how many times the limit is compared exactly. */
const [partitions, refineFactor] = [20, 10]

/**
 * The vectors of large bases in LanceDB. Each space has a table, so that no search meets the vectors of another project.
 */
export class LanceVectors implements VectorStore {
  readonly min: number
  readonly #tables: LanceTables
  readonly #spaces = new Map<string, { readonly version: number; readonly space: VectorSpace }>()

  /** @param min number of vectors from which a space should be searched here. */
  constructor(tables: LanceTables, min: number) {
    this.#tables = tables
    this.min = min
  }

  /** @throws {StoreUnavailable} */
  static async open(packages: LancePackages, { uri, min }: LanceSettings): Promise<LanceVectors> {
    return new LanceVectors(await LanceTables.at(packages, uri), min)
  }

  async put({ project, blob, space, group, vectors }: BlobVectors): Promise<void> {
    const dimensions = vectors[0]?.numbers.length ?? 0
    if (dimensions === 0) return
    const name = tableName(project, space)
    const rows = new VectorRows(this.#tables.packages.arrow, dimensions)
    const copy: Copy = { blob, stamp: randomUUID(), count: vectors.length }
    const encoded = await rows.encoded(
      vectors.map(({ id, numbers }, n): VectorRow => ({ key: `${prefixOf(copy)}${n}`, group, id, numbers })),
    )
    await this.#tables.inTurn(name, async () => {
      const table = (await this.#tables.open(name)) ?? (await this.#tables.create(name, rows.schema))
      await this.#tables.on(name, async () => {
        await table.add(encoded)
        await keepOne(table, copy)
      })
    })
    this.#tables.changed(name)
  }

  async count(project: string, blob: string): Promise<number> {
    const counts = await this.#each(project, (table) => table.countRows(keysFrom(`${blob}:`)))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  async space(project: string, space: string): Promise<VectorSpace> {
    const name = tableName(project, space)
    const table = await this.#tables.open(name)
    if (table === null) return { counts: new Map(), dimensions: null }
    return this.#tables.on(name, async () => {
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

  async removeProject(project: string): Promise<void> {
    for (const name of await this.#names(`${project}.`)) await this.#tables.drop(name)
  }

  /** Removes the vectors of a project's blobs whose hash starts with `prefix`. @throws {StoreUnavailable} */
  async removeBlobs(project: string, prefix: string): Promise<void> {
    await this.#remove(`${project}.`, keysFrom(prefix))
  }

  close(): Promise<void> {
    return this.#tables.close()
  }

  async #names(prefix: string): Promise<readonly string[]> {
    return (await this.#tables.names(prefix)).filter((name) => !isSearchTable(name))
  }

  async #read(
    project: string,
    space: string,
    query: (table: LanceTable) => ReturnType<LanceQuery['toArrow']>,
  ): Promise<readonly StoredVector[]> {
    const name = tableName(project, space)
    const table = await this.#tables.open(name)
    return table === null ? [] : this.#tables.on(name, async () => vectorsOf(await query(table)))
  }

  async #remove(prefix: string, filter: string): Promise<void> {
    for (const name of await this.#names(prefix)) {
      const table = await this.#tables.open(name)
      if (table === null || (await this.#tables.on(name, () => table.countRows(filter))) === 0) continue
      await this.#tables.inTurn(name, () => this.#tables.on(name, async () => void (await table.delete(filter))))
      this.#tables.changed(name)
    }
  }

  async #each<T>(project: string, work: (table: LanceTable) => Promise<T>): Promise<readonly T[]> {
    const results: T[] = []
    for (const name of await this.#names(`${project}.`)) {
      const table = await this.#tables.open(name)
      if (table !== null) results.push(await this.#tables.on(name, () => work(table)))
    }
    return results
  }
}

/** Where the tables are, and from how many vectors on a space should be searched there. */
export interface LanceSettings {
  readonly uri: string
  readonly min: number
}

/** The rows of a blob that one writer added, all in one commit. */
interface Copy {
  readonly blob: string
  readonly stamp: string
  readonly count: number
}

const prefixOf = ({ blob, stamp }: Pick<Copy, 'blob' | 'stamp'>): string => `${blob}:${stamp}:`

/**
 * Removes all copies of a blob but one. The engine has no unique keys: of two processes that add the same at once, as when an
 * actor is taken over from one that still runs, both succeed. All keep the first of the whole copies by their stamps,
 * which therefore no process removes, and the last to add sees every copy. A writer that is killed leaves one too many.
 */
const keepOne = async (table: LanceTable, own: Copy): Promise<void> => {
  const { blob, count } = own
  const ofBlob = keysFrom(`${blob}:`)
  const counts = new Map<string, number>()
  for (const key of columnOf(await table.query().where(ofBlob).select(['key']).toArrow(), 'key')) {
    // rows of earlier versions of this program have no stamp
    const [first = '', number] = String(key)
      .slice(blob.length + 1)
      .split(':')
    const stamp = number === undefined ? '' : first
    counts.set(stamp, (counts.get(stamp) ?? 0) + 1)
  }
  const whole = [...counts].flatMap(([stamp, rows]) => (rows === count && stamp !== '' ? [stamp] : [])).toSorted()
  const stamp = whole[0] ?? own.stamp
  if (counts.size > 1) await table.delete(`${ofBlob} AND NOT (${keysFrom(prefixOf({ blob, stamp }))})`)
}

const keysFrom = (prefix: string): string => `key >= ${text(prefix)} AND key < ${text(afterPrefix(prefix))}`

const found = (table: LanceTable, filter: string) => table.query().where(filter).select(['id', 'vector']).toArrow()

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
