/** What one window of a soak showed. Times in ms, memory in MB. */
export interface SoakWindow {
  readonly turns: number
  readonly failures: number
  readonly p99: number
  readonly rssMb: number
  readonly handles: number
  readonly openCommits: number
  /** What the store grew by, for each turn of the window. */
  readonly bytesPerTurn: number
}

/** A measure of which the end of a soak may not be worse than its beginning. */
interface Measure {
  readonly name: string
  readonly of: (window: SoakWindow) => number
  /** What the end may be above the beginning whatever the share: below it a difference is no growth. */
  readonly slack: number
  /** Windows of a minute say nothing about it. */
  readonly needsAnHour?: boolean
}

/** The end may be so much above the beginning, as a share of it. */
const mostGrowth = 0.1
/** From here on a soak is long enough for memory to settle and for a share of slow turns that repeats. */
const longMinutes = 30

const measures: readonly Measure[] = [
  { name: 'memory (MB)', of: ({ rssMb }) => rssMb, slack: 10, needsAnHour: true },
  { name: 'p99 (ms)', of: ({ p99 }) => p99, slack: 10, needsAnHour: true },
  { name: 'handles', of: ({ handles }) => handles, slack: 48 },
  { name: 'open commits', of: ({ openCommits }) => openCommits, slack: 64 },
  { name: 'bytes a turn', of: ({ bytesPerTurn }) => bytesPerTurn, slack: 512 },
]

/** One measure over a soak: the median of its first third beside that of its last. */
export interface Trend {
  readonly name: string
  readonly first: number
  readonly last: number
  /** Whether the bound holds; null for a measure that this soak is too short for. */
  readonly holds: boolean | null
}

/**
 * What a soak came to, by measure. Windows while the server warms up are left out by who calls.
 *
 * @param minutes how long the soak took.
 */
export const trendsOf = (windows: readonly SoakWindow[], minutes: number): readonly Trend[] => {
  const third = Math.max(1, Math.floor(windows.length / 3))
  return measures.map(({ name, of, slack, needsAnHour = false }) => {
    const first = median(windows.slice(0, third).map(of))
    const last = median(windows.slice(-third).map(of))
    const isFlat = last <= Math.max(first * (1 + mostGrowth), first + slack)
    return { name, first, last, holds: needsAnHour && minutes < longMinutes ? null : isFlat }
  })
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
