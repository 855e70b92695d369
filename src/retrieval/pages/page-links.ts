/** Links of pages: hashes of the addresses that they lead to, ascending, and the number of the page of each. */
export interface LinkRun {
  readonly keys: Float64Array
  readonly from: Int32Array
}

/** Returns links in their order. */
export const linkRun = (links: readonly (readonly [key: number, from: number])[]): LinkRun => {
  const sorted = links.toSorted(([a], [b]) => a - b)
  return { keys: Float64Array.from(sorted, ([key]) => key), from: Int32Array.from(sorted, ([, from]) => from) }
}

/** Joins two runs. */
export const joinedRuns = (one: LinkRun, other: LinkRun): LinkRun => {
  const length = one.keys.length + other.keys.length
  const [keys, from] = [new Float64Array(length), new Int32Array(length)]
  let [a, b] = [0, 0]
  for (let at = 0; at < length; at++) {
    const isFirst = b >= other.keys.length || (a < one.keys.length && (one.keys[a] ?? 0) <= (other.keys[b] ?? 0))
    const [run, next] = isFirst ? [one, a++] : [other, b++]
    keys[at] = run.keys[next] ?? 0
    from[at] = run.from[next] ?? 0
  }
  return { keys, from }
}

/** The links of an index. Runs of about the same length are joined, so that there are few. */
export class PageLinks {
  readonly #runs: LinkRun[] = []

  get bytes(): number {
    return this.#runs.reduce((sum, { keys }) => sum + keys.length * 12, 0)
  }

  add(run: LinkRun): void {
    if (run.keys.length === 0) return
    let joined = run
    for (let last = this.#runs.at(-1); last !== undefined && last.keys.length < 2 * joined.keys.length; ) {
      this.#runs.pop()
      joined = joinedRuns(last, joined)
      last = this.#runs.at(-1)
    }
    this.#runs.push(joined)
  }

  /** Calls `visit` with the number of each page that links to the address. */
  each(key: number, visit: (from: number) => void): void {
    for (const { keys, from } of this.#runs) {
      let [low, high] = [0, keys.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((keys[middle] ?? 0) < key) low = middle + 1
        else high = middle
      }
      for (; keys[low] === key; low++) visit(from[low] ?? 0)
    }
  }
}
