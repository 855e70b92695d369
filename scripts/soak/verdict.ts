/** Measurements of one window of a soak. Times in ms, memory in MB. */
export interface SoakWindow {
  readonly turns: number
  readonly failures: number
  readonly p99: number
  readonly rssMb: number
  readonly handles: number
  readonly openCommits: number
  /** Growth of the store per turn of the window. */
  readonly bytesPerTurn: number
}

/** A measure that must not be worse at the end of a soak than at its beginning. */
interface Measure {
  readonly name: string
  readonly of: (window: SoakWindow) => number
  /** Absolute increase that is always allowed, whatever its share. */
  readonly slack: number
  /**
   * Whether the measure is judged only in soaks of at least `longMinutes`, since short windows say nothing about it.
   */
  readonly needsAnHour?: boolean
}

/** Maximum growth from the beginning to the end, as a share of the beginning. */
const maxGrowth = 0.1
/** Length in minutes from which memory has settled and the share of slow turns is repeatable. */
const longMinutes = 30

const measures: readonly Measure[] = [
  { name: 'memory (MB)', of: ({ rssMb }) => rssMb, slack: 10, needsAnHour: true },
  { name: 'p99 (ms)', of: ({ p99 }) => p99, slack: 10, needsAnHour: true },
  { name: 'handles', of: ({ handles }) => handles, slack: 48 },
  { name: 'open commits', of: ({ openCommits }) => openCommits, slack: 64 },
  { name: 'bytes a turn', of: ({ bytesPerTurn }) => bytesPerTurn, slack: 512 },
]

/** One measure over a soak: the median of its first third and that of its last. */
export interface Trend {
  readonly name: string
  readonly first: number
  readonly last: number
  /** Whether the bound holds; null for a measure that this soak is too short for. */
  readonly holds: boolean | null
}

/**
 * Computes the trends of a soak by measure. The caller leaves out the windows in which the server warms up.
 *
 * @param minutes length of the soak.
 */
export const trendsOf = (windows: readonly SoakWindow[], minutes: number): readonly Trend[] => {
  const third = Math.max(1, Math.floor(windows.length / 3))
  return measures.map(({ name, of, slack, needsAnHour = false }) => {
    const first = median(windows.slice(0, third).map(of))
    const last = median(windows.slice(-third).map(of))
    const isFlat = last <= Math.max(first * (1 + maxGrowth), first + slack)
    return { name, first, last, holds: needsAnHour && minutes < longMinutes ? null : isFlat }
  })
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
