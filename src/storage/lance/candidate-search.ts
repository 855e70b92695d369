import type { Candidate, CandidateQuery, SearchIndex } from '../search/search-port.ts'
import type { ArrowTable, LancePackage, LanceQuery, LanceTable } from './lance-package.ts'
import { texts } from './lance-tables.ts'
import { bytesOf, columnOf, indexedKey, movedKey, partsKey } from './search-rows.ts'

/** Number of the farthest passages among the candidates. */
const farthest = 20
/** Number of partitions of an index of vectors that a search reads, and how many times the limit is compared exactly. */
const [partitions, refineFactor] = [20, 10]

/** The first passage of each document, which has its content; found without reading contents. */
export const isFirst = "document <> '' AND key LIKE '% 0'"
const firsts = (ids: Iterable<string>): string => `key IN (${texts(Array.from(ids, (id) => `${id} 0`))})`

/** Passages of one table, the best ones by words, by the vector, and by its opposite, with what they are ordered by. */
interface Found {
  readonly words: readonly Scored[]
  readonly near: readonly Scored[]
  readonly far: readonly Scored[]
  /** Documents that are candidates whatever their words are. */
  readonly recent: readonly Scored[]
}

/** A passage of a version of a document: another table may have a newer one. */
interface Scored {
  readonly id: string
  readonly version: number
  readonly score: number
}

/** The newest versions of the documents that were found. */
export type Newest = ReadonlyMap<string, Candidate>

/** A search for candidates in several tables, of which each has some of the documents. */
export class CandidateSearch {
  readonly #lance: LancePackage
  readonly #query: CandidateQuery
  /** Number of passages by words, of each table, and by the vector. */
  readonly #limit: number
  readonly #vector: Float32Array | null
  readonly #filter: string

  /** @param times factor of the number of passages. */
  constructor(
    lance: LancePackage,
    { dimensions }: SearchIndex,
    { query, times }: { readonly query: CandidateQuery; readonly times: number },
  ) {
    this.#lance = lance
    this.#query = query
    this.#limit = times * query.limit
    this.#vector = query.vector?.length === dimensions ? query.vector : null
    this.#filter = [
      ...(query.facets.length === 0 ? [] : [`array_has_all(facets, [${texts(query.facets)}])`]),
      ...(query.since === null ? [] : [`time >= ${query.since}`]),
    ].join(' AND ')
  }

  /** @param changes step up to which documents are in the index of words, and how many later ones are candidates; null: all are in it. */
  async in(table: LanceTable, changes: { readonly indexed: number; readonly max: number } | null): Promise<Found> {
    const [vector, opposite] = [this.#vector, this.#vector?.map((number) => -number)]
    const [words, near, far, recent] = await Promise.all([
      this.#byWords(table, changes === null),
      vector === null ? [] : this.#near(table, vector, this.#limit),
      opposite === undefined ? [] : this.#near(table, opposite, farthest),
      changes === null ? [] : this.#after(table, changes.indexed, changes.max),
    ])
    return { words, near, far, recent }
  }

  /**
   * Returns the best passages: by words those of each table, since a word that is rare in one, and weighs much there, may
   * be in every document of another; by the vector those of all.
   */
  best(found: readonly Found[]): readonly (readonly Scored[])[] {
    const near = found.flatMap((each) => each.near)
    const far = found.flatMap((each) => each.far)
    const [words, recent] = [found.map((each) => each.words), found.map((each) => each.recent)]
    return [...words, first(near, this.#limit), first(far, farthest), ...recent]
  }

  /** Whether most of some of the best passages are of versions that are not the newest: others are not among them. */
  isCrowded(best: readonly (readonly Scored[])[], newest: Newest): boolean {
    const few = this.#query.limit / 2
    return best.some((some) => some.length >= this.#limit && some.filter(isNewest(newest)).length < few)
  }

  async #byWords(table: LanceTable, isIndexed: boolean): Promise<readonly Scored[]> {
    const { words } = this.#query
    if (words.length === 0) return []
    const query = new this.#lance.MatchQuery(words.join(' '), 'words')
    const search = this.#among(table.query().fullTextSearch(query))
      .select(['document', 'version', '_score'])
      .limit(this.#limit)
    const found = await (isIndexed ? search.fastSearch() : search).toArrow()
    return scoredIn(found, '_score')
  }

  async #near(table: LanceTable, numbers: Float32Array, count: number): Promise<readonly Scored[]> {
    const search = table.vectorSearch(numbers).distanceType('cosine').nprobes(partitions).refineFactor(refineFactor)
    const found = await this.#among(search).select(['document', 'version', '_distance']).limit(count).toArrow()
    return scoredIn(found, '_distance').map(({ score, ...each }) => ({ ...each, score: -score }))
  }

  async #after(table: LanceTable, step: number, max: number): Promise<readonly Scored[]> {
    const isRecent = `step > ${step} AND ${isFirst}`
    const filter = this.#filter === '' ? isRecent : `${isRecent} AND ${this.#filter}`
    const found = await table.query().where(filter).select(['document', 'version']).limit(max).toArrow()
    return scoredIn(found, null)
  }

  #among(search: LanceQuery): LanceQuery {
    return this.#filter === '' ? search : search.where(this.#filter)
  }
}

/** Whether a passage is of the newest version of its document. */
export const isNewest =
  (newest: Newest) =>
  ({ id, version }: Scored): boolean =>
    newest.get(id)?.version === version

const first = (scored: readonly Scored[], count: number): readonly Scored[] =>
  scored.toSorted((a, b) => b.score - a.score).slice(0, count)

const scoredIn = (found: ArrowTable, column: string | null): readonly Scored[] => {
  const versions = columnOf(found, 'version').map(Number)
  const scores = column === null ? [] : columnOf(found, column).map(Number)
  return columnOf(found, 'document').map((id, at) => ({
    ...{ id: String(id), version: versions[at] ?? 0, score: scores[at] ?? 0 },
  }))
}

/** Returns the documents of a table among these. */
export const contentsIn = async (table: LanceTable, ids: ReadonlySet<string>): Promise<readonly Candidate[]> => {
  const rows = await table.query().where(firsts(ids)).select(['document', 'version', 'content']).toArrow()
  const [versions, contents] = [columnOf(rows, 'version').map(Number), bytesOf(rows, 'content')]
  return columnOf(rows, 'document').flatMap((id, at) => {
    const content = contents[at]
    return content === undefined ? [] : [{ id: String(id), version: versions[at] ?? 0, content }]
  })
}

/** Returns the versions of the documents of a table among these. */
export const versionsIn = async (table: LanceTable, ids: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  const found = await table.query().where(firsts(ids)).select(['document', 'version']).toArrow()
  const versions = columnOf(found, 'version').map(Number)
  return new Map(columnOf(found, 'document').map((id, at) => [String(id), versions[at] ?? 0]))
}

/** What is noted of the changes of an index. */
export interface Steps {
  /** Step up to which they are in the index of words. */
  readonly indexed: number
  /** Number of parts. */
  readonly parts: number
  /** Versions of parts that have what has left the changes. */
  readonly moved: ReadonlyMap<string, number>
}

export const stepsOf = async (table: LanceTable): Promise<Steps> => {
  const rows = await table.query().where("key LIKE '  %'").select(['key', 'version']).toArrow()
  const versions = columnOf(rows, 'version').map(Number)
  const steps = new Map<string, number>()
  // two processes may have stored one at once
  for (const [at, key] of columnOf(rows, 'key').map(String).entries())
    steps.set(key, Math.max(steps.get(key) ?? 0, versions[at] ?? 0))
  const moved = [...steps].filter(([key]) => key.startsWith(movedKey))
  return {
    ...{ indexed: steps.get(indexedKey) ?? 0, parts: steps.get(partsKey) ?? 0 },
    moved: new Map(moved.map(([key, version]) => [key.slice(movedKey.length), version])),
  }
}
