import type { SearchIndex } from '../search/search-port.ts'
import type { ArrowTable, LancePackages, LanceTable } from './lance-package.ts'
import { againstOthers, type LanceTables, tableName } from './lance-tables.ts'
import { type SearchRow, SearchRows } from './search-rows.ts'

const prefix = 'search.'
/** Of those with parts. A process of an earlier release removes all tables of a project but its own, not these. */
const partedPrefix = `${prefix}2.`
/** Names of the tables of an index. */
export const [recentName, notesName] = ['recent', 'notes']
export const partName = (at: number): string => `part-${at}`
/** Number of times that a table is read which others change meanwhile. */
const maxReads = 5
/** Number of times that removals may undo that a table is put in order. */
const maxUndone = 2

export const isSearchTable = (name: string): boolean => name.startsWith(prefix)

/** Beginning of the names of the tables of an index. */
const nameOf = ({ project, name, dimensions }: SearchIndex): string =>
  `${partedPrefix}${tableName(project, `${name} ${dimensions}`)}.`

/** The tables of indexes, which other processes may change, remove and make at any time. */
export class SearchTables {
  readonly packages: LancePackages
  readonly #tables: LanceTables
  /** Tables that have their index of words: without it, a search by words fails. */
  readonly #indexed = new Set<string>()
  /** Tables that are put in order again because removals have undone it, by name. */
  readonly #undone = new Map<string, Promise<void>>()

  constructor(tables: LanceTables) {
    this.packages = tables.packages
    this.#tables = tables
  }

  /** Reads a table; null where there is none. */
  async read<T>(index: SearchIndex, which: string, read: (table: LanceTable) => Promise<T>): Promise<T | null> {
    const name = nameOf(index) + which
    let before: number | null = null
    for (let reads = 1; ; reads++) {
      const table = await this.#tables.open(name)
      if (table === null) return null
      // one that is opened again is of the latest version
      const version = reads === 1 ? null : await this.#tables.on(name, () => table.version())
      try {
        return await this.#tables.on(name, () => read(table))
      } catch (error) {
        // another process may have removed the table that was open and made it anew, or the files of its version
        const lacksFile = error instanceof Error && /not found/i.test(error.message)
        // the latest version lacks a file: the table is of no use, nor are the others, and all are made again
        if (lacksFile && version !== null && version === before) await this.#drop(nameOf(index))
        else if (reads < (lacksFile ? maxReads : 2)) {
          before = version
          continue
        }
        throw error
      }
    }
  }

  /** Changes a table after all changes of it that this process has begun. */
  async change(index: SearchIndex, which: string, change: (table: LanceTable) => Promise<void>): Promise<void> {
    await this.#tables.inTurn(nameOf(index) + which, () => this.open(index, which, change))
  }

  /** Changes a table, which is made where there is none. */
  async open(index: SearchIndex, which: string, change: (table: LanceTable) => Promise<unknown>): Promise<void> {
    const name = nameOf(index) + which
    const { schema } = new SearchRows(this.packages.arrow, index.dimensions)
    const table = (await this.#tables.open(name)) ?? (await this.#tables.create(name, schema))
    await this.#tables.on(name, async () => {
      // what another process stored a moment before may be what this one removes
      await table.checkoutLatest()
      if (which !== notesName && !this.#indexed.has(name)) await this.#index(table)
      this.#indexed.add(name)
      await change(table)
    })
  }

  /**
   * Stores rows, the later ones by version. Two processes that insert the same at once store it twice, which `candidates`
   * may return: removing one of the two could remove both, if the process ends.
   */
  async store(index: SearchIndex, table: LanceTable, rows: readonly SearchRow[]): Promise<void> {
    if (rows.length === 0) return
    const merge = table.mergeInsert('key').whenMatchedUpdateAll({ where: 'target.version < source.version' })
    await merge.whenNotMatchedInsertAll().execute(await this.encoded(index, rows))
  }

  encoded({ dimensions }: SearchIndex, rows: readonly SearchRow[]): Promise<ArrowTable> {
    return new SearchRows(this.packages.arrow, dimensions).encoded(rows)
  }

  /** Puts a table in order: all of it is in its indexes. Removals wait for it once they have undone it twice. */
  async optimize(
    { index, which }: { readonly index: SearchIndex; readonly which: string },
    table: LanceTable,
    ...options: Parameters<LanceTable['optimize']>
  ): Promise<void> {
    const name = nameOf(index) + which
    const { promise, resolve } = Promise.withResolvers<void>()
    const met = (times: number): void => {
      if (times === maxUndone) this.#undone.set(name, promise)
    }
    try {
      await againstOthers(table, () => table.optimize(...options), met)
    } finally {
      this.#undone.delete(name)
      resolve()
    }
  }

  /** Removes rows of a table, beside other changes of it, of which some take minutes: as another process may do. */
  async remove(index: SearchIndex, which: string, filters: readonly string[]): Promise<void> {
    await this.#undone.get(nameOf(index) + which)
    await this.read(index, which, async (table) => {
      await table.checkoutLatest()
      for (const filter of filters)
        if ((await table.countRows(filter)) > 0) await againstOthers(table, () => table.delete(filter))
    })
  }

  /** Moves documents between the tables of an index, or writes its files anew, while this process does neither otherwise. */
  alone(index: SearchIndex, work: () => Promise<void>): Promise<void> {
    return this.#tables.inTurn(nameOf(index), work)
  }

  /** Notes a change of a table, which is put in order later. */
  changed(index: SearchIndex, which: string): void {
    this.#tables.changed(nameOf(index) + which)
  }

  /** Removes the tables of a project, also those of earlier releases where none is kept. */
  async drop(project: string, but: SearchIndex | null): Promise<void> {
    if (but === null) await this.dropEarlier(project)
    await this.#drop(`${partedPrefix}${project}.`, but === null ? null : nameOf(but))
  }

  /** Removes the tables that earlier releases have of a project. */
  dropEarlier(project: string): Promise<void> {
    return this.#drop(`${prefix}${project}.`)
  }

  async #drop(beginning: string, kept: string | null = null): Promise<void> {
    for (const name of await this.#tables.names(beginning)) {
      if (kept !== null && name.startsWith(kept)) continue
      this.#indexed.delete(name)
      await this.#tables.drop(name)
    }
  }

  /** Words are as they are stored: the engine neither divides nor stems them. */
  async #index(table: LanceTable): Promise<void> {
    if ((await table.listIndices()).some(({ columns }) => columns.includes('words'))) return
    const plain = { lowercase: false, stem: false, removeStopWords: false, asciiFolding: false }
    const { Index } = this.packages.lance
    await table.createIndex('words', {
      config: Index.fts({ withPosition: false, baseTokenizer: 'whitespace', ...plain }),
    })
  }
}
