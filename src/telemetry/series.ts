/** Labels of one line, by name. */
export type Labels = Readonly<Record<string, string>>

/** Upper bounds of the buckets of durations, in seconds. */
export const boundsS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const

/**
 * Maximum number of lines per metric. Labels come from models and effects, which are few; beyond the limit, values are
 * added to the line `other`.
 */
const maxLines = 500

/** Histogram of durations of one line in plain numbers, so that counting one costs nanoseconds. */
export class Durations {
  /** Count per bucket, not cumulative; the last is for values above every bound. */
  readonly buckets = new Float64Array(boundsS.length + 1)
  sumS = 0
  count = 0

  record(seconds: number): void {
    let bucket = 0
    while (bucket < boundsS.length && seconds > (boundsS[bucket] ?? 0)) bucket++
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1
    this.sumS += seconds
    this.count++
  }
}

interface Line<Value> {
  readonly labels: Labels
  value: Value
}

/** The lines whose label values begin alike. A lookup by one value after the other makes no string of them all. */
interface Branch<Value> {
  readonly branches: Map<string, Branch<Value>>
  line: Line<Value> | null
}

const emptyBranch = <Value>(): Branch<Value> => ({ branches: new Map(), line: null })

/** The lines of one metric: a value for each combination of labels. */
class Series<Value> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  readonly #empty: () => Value
  readonly #root = emptyBranch<Value>()
  readonly #lines: Line<Value>[] = []

  constructor(
    name: string,
    help: string,
    { labels, empty }: { readonly labels: readonly string[]; readonly empty: () => Value },
  ) {
    this.name = name
    this.help = help
    this.labelNames = labels
    this.#empty = empty
  }

  /** Returns the line for these label values, given in the order of `labelNames`. */
  line(...values: readonly string[]): Line<Value> {
    return this.lineOf(values)
  }

  /** The same without a copy of the list, which every call of a model would make six times. */
  lineOf(values: readonly string[]): Line<Value> {
    let at: Branch<Value> | undefined = this.#root
    for (let label = 0; label < values.length && at !== undefined; label++) at = at.branches.get(values[label] ?? '')
    return at?.line ?? this.#add(values)
  }

  readonly lines = (): readonly Line<Value>[] => [...this.#lines]

  #add(values: readonly string[]): Line<Value> {
    if (this.#lines.length >= maxLines && values[0] !== 'other') return this.lineOf(values.map(() => 'other'))
    let at = this.#root
    for (const value of values) {
      const next = at.branches.get(value) ?? emptyBranch()
      at.branches.set(value, next)
      at = next
    }
    const labels = Object.fromEntries(this.labelNames.map((name, label) => [name, values[label] ?? '']))
    const line = { labels, value: this.#empty() }
    at.line = line
    this.#lines.push(line)
    return line
  }
}

/** A number that only rises, by labels. */
export class CounterSeries extends Series<number> {
  constructor(name: string, help: string, labels: readonly string[] = []) {
    super(name, help, { labels, empty: () => 0 })
  }

  add(count: number, ...values: readonly string[]): void {
    this.lineOf(values).value += count
  }
}

/** Durations, by labels. */
export class DurationSeries extends Series<Durations> {
  constructor(name: string, help: string, labels: readonly string[] = []) {
    super(name, help, { labels, empty: () => new Durations() })
  }

  record(ms: number, ...values: readonly string[]): void {
    this.lineOf(values).value.record(ms / 1000)
  }
}
