/** Dimensions by which a series can be split. */
const dimensions = ['model', 'tenant', 'agent', 'operation'] as const

export type Dimension = (typeof dimensions)[number]

/** One model call, request or failure that counts in a series. Absent fields count nothing. */
export interface Counted {
  readonly calls?: number
  readonly errors?: number
  readonly usd?: number
  readonly input?: number
  readonly output?: number
  /** Duration in ms of a request that succeeded. */
  readonly ms?: number
  /** Whom it counts for; absent for none. */
  readonly groups?: Readonly<Record<Dimension, string | null>>
}

/** Totals of a group in one bucket. */
export interface GroupSums {
  calls: number
  errors: number
  usd: number
  tokens: number
}

/** Most groups of a dimension in a bucket; the rest counts as `other`. */
const maxGroups = 200

/** Durations are counted in bins whose bounds differ by this factor, so that percentiles of buckets can be joined. */
const binFactor = 1.1

const binOf = (ms: number): number => Math.round(Math.log(Math.max(0, ms) + 1) / Math.log(binFactor))

const msOf = (bin: number): number => Math.round(binFactor ** bin - 1)

/** Sums of one bucket of a series, or of several. Their size does not depend on the number of calls. */
export class SeriesSums {
  calls = 0
  errors = 0
  usd = 0
  input = 0
  output = 0
  readonly #bins = new Map<number, number>()
  readonly #groups = new Map<Dimension, Map<string, GroupSums>>(dimensions.map((each) => [each, new Map()]))

  add({ calls = 0, errors = 0, usd = 0, input = 0, output = 0, ms, groups }: Counted): void {
    this.calls += calls
    this.errors += errors
    this.usd += usd
    this.input += input
    this.output += output
    if (ms !== undefined) this.#count(binOf(ms), 1)
    if (groups === undefined) return
    for (const dimension of dimensions)
      this.#addTo(dimension, groups[dimension] ?? '', { calls, errors, usd, tokens: input + output })
  }

  /** Adds other sums to these. */
  join(other: SeriesSums): void {
    const { calls, errors, usd, input, output } = other
    this.add({ calls, errors, usd, input, output })
    for (const [bin, count] of other.#bins) this.#count(bin, count)
    for (const dimension of dimensions)
      for (const [name, sums] of other.groupsOf(dimension)) this.#addTo(dimension, name, sums)
  }

  groupsOf(dimension: Dimension): ReadonlyMap<string, GroupSums> {
    return this.#groups.get(dimension) ?? new Map()
  }

  /** Duration that this fraction of the successful requests does not exceed, within 5 %; null without requests. */
  percentile(share: number): number | null {
    const bins = [...this.#bins].sort(([a], [b]) => a - b)
    const total = bins.reduce((sum, [, count]) => sum + count, 0)
    let seen = 0
    for (const [bin, count] of bins) {
      seen += count
      if (seen >= share * total) return msOf(bin)
    }
    return null
  }

  #count(bin: number, count: number): void {
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + count)
  }

  #addTo(dimension: Dimension, name: string, { calls, errors, usd, tokens }: Readonly<GroupSums>): void {
    const groups = this.#groups.get(dimension) ?? new Map<string, GroupSums>()
    const key = groups.has(name) || groups.size < maxGroups ? name : 'other'
    const sums = groups.get(key) ?? { calls: 0, errors: 0, usd: 0, tokens: 0 }
    sums.calls += calls
    sums.errors += errors
    sums.usd += usd
    sums.tokens += tokens
    groups.set(key, sums)
  }
}
