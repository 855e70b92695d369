/**
 * Long work in steps: it yields where other work may run. The author has to bound the time between two yields: a step
 * handles some 32 KB.
 */
export type SlicedWork<T> = Generator<void, T, void>

/** Time in ms that long work runs before other work gets the event loop. */
const budgetMs = 8

/**
 * Long work that waits for its next share. One gets the loop per turn, so that ten long requests delay other requests
 * no more than one does.
 */
const waiting: (() => void)[] = []

const next = (): void => {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}

/** Resolves in a later turn of the loop, in which no other long work runs. */
export const nextSlice = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })

/** Runs long work in shares of 8 ms (specs/decisions/0181-the-loop-in-shares.md). Starts immediately. */
export const runInSlices = async <T>(steps: SlicedWork<T>): Promise<T> => {
  let until = performance.now() + budgetMs
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (performance.now() < until) continue
    await nextSlice()
    until = performance.now() + budgetMs
  }
}

/**
 * Runs the same work for each item, in shares of 8 ms: as many as fit immediately, the others in later turns of the
 * loop. `work` must not throw.
 *
 * @returns null when all are done; otherwise a promise that resolves when they are.
 */
export const forEachInSlices = <T>(each: Iterable<T>, work: (one: T) => void): Promise<void> | null => {
  const until = performance.now() + budgetMs
  const rest = each[Symbol.iterator]()
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    work(next.value)
    if (performance.now() < until) continue
    const later = Array.from({ [Symbol.iterator]: () => rest })
    return later.length === 0 ? null : inLaterShares(later, work)
  }
  return null
}

const inLaterShares = async <T>(each: readonly T[], work: (one: T) => void): Promise<void> => {
  await nextSlice()
  await forEachInSlices(each, work)
}

/** Yields the items of a sequence. Other work gets the loop whenever handling them took 8 ms. */
export async function* inShares<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
  let until = performance.now() + budgetMs
  for await (const item of items) {
    yield item
    if (performance.now() < until) continue
    await nextSlice()
    until = performance.now() + budgetMs
  }
}

/** Runs all of the work immediately: for work that is known to be short. */
export const atOnce = <T>(steps: SlicedWork<T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
