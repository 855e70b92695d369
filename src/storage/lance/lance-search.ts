import { StoreUnavailable } from '../ports.ts'
import type {
  Candidate,
  CandidateQuery,
  SearchDocument,
  SearchIndex,
  SearchNotes,
  SearchStore,
} from '../search/search-port.ts'
import { CandidateSearch, contentsIn, isFirst, isNewest, type Steps, stepsOf, versionsIn } from './candidate-search.ts'
import type { LanceTable } from './lance-package.ts'
import { type LanceTables, texts } from './lance-tables.ts'
import {
  bytesOf,
  columnOf,
  erasedKey,
  indexedKey,
  movedTo,
  notedKey,
  noteKey,
  noteName,
  noteRow,
  partsKey,
  rowsOf,
} from './search-rows.ts'
import { notesName, partName, recentName, SearchTables } from './search-tables.ts'

/** Number of documents of which a filter lists the ids. */
const idsEach = 500
/** Number of notes that are read at once, of which each may have megabytes. */
const notesEach = 4
/** Greatest factor of the number of candidates where most of them are of earlier versions. */
const maxTimes = 64

const partNames = (parts: number): readonly string[] => Array.from({ length: parts }, (_, at) => partName(at))
const ofDocuments = (ids: readonly string[]): string => `document IN (${texts(ids)})`

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
  readonly #tables: SearchTables
  readonly #sizes: SearchSizes

  /** @param min number of passages from which documents should be found here. */
  constructor(tables: LanceTables, min: number, sizes: Partial<SearchSizes> = {}) {
    this.#tables = new SearchTables(tables)
    this.min = min
    this.#sizes = { ...defaultSizes, ...sizes }
  }

  async load(index: SearchIndex, documents: readonly SearchDocument[]): Promise<void> {
    const rows = documents.flatMap((document) => rowsOf(document, 0))
    if (rows.length === 0) return
    await this.#tables.change(index, recentName, async (recent) => {
      const parts = Math.max(1, (await stepsOf(recent)).parts)
      let isFull = false
      await this.#tables.change(index, partName(parts - 1), async (part) => {
        await part.add(await this.#tables.encoded(index, rows))
        isFull = (await part.countRows()) >= this.#sizes.part
        if (isFull) await this.#finish(index, parts - 1, part)
      })
      await this.#tables.store(index, recent, [noteRow(partsKey, isFull ? parts + 1 : parts)])
    })
  }

  /** Lets searches find all of a part. */
  async #finish(index: SearchIndex, at: number, part: LanceTable): Promise<void> {
    await this.#tables.optimize({ index, which: partName(at) }, part)
    this.#tables.changed(index, partName(at))
  }

  async put(index: SearchIndex, step: number, documents: readonly SearchDocument[]): Promise<void> {
    for (const some of chunks(documents)) await this.#put(index, step, some)
  }

  async #put(index: SearchIndex, step: number, documents: readonly SearchDocument[]): Promise<void> {
    await this.#tables.change(index, recentName, async (table) => {
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
      await this.#tables.store(index, table, rows)
    })
  }

  async remove(index: SearchIndex, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    for (const name of await this.#contents(index)) await this.#tables.remove(index, name, chunks(ids).map(ofDocuments))
  }

  async erase(index: SearchIndex, ids: readonly string[]): Promise<void> {
    await this.#tables.dropEarlier(index.project)
    await this.remove(index, ids)
    await this.#tables.alone(index, async () => {
      for (const name of await this.#contents(index))
        await this.#tables.change(index, name, async (table) => {
          // a file is written anew only together with another one, and only if both are in the indexes
          await this.#tables.store(index, table, [noteRow(erasedKey, Date.now())])
          await this.#tables.optimize({ index, which: name }, table)
          await this.#tables.optimize({ index, which: name }, table, { cleanupOlderThan: new Date() })
        })
    })
  }

  /** Returns the names of the tables with documents. */
  async #contents(index: SearchIndex): Promise<readonly string[]> {
    const steps = await this.#tables.read(index, recentName, stepsOf)
    return steps === null ? [] : [recentName, ...partNames(steps.parts)]
  }

  async candidates(index: SearchIndex, query: CandidateQuery): Promise<readonly Candidate[]> {
    for (let times = 1; ; times *= 2) {
      const search = new CandidateSearch(this.#tables.packages.lance, index, { query, times })
      const { candidates, isCrowded } = await this.#found(index, search)
      if (!isCrowded || times === maxTimes) return candidates
    }
  }

  /** The changes are read before the parts: what is moved meanwhile is in both, and not in neither. */
  async #found(index: SearchIndex, search: CandidateSearch): Promise<Found> {
    const changes = await this.#tables.read(index, recentName, async (table) => {
      const version = await table.version()
      const steps = await stepsOf(table)
      const found = await search.in(table, { indexed: steps.indexed, max: 4 * this.#sizes.unindexed })
      return { version, found, ...((await table.version()) === version ? steps : await stepsOf(table)) }
    })
    if (changes === null) return none
    const names = partNames(changes.parts)
    const parts = await this.#inParts(index, { names, moved: changes.moved }, (table) => search.in(table, null))
    const best = search.best([changes.found, ...parts])
    const ids = new Set(best.flat().map(({ id }) => id))
    if (ids.size === 0) return none
    const read = async (moved: Steps['moved'] | null) => {
      const recent = await this.#tables.read(index, recentName, async (table) => ({
        contents: await contentsIn(table, ids),
        isSame: (await table.version()) === changes.version,
      }))
      const others = await this.#inParts(index, { names, moved }, (table) => contentsIn(table, ids))
      return { isSame: recent?.isSame ?? false, newest: newestOf([...(recent?.contents ?? []), ...others.flat()]) }
    }
    let { isSame, newest } = await read(changes.moved)
    // what was found among the changes may have left them since
    if (best.flat().some(({ id, version }) => version > (newest.get(id)?.version ?? -1)))
      ({ isSame, newest } = await read(null))
    const isCurrent = isNewest(newest)
    const current = new Set(best.flat().flatMap((each) => (isCurrent(each) ? [each.id] : [])))
    // one that has changed since may have been found if the search had been later
    const candidates = [...newest.values()].filter(({ id }) => !isSame || current.has(id))
    return { candidates, isCrowded: search.isCrowded(best, newest) }
  }

  /** Reads parts. @param moved their versions that are needed, since this process sees later ones a second late; null: the latest. */
  async #inParts<T>(
    index: SearchIndex,
    { names, moved }: { readonly names: readonly string[]; readonly moved: Steps['moved'] | null },
    read: (table: LanceTable) => Promise<T>,
  ): Promise<readonly T[]> {
    const each = names.map((name) =>
      this.#tables.read(index, name, async (table) => {
        const isEarly = moved === null || (await table.version()) < (moved.get(name) ?? 0)
        if (isEarly) await table.checkoutLatest()
        return read(table)
      }),
    )
    return (await Promise.all(each)).filter((one) => one !== null)
  }

  async notes(index: SearchIndex): Promise<{ readonly step: number; readonly names: ReadonlySet<string> } | null> {
    return this.#tables.read(index, notesName, async (table) => {
      const rows = await table.query().select(['key', 'version']).toArrow()
      const versions = columnOf(rows, 'version').map(Number)
      const keys = columnOf(rows, 'key').map(String)
      const steps = keys.flatMap((key, at) => (key === notedKey ? [versions[at] ?? 0] : []))
      // it is stored after the others, of which some may be missing without it
      if (steps.length === 0) return null
      return { step: Math.max(...steps), names: new Set(keys.filter((key) => key !== notedKey).map(noteName)) }
    })
  }

  async readNotes(index: SearchIndex, names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const notes = new Map<string, Uint8Array>()
    for (let from = 0; from < names.length; from += notesEach) {
      const some = names.slice(from, from + notesEach)
      await this.#tables.read(index, notesName, async (table) => {
        const keys = texts(some.map(noteKey))
        const rows = await table.query().where(`key IN (${keys})`).select(['key', 'content']).toArrow()
        const contents = bytesOf(rows, 'content')
        for (const [at, key] of columnOf(rows, 'key').entries())
          notes.set(noteName(String(key)), contents[at] ?? new Uint8Array(0))
      })
    }
    return notes
  }

  async note(index: SearchIndex, { step, added, kept, ...begun }: SearchNotes): Promise<void> {
    const isNew = (await this.notes(index)) === null
    if (isNew !== (begun.isNew ?? isNew)) throw new StoreUnavailable('search tables were removed or made meanwhile')
    await this.#tables.change(index, recentName, async (table) => {
      const { indexed, parts } = await stepsOf(table)
      const last = parts - 1
      if (isNew && last >= 0)
        await this.#tables.change(index, partName(last), (part) => this.#finish(index, last, part))
      if ((await table.countRows(`step > ${indexed} AND ${isFirst}`)) <= this.#sizes.unindexed) return
      await this.#tables.optimize({ index, which: recentName }, table)
      await this.#tables.store(index, table, [noteRow(indexedKey, step)])
      this.#tables.changed(index, recentName)
    })
    await this.#tables.change(index, notesName, async (table) => {
      const rows = [...added].map(([name, content]) => noteRow(noteKey(name), 0, content))
      // one by one, since each may have megabytes
      for (const row of [...rows, noteRow(notedKey, step)]) await this.#tables.store(index, table, [row])
      const keys = [...rows.map(({ key }) => key), ...kept.map(noteKey), notedKey]
      await table.delete(`NOT key IN (${texts(keys)})`)
      this.#tables.changed(index, notesName)
    })
  }

  async hasMany(index: SearchIndex): Promise<boolean> {
    const count = await this.#tables.read(index, recentName, (recent) => recent.countRows(isFirst))
    return count !== null && count > this.#sizes.recent
  }

  /** Moves changes into the last part if there are many. */
  merge(index: SearchIndex): Promise<void> {
    return this.#tables.alone(index, async () => {
      if (await this.hasMany(index)) await this.#merged(index)
    })
  }

  async #merged(index: SearchIndex): Promise<void> {
    const read = await this.#tables.read(index, recentName, async (recent) => {
      const rows = await recent.query().where(isFirst).select(['document']).toArrow()
      return { ...(await stepsOf(recent)), ids: columnOf(rows, 'document').map(String) }
    })
    if (read === null) return
    const at = Math.max(1, read.parts) - 1
    const moved = new Map<string, number>()
    let [isFull, version] = [false, 0]
    await this.#tables.change(index, partName(at), async (part) => {
      for (const ids of chunks(read.ids))
        for (const [id, version] of await this.#move(index, ids, at)) moved.set(id, version)
      await this.#finish(index, at, part)
      isFull = (await part.countRows()) >= this.#sizes.part
      version = await part.version()
    })
    const notes = [noteRow(partsKey, isFull ? at + 2 : at + 1), noteRow(movedTo(partName(at)), version)]
    await this.#tables.change(index, recentName, (recent) => this.#tables.store(index, recent, notes))
    await this.#leave(index, moved, partName(at))
  }

  /** Copies the newest versions of documents into a part, and removes earlier ones from all. Returns which it has now. */
  async #move(index: SearchIndex, ids: readonly string[], at: number): Promise<ReadonlyMap<string, number>> {
    const moved = new Map(await this.#tables.read(index, recentName, (recent) => versionsIn(recent, ids)))
    const copied = new Map(moved)
    for (const name of partNames(at + 1)) {
      const known = (await this.#tables.read(index, name, (part) => versionsIn(part, ids))) ?? new Map<string, number>()
      const isOld = ([id, version]: readonly [string, number]): boolean => version < (moved.get(id) ?? -1)
      const old = [...known].filter(isOld).map(([id]) => id)
      if (old.length > 0) await this.#tables.open(index, name, (part) => part.delete(ofDocuments(old)))
      for (const each of known) if (!isOld(each)) copied.delete(each[0])
    }
    if (copied.size === 0) return moved
    const rows = await this.#tables.read(index, recentName, (recent) =>
      recent
        .query()
        .where(ofDocuments([...copied.keys()]))
        .toArrow(),
    )
    if (rows !== null) await this.#tables.open(index, partName(at), (part) => part.add(rows))
    return moved
  }

  /**
   * Removes what was moved from the changes, unless it has changed again. What was removed meanwhile leaves the part, and
   * so does what was replaced by an earlier version.
   */
  async #leave(index: SearchIndex, moved: ReadonlyMap<string, number>, part: string): Promise<void> {
    const removed: string[] = []
    await this.#tables.change(index, recentName, async (recent) => {
      for (const ids of chunks([...moved.keys()])) {
        const versions = await versionsIn(recent, ids)
        removed.push(...ids.filter((id) => (versions.get(id) ?? -1) < (moved.get(id) ?? -1)))
        const same = ids.filter((id) => versions.get(id) === moved.get(id))
        for (const [version, some] of Map.groupBy(same, (id) => moved.get(id)))
          await recent.delete(`${ofDocuments(some)} AND version = ${version}`)
      }
    })
    if (removed.length > 0)
      await this.#tables.change(index, part, async (table) => void (await table.delete(ofDocuments(removed))))
    this.#tables.changed(index, recentName)
  }

  drop(project: string, but: SearchIndex | null): Promise<void> {
    return this.#tables.drop(project, but)
  }
}

const chunks = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / idsEach) }, (_, n) => all.slice(n * idsEach, (n + 1) * idsEach))

interface Found {
  readonly candidates: readonly Candidate[]
  /** Whether others may not be among them because of earlier versions. */
  readonly isCrowded: boolean
}

const none: Found = { candidates: [], isCrowded: false }

const newestOf = (candidates: readonly Candidate[]): ReadonlyMap<string, Candidate> => {
  const newest = new Map<string, Candidate>()
  for (const each of candidates) if (each.version > (newest.get(each.id)?.version ?? -1)) newest.set(each.id, each)
  return newest
}
