import type { Route } from './routes.ts'

/** One candidate for serving a call. */
export interface Way {
  /** The model name under which limits and budgets count the call. */
  readonly model: string
  readonly route: Route
}

/** The candidates for serving one call, in the order in which to try them. */
export interface Ways<W extends Way> {
  /**
   * Returns the next one; null when none is left.
   * @throws {ServiceError} (or rejects) when the call has no candidate at all.
   */
  next(): W | null | Promise<W | null>
  /** Whether a candidate is left to try after the current one. */
  readonly hasMore: boolean
  /** Skips the remaining candidates of the current model, since they would get the same request. */
  skipModel(): void
}

class MappedWays<V extends Way, W extends Way> implements Ways<W> {
  readonly #ways: Ways<V>
  readonly #make: (way: V) => W

  constructor(ways: Ways<V>, make: (way: V) => W) {
    this.#ways = ways
    this.#make = make
  }

  get hasMore(): boolean {
    return this.#ways.hasMore
  }

  next(): W | null | Promise<W | null> {
    const way = this.#ways.next()
    return way instanceof Promise ? way.then((late) => this.#made(late)) : this.#made(way)
  }

  skipModel(): void {
    this.#ways.skipModel()
  }

  #made(way: V | null): W | null {
    return way === null ? null : this.#make(way)
  }
}

/** Maps each way with `make`, lazily. */
export const mappedWays = <V extends Way, W extends Way>(ways: Ways<V>, make: (way: V) => W): Ways<W> =>
  new MappedWays(ways, make)

class ListedWays<W extends Way> implements Ways<W> {
  readonly #ways: readonly W[]
  #at = 0

  constructor(ways: readonly W[]) {
    this.#ways = ways
  }

  get hasMore(): boolean {
    return this.#at < this.#ways.length
  }

  next(): W | null {
    return this.#ways[this.#at++] ?? null
  }

  skipModel(): void {}
}

/** Ways from a fixed list. */
export const listedWays = <W extends Way>(ways: readonly W[]): Ways<W> => new ListedWays(ways)
