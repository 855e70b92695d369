import { StoreUnavailable } from '../ports.ts'
import type {
  Candidate,
  CandidateQuery,
  SearchDocument,
  SearchIndex,
  SearchNotes,
  SearchStore,
} from '../search/search-port.ts'
import { CandidateSearch, contentsIn, isFirst, stepsOf, versionsIn } from './candidate-search.ts'
import type { ArrowTable, LanceTable } from './lance-package.ts'
import { type LanceTables, optimized, tableName, texts } from './lance-tables.ts'
import {
  bytesOf,
  columnOf,
  erasedKey,
  indexedKey,
  notedKey,
  noteKey,
  noteName,
  noteRow,
  partsKey,
  rowsOf,
  type SearchRow,
  SearchRows,
} from './search-rows.ts'

const prefix = 'search.'
/** Of those with parts. A process of an earlier release removes all tables of a project but its own, not these. */
const partedPrefix = `${prefix}2.`
/** Names of the tables of an index. */
const [recentName, notesName] = ['recent', 'notes']
const partName = (at: number): string => `part-${at}`
const partNames = (parts: number): readonly string[] => Array.from({ length: parts }, (_, at) => partName(at))
/** Number of documents of which a filter lists the ids. */
const idsEach = 500

const ofDocuments = (ids: readonly string[]): string => `document IN (${texts(ids)})`

export const isSearchTable = (name: string): boolean => name.startsWith(prefix)

/** Beginning of the names of the tables of an index. */
const nameOf = ({ project, name, dimensions }: SearchIndex): string =>
  `${partedPrefix}${tableName(project, `${name} ${dimensions}`)}.`

/** Sizes of the tables of an index. */
export interface SearchSizes {
  /** Number of documents that are candidates whatever their words are, before they are in the index of words; a quarter of the maximum. */
  readonly unindexed: number
  /** Number of changed documents that are in a table of their own. */
  readonly recent: number
  /** Number of passages of a part, beyond which further documents are in another one. */
  readonly part: number
}

/**
 * The engine does not find all rows that its index of words lacks, and indexing a few takes as long as all. So changes are
 * in a small table until there are many; and a part is indexed, or rewritten, by itself, whatever the others have.
 */
const defaultSizes: SearchSizes = { unindexed: 256, recent: 8_192, part: 262_144 }

/**
 * Candidates among the documents of large indexes in LanceDB. Changes are in the table `recent`, all others in the tables
 * `part-0`, `part-1`…; the newest version of a document counts. What is noted is in `notes`.
 */
export class LanceSearch implements SearchStore {
  readonly min: number
  readonly #tables: LanceTables
  readonly #sizes: SearchSizes
  /** Tables that have their index of words: without it, a search by words fails. */
  readonly #indexed = new Set<string>()
  readonly #merging = new Map<string, Promise<void>>()

  /** @param min number of passages from which documents should be found here. */
  constructor(tables: LanceTables, min: number, sizes: Partial<SearchSizes> = {}) {
    this.#tables = tables
    this.min = min
    this.#sizes = { ...defaultSizes, ...sizes }
  }

  async load(index: SearchIndex, documents: readonly SearchDocument[]): Promise<void> {
    const rows = documents.flatMap((document) => rowsOf(document, 0))
    if (rows.length === 0) return
    await this.#change(index, recentName, async (recent) => {
      const parts = Math.max(1, (await stepsOf(recent)).parts)
      let isFull = false
      await this.#change(index, partName(parts - 1), async (part) => {
        await part.add(await this.#encoded(index, rows))
        isFull = (await part.countRows()) >= this.#sizes.part
        if (isFull) await this.#finish(index, parts - 1, part)
      })
      await this.#store(index, recent, [noteRow(partsKey, isFull ? parts + 1 : parts)])
    })
  }

  /** Lets searches find all of a part. */
  async #finish(index: SearchIndex, at: number, part: LanceTable): Promise<void> {
    await optimized(part)
    this.#tables.changed(nameOf(index) + partName(at))
  }

  async put(index: SearchIndex, step: number, documents: readonly SearchDocument[]): Promise<void> {
    for (const some of chunks(documents)) await this.#put(index, step, some)
  }

  async #put(index: SearchIndex, step: number, documents: readonly SearchDocument[]): Promise<void> {
    await this.#change(index, recentName, async (table) => {
      const versions = await versionsIn(
        table,
        documents.map(({ id }) => id),
      )
      const newer = documents.filter(({ id, version }) => (versions.get(id) ?? -1) < version)
      const changed = newer.flatMap(({ id }) => (versions.has(id) ? [id] : []))
      const rows = newer.flatMap((document) => rowsOf(document, step))
      // passages that new versions do not have any more: before, so that the rows can be counted after
      const keys = texts(rows.map(({ key }) => key))
      if (changed.length > 0) await table.delete(`${ofDocuments(changed)} AND NOT key IN (${keys})`)
      await this.#store(index, table, rows)
    })
  }

  /**
   * Stores rows, the later ones by version. Two processes that insert the same at once store it twice, which `candidates`
   * may return: removing one of the two could remove both, if the process ends.
   */
  async #store(index: SearchIndex, table: LanceTable, rows: readonly SearchRow[]): Promise<void> {
    if (rows.length === 0) return
    const merge = table.mergeInsert('key').whenMatchedUpdateAll({ where: 'target.version < source.version' })
    await merge.whenNotMatchedInsertAll().execute(await this.#encoded(index, rows))
  }

  #encoded({ dimensions }: SearchIndex, rows: readonly SearchRow[]): Promise<ArrowTable> {
    return new SearchRows(this.#tables.packages.arrow, dimensions).encoded(rows)
  }

  async remove(index: SearchIndex, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    for (const table of await this.#contents(index))
      await this.#change(index, table, async (each) => {
        for (const some of chunks(ids)) await each.delete(ofDocuments(some))
      })
  }

  async erase(index: SearchIndex, ids: readonly string[]): Promise<void> {
    await this.#dropAll(`${prefix}${index.project}.`)
    await this.#merging.get(nameOf(index))
    await this.remove(index, ids)
    for (const name of await this.#contents(index))
      await this.#change(index, name, async (table) => {
        // a file is written anew only together with another one, and only if both are in the indexes
        await this.#store(index, table, [noteRow(erasedKey, Date.now())])
        await optimized(table)
        await optimized(table, { cleanupOlderThan: new Date() })
      })
  }

  /** Returns the names of the tables with documents. */
  async #contents(index: SearchIndex): Promise<readonly string[]> {
    const steps = await this.#read(index, recentName, stepsOf)
    return steps === null ? [] : [recentName, ...partNames(steps.parts)]
  }

  async candidates(index: SearchIndex, query: CandidateQuery): Promise<readonly Candidate[]> {
    const steps = await this.#read(index, recentName, stepsOf)
    if (steps === null) return []
    const search = new CandidateSearch(this.#tables.packages.lance, index, query)
    const names = [recentName, ...partNames(steps.parts)]
    const changes = { indexed: steps.indexed, max: 4 * this.#sizes.unindexed }
    const found = await Promise.all(
      names.map((name) => this.#read(index, name, (table) => search.in(table, name === recentName ? changes : null))),
    )
    const ids = search.best(found.flatMap((each) => each ?? []))
    if (ids.size === 0) return []
    const contents = await Promise.all(names.map((name) => this.#read(index, name, (table) => contentsIn(table, ids))))
    const newest = new Map<string, Candidate>()
    for (const each of contents.flatMap((some) => some ?? []))
      if (each.version > (newest.get(each.id)?.version ?? -1)) newest.set(each.id, each)
    return [...newest.values()]
  }

  async notes(index: SearchIndex): Promise<{ readonly step: number; readonly names: ReadonlySet<string> } | null> {
    return this.#read(index, notesName, async (table) => {
      const rows = await table.query().select(['key', 'version']).toArrow()
      const versions = columnOf(rows, 'version').map(Number)
      const keys = columnOf(rows, 'key').map(String)
      const step = Math.max(0, ...keys.flatMap((key, at) => (key === notedKey ? [versions[at] ?? 0] : [])))
      return { step, names: new Set(keys.filter((key) => key !== notedKey).map(noteName)) }
    })
  }

  async readNotes(index: SearchIndex, names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    if (names.length === 0) return new Map()
    const found = await this.#read(index, notesName, async (table) => {
      const keys = texts(names.map(noteKey))
      const rows = await table.query().where(`key IN (${keys})`).select(['key', 'content']).toArrow()
      const contents = bytesOf(rows, 'content')
      return columnOf(rows, 'key').map((key, at) => [noteName(String(key)), contents[at] ?? new Uint8Array(0)] as const)
    })
    return new Map(found ?? [])
  }

  async note(index: SearchIndex, { step, added, kept, ...begun }: SearchNotes): Promise<void> {
    const isNew = (await this.notes(index)) === null
    if (isNew !== (begun.isNew ?? isNew)) throw new StoreUnavailable('search tables were removed or made meanwhile')
    await this.#change(index, recentName, async (table) => {
      const { indexed, parts } = await stepsOf(table)
      const last = parts - 1
      if (isNew && last >= 0) await this.#change(index, partName(last), (part) => this.#finish(index, last, part))
      if ((await table.countRows(`step > ${indexed} AND ${isFirst}`)) <= this.#sizes.unindexed) return
      await optimized(table)
      await this.#store(index, table, [noteRow(indexedKey, step)])
      this.#tables.changed(`${nameOf(index)}${recentName}`)
    })
    await this.#change(index, notesName, async (table) => {
      const rows = [...added].map(([name, content]) => noteRow(noteKey(name), 0, content))
      if (rows.length > 0) await this.#store(index, table, rows)
      await this.#store(index, table, [noteRow(notedKey, step)])
      const keys = [...rows.map(({ key }) => key), ...kept.map(noteKey), notedKey]
      await table.delete(`NOT key IN (${texts(keys)})`)
      this.#tables.changed(`${nameOf(index)}${notesName}`)
    })
    void this.#merge(index).catch(() => {
      // it is repeated after the next change
    })
  }

  /** Moves changes into the last part if there are many. */
  #merge(index: SearchIndex): Promise<void> {
    const name = nameOf(index)
    const merging = this.#merging.get(name) ?? this.#merged(index).finally(() => this.#merging.delete(name))
    this.#merging.set(name, merging)
    return merging
  }

  async #merged(index: SearchIndex): Promise<void> {
    const read = await this.#read(index, recentName, async (recent) => {
      const rows = await recent.query().where(isFirst).select(['document']).toArrow()
      return { ...(await stepsOf(recent)), ids: columnOf(rows, 'document').map(String) }
    })
    if (read === null || read.ids.length <= this.#sizes.recent) return
    const at = Math.max(1, read.parts) - 1
    const moved = new Map<string, number>()
    let isFull = false
    await this.#change(index, partName(at), async (part) => {
      for (const ids of chunks(read.ids))
        for (const [id, version] of await this.#move(index, ids, at)) moved.set(id, version)
      await this.#finish(index, at, part)
      isFull = (await part.countRows()) >= this.#sizes.part
    })
    await this.#change(index, recentName, (recent) =>
      this.#store(index, recent, [noteRow(partsKey, isFull ? at + 2 : at + 1)]),
    )
    await this.#leave(index, moved, partName(at))
  }

  /** Copies the newest versions of documents into a part, and removes earlier ones from all. Returns which it has now. */
  async #move(index: SearchIndex, ids: readonly string[], at: number): Promise<ReadonlyMap<string, number>> {
    const moved = new Map(await this.#read(index, recentName, (recent) => versionsIn(recent, ids)))
    const copied = new Map(moved)
    for (const name of partNames(at + 1)) {
      const known = (await this.#read(index, name, (part) => versionsIn(part, ids))) ?? new Map<string, number>()
      const isOld = ([id, version]: readonly [string, number]): boolean => version < (moved.get(id) ?? -1)
      const old = [...known].filter(isOld).map(([id]) => id)
      if (old.length > 0) await this.#open(index, name, (part) => part.delete(ofDocuments(old)))
      for (const each of known) if (!isOld(each)) copied.delete(each[0])
    }
    if (copied.size === 0) return moved
    const rows = await this.#read(index, recentName, (recent) =>
      recent
        .query()
        .where(ofDocuments([...copied.keys()]))
        .toArrow(),
    )
    if (rows !== null) await this.#open(index, partName(at), (part) => part.add(rows))
    return moved
  }

  /** Removes what was moved from the changes, unless it has changed again; what was removed meanwhile leaves the part. */
  async #leave(index: SearchIndex, moved: ReadonlyMap<string, number>, part: string): Promise<void> {
    const removed: string[] = []
    await this.#change(index, recentName, async (recent) => {
      for (const ids of chunks([...moved.keys()])) {
        const versions = await versionsIn(recent, ids)
        removed.push(...ids.filter((id) => !versions.has(id)))
        const same = ids.filter((id) => versions.get(id) === moved.get(id))
        for (const [version, some] of Map.groupBy(same, (id) => moved.get(id)))
          await recent.delete(`${ofDocuments(some)} AND version = ${version}`)
      }
    })
    if (removed.length > 0)
      await this.#change(index, part, async (table) => void (await table.delete(ofDocuments(removed))))
    this.#tables.changed(nameOf(index) + recentName)
  }

  async drop(project: string, but: SearchIndex | null): Promise<void> {
    const kept = but === null ? null : nameOf(but)
    if (kept === null) await this.#dropAll(`${prefix}${project}.`)
    await this.#dropAll(`${partedPrefix}${project}.`, kept)
  }

  async #dropAll(beginning: string, kept: string | null = null): Promise<void> {
    for (const name of await this.#tables.names(beginning)) {
      if (kept !== null && name.startsWith(kept)) continue
      this.#indexed.delete(name)
      await this.#tables.drop(name)
    }
  }

  async #read<T>(index: SearchIndex, which: string, read: (table: LanceTable) => Promise<T>): Promise<T | null> {
    const name = nameOf(index) + which
    const again = async (): Promise<T | null> => {
      const table = await this.#tables.open(name)
      return table === null ? null : this.#tables.on(name, () => read(table))
    }
    try {
      // another process may have removed the table that was open, and made it anew
      return await again().catch(again)
    } catch (error) {
      // it lacks a file: it is of no use, nor are the others, and all are made again
      if (error instanceof Error && /not found/i.test(error.message)) await this.#dropAll(nameOf(index))
      throw error
    }
  }

  /** Changes a table after all changes of it that this process has begun. */
  async #change(index: SearchIndex, which: string, change: (table: LanceTable) => Promise<void>): Promise<void> {
    await this.#tables.inTurn(nameOf(index) + which, () => this.#open(index, which, change))
  }

  async #open(index: SearchIndex, which: string, change: (table: LanceTable) => Promise<unknown>): Promise<void> {
    const name = nameOf(index) + which
    const { schema } = new SearchRows(this.#tables.packages.arrow, index.dimensions)
    const table = (await this.#tables.open(name)) ?? (await this.#tables.create(name, schema))
    await this.#tables.on(name, async () => {
      // what another process stored a moment before may be what this one removes
      await table.checkoutLatest()
      if (which !== notesName && !this.#indexed.has(name)) await this.#index(table)
      this.#indexed.add(name)
      await change(table)
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

const chunks = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / idsEach) }, (_, n) => all.slice(n * idsEach, (n + 1) * idsEach))
