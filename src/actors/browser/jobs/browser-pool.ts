import { FairSemaphore } from '#src/concurrency/fair-semaphore.ts'

/** Limits of the browsers that run at the same time in this process. */
export interface PoolLimits {
  readonly atOnce: number
  /** Per tenant, or for the jobs of the project itself. */
  readonly perOwner: number
}

/**
 * Returns the limits from BROWSER_JOBS; the default is one more than the number of processors. One owner cannot take
 * the last place, so that others need not wait for its jobs, and it can still keep every processor busy.
 */
export const poolLimits = (configured: number | null, processors: number): PoolLimits => {
  const atOnce = configured ?? processors + 1
  return { atOnce, perOwner: Math.max(1, atOnce - 1) }
}

/** Opens the browsers of this process, whose owners take turns. */
export const openBrowserPool = ({ atOnce, perOwner }: PoolLimits): BrowserPool =>
  new FairSemaphore({ path: (owner) => [owner], running: [atOnce, perOwner] })

/** The browsers of this process. An owner is the text of a project and a tenant. */
export type BrowserPool = FairSemaphore<string>
