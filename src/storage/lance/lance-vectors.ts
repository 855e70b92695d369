import { randomUUID } from 'node:crypto'
import { afterPrefix } from '../record-keys.ts'
import type { BlobVectors, NearestQuery, StoredVector, VectorSpace, VectorStore } from '../search/vector-port.ts'
import type { ArrowTable, LancePackages, LanceQuery, LanceTable } from './lance-package.ts'
import { LanceTables, tableName, text, texts } from './lance-tables.ts'
import { columnOf } from './search-rows.ts'
import { isSearchTable } from './search-tables.ts'
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

  async put(given: BlobVectors): Promise<void> {
    const dimensions = given.vectors[0]?.numbers.length ?? 0
    if (dimensions === 0) return
    const name = tableName(given.project, given.space)
    const rows = new VectorRows(this.#tables.packages.arrow, dimensions)
    let copy = await copyOf(rows, given)
    await this.#tables.inTurn(name, async () => {
      for (let tries = 0; ; tries++) {
        const table = (await this.#tables.open(name)) ?? (await this.#tables.create(name, rows.schema))
        try {
          return await this.#tables.on(name, async () => {
            // another process may have removed it: what is added to one that is gone makes a table without its files
            await table.checkoutLatest()
            await table.add(copy.encoded)
            await keepOne(table, copy)
          })
        } catch (error) {
          if (tries === 2 || !(error instanceof Error && /not found/i.test(error.message))) throw error
          // so was the one that was opened anew: it lacks a file, and is of no use
          if (tries === 1) await this.#tables.drop(name)
          copy = await copyOf(rows, given)
        }
      }
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
      if (table === null) continue
      const count = async () => {
        await table.checkoutLatest()
        return table.countRows(filter)
      }
      if ((await this.#tables.on(name, count)) === 0) continue
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
  readonly encoded: ArrowTable
}

const copyOf = async (rows: VectorRows, { blob, group, vectors }: BlobVectors): Promise<Copy> => {
  const copy = { blob, stamp: randomUUID(), count: vectors.length }
  const key = (n: number): string => `${prefixOf(copy)}${n}`
  const encoded = await rows.encoded(
    vectors.map(({ id, numbers }, n): VectorRow => ({ key: key(n), group, id, numbers })),
  )
  return { ...copy, encoded }
}

const prefixOf = ({ blob, stamp }: Pick<Copy, 'blob' | 'stamp'>): string => `${blob}:${stamp}:`

/**
 * Removes all copies of a blob but one. The engine has no unique keys: of two processes that add the same at once, as when an
 * actor is taken over from one that still runs, both succeed. Each keeps the first by their stamps of the whole copies that it sees,
 * and removes no other than those: the first of all is removed by none. A writer that is killed leaves one too many.
 */
const keepOne = async (table: LanceTable, { blob, stamp: own, count }: Copy): Promise<void> => {
  const rows = await table
    .query()
    .where(keysFrom(`${blob}:`))
    .select(['key'])
    .toArrow()
  const copies = Map.groupBy(columnOf(rows, 'key').map(String), (key) => stampOf(blob, key))
  const whole = [...copies].flatMap(([stamp, keys]) => (keys.length === count ? [stamp] : []))
  const kept = whole.toSorted()[0] ?? own
  const others = [...copies].flatMap(([stamp, keys]) => {
    if (stamp === kept) return []
    return stamp === '' ? `key IN (${texts(keys)})` : keysFrom(prefixOf({ blob, stamp }))
  })
  if (others.length > 0) await table.delete(others.map((filter) => `(${filter})`).join(' OR '))
}

/** Rows of earlier versions of this program have no stamp: it is empty, the first of all. Such a process stores them again if they are removed. */
const stampOf = (blob: string, key: string): string => {
  const [stamp = '', number] = key.slice(blob.length + 1).split(':')
  return number === undefined ? '' : stamp
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
