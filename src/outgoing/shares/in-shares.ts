/**
 * Long work in steps: it yields where others may go first. What it holds of the loop between two of its steps is its
 * author's to bound: a step handles some 32 KB.
 */
export type Steps<T> = Generator<void, T, void>

/** How long work keeps the loop before others get it, in ms. */
const shareMs = 8

/**
 * Work waits here for its next share. Of many long requests one gets the loop in a turn, so that ten of them hold the
 * others up no longer than one.
 */
const waiting: (() => void)[] = []

const next = (): void => {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(next)
}

/** Resolves in a later turn of the loop, in which no other long work runs. */
export const nextShare = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })

/** Does long work in shares of 8 ms (specs/decisions/0181-the-loop-in-shares.md). Begins at once. */
export const inShares = async <T>(steps: Steps<T>): Promise<T> => {
  let until = performance.now() + shareMs
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (performance.now() < until) continue
    await nextShare()
    until = performance.now() + shareMs
  }
}

/**
 * Does the same work for each of many, in shares of 8 ms: as many as fit at once, the others in later turns of the loop.
 * `work` does not throw.
 *
 * @returns null when all are done; what resolves when they are.
 */
export const forEachInShares = <T>(each: Iterable<T>, work: (one: T) => void): Promise<void> | null => {
  const until = performance.now() + shareMs
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
  await nextShare()
  await forEachInShares(each, work)
}

/** Does all of the work at once: for what is known to be short. */
export const atOnce = <T>(steps: Steps<T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
