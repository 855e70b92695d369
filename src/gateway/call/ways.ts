import type { Route } from './routes.ts'

/** One way to serve a call. */
export interface Way {
  /** The name of the model under which limits and budgets count it. */
  readonly model: string
  readonly route: Route
}

/** The ways to serve one call, in the order in which to try them. */
export interface Ways<W extends Way> {
  /** The next one; null when none is left. @throws {ServiceError} (or rejects) when the call could not be served at all. */
  next(): W | null | Promise<W | null>
  /** Whether something is left to try after the current one. */
  readonly hasMore: boolean
  /** Passes over the other ways of the current model: they would get the same request. */
  skipModel(): void
}

/** The same ways, each with what `make` adds to it when its turn comes. */
export const mappedWays = <V extends Way, W extends Way>(ways: Ways<V>, make: (way: V) => W): Ways<W> => {
  const made = (way: V | null): W | null => (way === null ? null : make(way))
  return {
    next: () => {
      const way = ways.next()
      return way instanceof Promise ? way.then(made) : made(way)
    },
    get hasMore() {
      return ways.hasMore
    },
    skipModel: () => ways.skipModel(),
  }
}

/** Ways that are known from the beginning. */
export const listedWays = <W extends Way>(ways: readonly W[]): Ways<W> => {
  let at = 0
  return {
    next: () => ways[at++] ?? null,
    get hasMore() {
      return at < ways.length
    },
    skipModel: () => {},
  }
}
