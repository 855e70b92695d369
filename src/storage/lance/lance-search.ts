import type {
  Candidate,
  CandidateQuery,
  SearchDocument,
  SearchIndex,
  SearchNotes,
  SearchStore,
} from '../search/search-port.ts'
import type { ArrowTable, LanceQuery, LanceTable } from './lance-package.ts'
import { type LanceTables, optimized, tableName, texts } from './lance-tables.ts'
import {
  bytesOf,
  columnOf,
  indexedKey,
  notedKey,
  noteKey,
  noteName,
  noteRow,
  rowsOf,
  type SearchRow,
  SearchRows,
} from './search-rows.ts'

const prefix = 'search.'
/** Number of the farthest passages among the candidates. */
const farthest = 20
/** Number of partitions of an index of vectors that a search reads, and how many times the limit is compared exactly. */
const [partitions, refineFactor] = [20, 10]
/** Number of documents of which a filter lists the ids. */
const idsEach = 500

const isNote = "document = '' AND NOT key LIKE '  %'"
/** The engine does not find all rows that its index of words lacks, and indexing a few takes as long as all. */
const defaultRecent = 256
/** The first passage of each document, which has its content; found without reading contents. */
const isFirst = "document <> '' AND key LIKE '% 0'"
const firsts = (ids: Iterable<string>): string => `key IN (${texts(Array.from(ids, (id) => `${id} 0`))})`

export const isSearchTable = (name: string): boolean => name.startsWith(prefix)

const nameOf = ({ project, name, dimensions }: SearchIndex): string =>
  prefix + tableName(project, `${name} ${dimensions}`)

/** Candidates among the documents of large indexes in LanceDB. Each index has a table. */
export class LanceSearch implements SearchStore {
  readonly min: number
  readonly #tables: LanceTables
  readonly #recent: number
  /** Tables that have their index of words: without it, a search by words fails. */
  readonly #indexed = new Set<string>()

  /**
   * @param min number of passages from which documents should be found here.
   * @param recent number of documents that are candidates whatever their words are, before they are indexed.
   */
  constructor(tables: LanceTables, min: number, recent = defaultRecent) {
    this.#tables = tables
    this.min = min
    this.#recent = recent
  }

  async put(index: SearchIndex, step: number, documents: readonly SearchDocument[]): Promise<void> {
    for (let from = 0; from < documents.length; from += idsEach)
      await this.#put(index, step, documents.slice(from, from + idsEach))
  }

  async #put(index: SearchIndex, step: number, documents: readonly SearchDocument[]): Promise<void> {
    await this.#change(index, async (table) => {
      const versions = await this.#versions(table, documents)
      const newer = documents.filter(({ id, version }) => (versions.get(id) ?? -1) < version)
      const changed = texts(newer.flatMap(({ id }) => (versions.has(id) ? [id] : [])))
      const rows = newer.flatMap((document) => rowsOf(document, step))
      // passages that new versions do not have any more: before, so that the rows can be counted after
      const keys = texts(rows.map(({ key }) => key))
      if (changed !== '') await table.delete(`document IN (${changed}) AND NOT key IN (${keys})`)
      await this.#store(index, table, rows)
    })
  }

  /**
   * Stores rows, the later ones by version. Two processes that insert the same at once store it twice, which `candidates`
   * may return: removing one of the two could remove both, if the process ends.
   */
  async #store({ dimensions }: SearchIndex, table: LanceTable, rows: readonly SearchRow[]): Promise<void> {
    if (rows.length === 0) return
    const encoded = await new SearchRows(this.#tables.packages.arrow, dimensions).encoded(rows)
    const merge = table.mergeInsert('key').whenMatchedUpdateAll({ where: 'target.version < source.version' })
    await merge.whenNotMatchedInsertAll().execute(encoded)
  }

  async #versions(table: LanceTable, documents: readonly SearchDocument[]): Promise<ReadonlyMap<string, number>> {
    const found = await table
      .query()
      .where(firsts(documents.map(({ id }) => id)))
      .select(['document', 'version'])
      .toArrow()
    const versions = columnOf(found, 'version').map(Number)
    return new Map(columnOf(found, 'document').map((id, at) => [String(id), versions[at] ?? 0]))
  }

  async remove(index: SearchIndex, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await this.#change(index, async (table) => {
      for (let from = 0; from < ids.length; from += idsEach)
        await table.delete(`document IN (${texts(ids.slice(from, from + idsEach))})`)
    })
  }

  async candidates(index: SearchIndex, query: CandidateQuery): Promise<readonly Candidate[]> {
    const found = await this.#read(index, async (table) => {
      const ids = await this.#found(table, index, query)
      if (ids.size === 0) return []
      const rows = await table.query().where(firsts(ids)).select(['document', 'version', 'content']).toArrow()
      const [versions, contents] = [columnOf(rows, 'version').map(Number), bytesOf(rows, 'content')]
      return columnOf(rows, 'document').flatMap((id, at) => {
        const content = contents[at]
        return content === undefined ? [] : [{ id: String(id), version: versions[at] ?? 0, content }]
      })
    })
    return found ?? []
  }

  /** Returns the ids of the documents with the best passages. */
  async #found(
    table: LanceTable,
    { dimensions }: SearchIndex,
    { words, vector, facets, since, limit }: CandidateQuery,
  ): Promise<ReadonlySet<string>> {
    const { lance } = this.#tables.packages
    const filter = [
      ...(facets.length === 0 ? [] : [`array_has_all(facets, [${texts(facets)}])`]),
      ...(since === null ? [] : [`time >= ${since}`]),
    ].join(' AND ')
    const among = (search: LanceQuery): LanceQuery => (filter === '' ? search : search.where(filter))
    const near = (numbers: Float32Array, count: number): Promise<ArrowTable> => {
      const search = table.vectorSearch(numbers).distanceType('cosine').nprobes(partitions).refineFactor(refineFactor)
      return among(search).select(['document', '_distance']).limit(count).toArrow()
    }
    const recent = `step > ${(await stepsOf(table)).indexed} AND ${isFirst}`
    const byWords = new lance.MatchQuery(words.join(' '), 'words')
    const found = await Promise.all([
      ...(words.length === 0
        ? []
        : [among(table.query().fullTextSearch(byWords)).select(['document', '_score']).limit(limit).toArrow()]),
      ...(vector === null || vector.length !== dimensions
        ? []
        : [
            near(vector, limit),
            near(
              vector.map((number) => -number),
              farthest,
            ),
          ]),
      table
        .query()
        .where(filter === '' ? recent : `${recent} AND ${filter}`)
        .select(['document'])
        .toArrow(),
    ])
    return new Set(found.flatMap((rows) => columnOf(rows, 'document').map(String)))
  }

  async count(index: SearchIndex): Promise<number> {
    return (await this.#read(index, (table) => table.countRows(isFirst))) ?? 0
  }

  async notes(index: SearchIndex): Promise<{ readonly step: number; readonly names: ReadonlySet<string> } | null> {
    return this.#read(index, async (table) => {
      const { noted } = await stepsOf(table)
      const rows = await table.query().where(isNote).select(['key']).toArrow()
      return { step: noted, names: new Set(columnOf(rows, 'key').map((key) => noteName(String(key)))) }
    })
  }

  async readNotes(index: SearchIndex, names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    if (names.length === 0) return new Map()
    const found = await this.#read(index, async (table) => {
      const keys = texts(names.map(noteKey))
      const rows = await table.query().where(`${isNote} AND key IN (${keys})`).select(['key', 'content']).toArrow()
      const contents = bytesOf(rows, 'content')
      return columnOf(rows, 'key').map((key, at) => [noteName(String(key)), contents[at] ?? new Uint8Array(0)] as const)
    })
    return new Map(found ?? [])
  }

  async note(index: SearchIndex, { step, added, kept }: SearchNotes): Promise<void> {
    await this.#change(index, async (table) => {
      const { indexed } = await stepsOf(table)
      const isFull = (await table.countRows(`step > ${indexed} AND ${isFirst}`)) > this.#recent
      if (isFull) await optimized(table)
      const steps = [noteRow(notedKey, step), ...(isFull ? [noteRow(indexedKey, step)] : [])]
      await this.#store(index, table, steps)
      const rows = [...added].map(([name, content]) => noteRow(noteKey(name), 0, content))
      const keys = rows.map(({ key }) => key)
      await this.#store(index, table, rows)
      await table.delete(`${isNote} AND NOT key IN (${texts([...keys, ...kept.map(noteKey), ' '])})`)
      if (isFull) this.#tables.changed(nameOf(index))
    })
  }

  async drop(project: string, but: SearchIndex | null): Promise<void> {
    const kept = but === null ? null : nameOf(but)
    for (const name of await this.#tables.names(`${prefix}${project}.`)) {
      if (name === kept) continue
      this.#indexed.delete(name)
      await this.#tables.drop(name)
    }
  }

  async #read<T>(index: SearchIndex, read: (table: LanceTable) => Promise<T>): Promise<T | null> {
    const name = nameOf(index)
    const again = async (): Promise<T | null> => {
      const table = await this.#tables.open(name)
      return table === null ? null : this.#tables.on(name, () => read(table))
    }
    try {
      // another process may have removed the table that was open, and made it anew
      return await again().catch(again)
    } catch (error) {
      // it lacks a file: it is of no use, and is made again
      if (error instanceof Error && /not found/i.test(error.message)) await this.#tables.drop(name)
      throw error
    }
  }

  async #change(index: SearchIndex, change: (table: LanceTable) => Promise<void>): Promise<void> {
    const name = nameOf(index)
    await this.#tables.inTurn(name, async () => {
      const { schema } = new SearchRows(this.#tables.packages.arrow, index.dimensions)
      const table = (await this.#tables.open(name)) ?? (await this.#tables.create(name, schema))
      await this.#tables.on(name, async () => {
        // what another process stored a moment before may be what this one removes
        await table.checkoutLatest()
        if (!this.#indexed.has(name)) await this.#index(table)
        this.#indexed.add(name)
        await change(table)
      })
    })
  }

  /** Words are as they are stored: the engine neither divides nor stems them. */
  async #index(table: LanceTable): Promise<void> {
    if ((await table.listIndices()).some(({ columns }) => columns.includes('words'))) return
    const plain = { lowercase: false, stem: false, removeStopWords: false, asciiFolding: false }
    const { Index } = this.#tables.packages.lance
    await table.createIndex('words', {
      config: Index.fts({ withPosition: false, baseTokenizer: 'whitespace', ...plain }),
    })
  }
}

/** Returns the steps up to which changes were noted, and up to which they are in the index of words. */
const stepsOf = async (table: LanceTable): Promise<{ readonly noted: number; readonly indexed: number }> => {
  const rows = await table
    .query()
    .where(`key IN (${texts([notedKey, indexedKey])})`)
    .select(['key', 'version'])
    .toArrow()
  const versions = columnOf(rows, 'version').map(Number)
  const step = (key: string): number =>
    Math.max(0, ...columnOf(rows, 'key').flatMap((each, at) => (each === key ? [versions[at] ?? 0] : [])))
  return { noted: step(notedKey), indexed: step(indexedKey) }
}
