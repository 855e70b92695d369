/** How work for many readers is cut, so that other work gets the event loop between. */
export interface Slices {
  /** Resolves in a later turn of the loop. */
  readonly next: () => Promise<void>
  /**
   * Does the same work for each item: as much as fits immediately, the rest in later turns. `work` must not throw.
   *
   * @returns null when all is done; otherwise a promise that resolves when it is.
   */
  readonly forEach: <T>(each: Iterable<T>, work: (one: T) => void) => Promise<void> | null
}

/** Time in ms that one slice runs. */
const sliceMs = 8

/** Slices of a process without other long work. */
export const plainSlices: Slices = {
  next: () => new Promise((resolve) => setImmediate(resolve)),
  forEach: (each, work) => {
    const rest = [...each].values()
    return atOnce(rest, work) ? null : later(rest, work)
  },
}

/** Works for as long as one slice lasts; true when all is done. */
const atOnce = <T>(rest: IteratorObject<T>, work: (one: T) => void): boolean => {
  const until = performance.now() + sliceMs
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    work(next.value)
    if (performance.now() >= until) return false
  }
  return true
}

const later = async <T>(rest: IteratorObject<T>, work: (one: T) => void): Promise<void> => {
  do await plainSlices.next()
  while (!atOnce(rest, work))
}
