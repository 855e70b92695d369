import type { ReadDocument, Vectors } from '#machines/knowledge-source/knowledge-source.ts'
import type { VectorSpace, VectorStore } from '#storage/index.ts'
import { leadSpaceOf, vectorSpaceOf } from '../sources/stored-vectors.ts'

export interface StoredSourcesParts {
  readonly project: string
  readonly base: string
  /** null for a store that cannot search vectors. */
  readonly vectors: VectorStore | null
  /** Time in ms of a clock that never goes back. */
  readonly steady: () => number
}

/** What is read of the list row of a source. */
export interface SourceVectors {
  readonly id: string
  readonly data: {
    readonly document: Pick<ReadDocument, 'chunk_count'> | null
    readonly vectors: Pick<Vectors, 'embedder' | 'count'> | null
  }
}

/** Age in ms after which the stored vectors are counted again: a count reads an index entry of each. */
const recountMs = 30_000
/** The same while some are still being stored. */
const recountSoonMs = 5_000
/** Time in ms for which the database may fail until its searches are given up, and for how long they are. */
const patienceMs = 30_000
const givenUpMs = 5 * 60_000
/** Share of the size at which the database starts to search vectors at which it stops, so that a base does not alternate. */
const keptShare = 0.75

/** Decides for which sources of a base the database searches the vectors: those of a large base, once they are stored. */
export class StoredSources {
  readonly #parts: StoredSourcesParts
  #space: VectorSpace | null = null
  #isReady = false
  /** Whether the base is large enough for more of its vectors to be stored. */
  #isLarge = false
  #embedder: string | null = null
  #countedAt = Number.NEGATIVE_INFINITY
  #failingSince: number | null = null
  #givenUpUntil = Number.NEGATIVE_INFINITY
  /** As of the last update: the index has to match it. */
  #isGivenUp = false

  constructor(parts: StoredSourcesParts) {
    this.#parts = parts
  }

  /** Updates the decision for the rows of the base, and the embedder that searches use. */
  async update(rows: readonly SourceVectors[], embedder: string | null): Promise<void> {
    const { vectors } = this.#parts
    if (this.#embedder !== embedder) this.#forget()
    this.#embedder = embedder
    const total = rows.reduce((sum, { data }) => sum + (data.document?.chunk_count ?? 0), 0)
    this.#isLarge = vectors !== null && total >= vectors.min
    if (vectors === null || embedder === null || total < vectors.min * (this.#isReady ? keptShare : 1))
      return this.#forget()
    try {
      await this.#check(vectors, { rows, embedder })
    } catch {
      this.noteSearch(false)
    }
    this.#isGivenUp = this.#parts.steady() < this.#givenUpUntil
  }

  /**
   * Notes whether the database could search. After a failure the decision stays as it is for a while, since otherwise
   * all vectors would be read because of a passing failure.
   */
  noteSearch(isDone: boolean): void {
    const now = this.#parts.steady()
    const since = this.#failingSince ?? now
    // a single failure says nothing about the time in which nothing was searched
    const isLong = !isDone && now - since >= patienceMs
    if (isLong) this.#givenUpUntil = now + givenUpMs
    this.#failingSince = isDone || isLong ? null : since
  }

  /** Whether the database searches the vectors of a source. */
  has(row: SourceVectors): boolean {
    return this.#isReady && !this.#isGivenUp && this.#isStored(row)
  }

  /** Returns the vectors of the leads of a source's pages, by the first chunk of the page. @throws {StoreUnavailable} */
  async leads(source: string): Promise<ReadonlyMap<string, Float32Array>> {
    const { vectors, project, base } = this.#parts
    const space = leadSpaceOf(base, this.#embedder ?? '')
    const found = (await vectors?.ofGroup(project, space, source)) ?? []
    return new Map(found.map(({ id, numbers }) => [id, Float32Array.from(numbers)]))
  }

  /** Whether the vectors of a source have yet to be stored for the database to search. */
  lacks(row: SourceVectors): boolean {
    return (
      this.#isLarge && this.#space !== null && row.data.vectors?.embedder === this.#embedder && !this.#isStored(row)
    )
  }

  #isStored({ id, data: { vectors } }: SourceVectors): boolean {
    if (vectors === null || vectors.embedder !== this.#embedder) return false
    return (this.#space?.counts.get(id) ?? 0) >= vectors.count
  }

  async #check(
    vectors: VectorStore,
    { rows, embedder }: { readonly rows: readonly SourceVectors[]; readonly embedder: string },
  ): Promise<void> {
    const { project, base, steady } = this.#parts
    const validMs = rows.some((row) => this.lacks(row)) ? recountSoonMs : recountMs
    if (this.#space === null || steady() - this.#countedAt >= validMs) {
      this.#space = await vectors.space(project, vectorSpaceOf(base, embedder))
      this.#countedAt = steady()
    }
    const { dimensions } = this.#space
    this.#isReady = dimensions !== null && (await vectors.isReady(dimensions))
  }

  #forget(): void {
    this.#space = null
    this.#isReady = false
  }
}
