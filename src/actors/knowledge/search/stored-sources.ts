import type { VectorSpace, VectorStore } from '#storage/index.ts'
import { vectorSpaceOf } from '../sources/stored-vectors.ts'

export interface StoredSourcesParts {
  readonly project: string
  readonly base: string
  /** null for a store that cannot search vectors. */
  readonly vectors: VectorStore | null
  /** Time in ms of a clock that never goes back. */
  readonly steady: () => number
}

/** What is known of the vectors of a source. */
export interface SourceVectors {
  readonly id: string
  readonly vectors: { readonly embedder: string; readonly count: number } | null
}

/** The sources of a base that are known, and the number of its chunks. */
interface KnownSources {
  readonly total: number
  readonly sources: readonly SourceVectors[]
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

  /** Updates the decision for the sources of the base, and the embedder that searches use. */
  async update({ total, sources }: KnownSources, embedder: string | null): Promise<void> {
    const { vectors } = this.#parts
    if (this.#embedder !== embedder) this.#forget()
    this.#embedder = embedder
    this.#isLarge = vectors !== null && total >= vectors.min
    if (vectors === null || embedder === null || total < vectors.min * (this.#isReady ? keptShare : 1))
      return this.#forget()
    try {
      await this.#check(vectors, { sources, embedder })
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
  has(source: SourceVectors): boolean {
    return this.#isReady && !this.#isGivenUp && this.#isStored(source)
  }

  /** Whether the vectors of a source have yet to be stored for the database to search. */
  lacks(source: SourceVectors): boolean {
    const isOurs = source.vectors?.embedder === this.#embedder
    return this.#isLarge && this.#space !== null && isOurs && !this.#isStored(source)
  }

  #isStored({ id, vectors }: SourceVectors): boolean {
    if (vectors === null || vectors.embedder !== this.#embedder) return false
    return (this.#space?.counts.get(id) ?? 0) >= vectors.count
  }

  async #check(
    vectors: VectorStore,
    { sources, embedder }: { readonly sources: readonly SourceVectors[]; readonly embedder: string },
  ): Promise<void> {
    const { project, base, steady } = this.#parts
    const validMs = sources.some((source) => this.lacks(source)) ? recountSoonMs : recountMs
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
