import type { Candidate, CandidateQuery, SearchIndex } from '../search/search-port.ts'
import type { ArrowTable, LancePackage, LanceQuery, LanceTable } from './lance-package.ts'
import { texts } from './lance-tables.ts'
import { bytesOf, columnOf, indexedKey, partsKey } from './search-rows.ts'

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
  readonly recent: readonly string[]
}

type Scored = readonly [document: string, score: number]

/** A search for candidates in several tables, of which each has some of the documents. */
export class CandidateSearch {
  readonly #lance: LancePackage
  readonly #query: CandidateQuery
  readonly #vector: Float32Array | null
  readonly #filter: string

  constructor(lance: LancePackage, { dimensions }: SearchIndex, query: CandidateQuery) {
    this.#lance = lance
    this.#query = query
    this.#vector = query.vector?.length === dimensions ? query.vector : null
    this.#filter = [
      ...(query.facets.length === 0 ? [] : [`array_has_all(facets, [${texts(query.facets)}])`]),
      ...(query.since === null ? [] : [`time >= ${query.since}`]),
    ].join(' AND ')
  }

  /** @param changes step up to which documents are in the index of words, and how many later ones are candidates; null: all are in it. */
  async in(table: LanceTable, changes: { readonly indexed: number; readonly max: number } | null): Promise<Found> {
    const { limit } = this.#query
    const [vector, opposite] = [this.#vector, this.#vector?.map((number) => -number)]
    const [words, near, far, recent] = await Promise.all([
      this.#byWords(table, changes === null),
      vector === null ? [] : this.#near(table, vector, limit),
      opposite === undefined ? [] : this.#near(table, opposite, farthest),
      changes === null ? [] : this.#after(table, changes.indexed, changes.max),
    ])
    return { words, near, far, recent }
  }

  /**
   * Returns the documents with the best passages: by words those of each table, since a word that is rare in one, and
   * weighs much there, may be in every document of another; by the vector those of all.
   */
  best(found: readonly Found[]): ReadonlySet<string> {
    const { limit } = this.#query
    return new Set([
      ...found.flatMap(({ words }) => words.map(([id]) => id)),
      ...first(
        found.flatMap(({ near }) => near),
        limit,
      ),
      ...first(
        found.flatMap(({ far }) => far),
        farthest,
      ),
      ...found.flatMap(({ recent }) => recent),
    ])
  }

  async #byWords(table: LanceTable, isIndexed: boolean): Promise<readonly Scored[]> {
    const { words, limit } = this.#query
    if (words.length === 0) return []
    const query = new this.#lance.MatchQuery(words.join(' '), 'words')
    const search = this.#among(table.query().fullTextSearch(query)).select(['document', '_score']).limit(limit)
    const found = await (isIndexed ? search.fastSearch() : search).toArrow()
    return scoredIn(found, '_score')
  }

  async #near(table: LanceTable, numbers: Float32Array, count: number): Promise<readonly Scored[]> {
    const search = table.vectorSearch(numbers).distanceType('cosine').nprobes(partitions).refineFactor(refineFactor)
    const found = await this.#among(search).select(['document', '_distance']).limit(count).toArrow()
    return scoredIn(found, '_distance').map(([id, distance]) => [id, -distance])
  }

  async #after(table: LanceTable, step: number, max: number): Promise<readonly string[]> {
    const isRecent = `step > ${step} AND ${isFirst}`
    const filter = this.#filter === '' ? isRecent : `${isRecent} AND ${this.#filter}`
    const found = await table.query().where(filter).select(['document']).limit(max).toArrow()
    return columnOf(found, 'document').map(String)
  }

  #among(search: LanceQuery): LanceQuery {
    return this.#filter === '' ? search : search.where(this.#filter)
  }
}

const first = (scored: readonly Scored[], count: number): readonly string[] =>
  scored
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([id]) => id)

const scoredIn = (found: ArrowTable, column: string): readonly Scored[] => {
  const scores = columnOf(found, column).map(Number)
  return columnOf(found, 'document').map((id, at) => [String(id), scores[at] ?? 0])
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

/** Returns the step up to which changes are in the index of words, and the number of parts. */
export const stepsOf = async (table: LanceTable): Promise<{ readonly indexed: number; readonly parts: number }> => {
  const rows = await table
    .query()
    .where(`key IN (${texts([indexedKey, partsKey])})`)
    .select(['key', 'version'])
    .toArrow()
  const versions = columnOf(rows, 'version').map(Number)
  const step = (key: string): number =>
    Math.max(0, ...columnOf(rows, 'key').flatMap((each, at) => (each === key ? [versions[at] ?? 0] : [])))
  return { indexed: step(indexedKey), parts: step(partsKey) }
}
