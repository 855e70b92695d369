/** Times in ms of searches, and the memory after them. */
interface SearchTime {
  readonly median: number
  readonly p95: number
  readonly cpu: number
  readonly hits: number
  readonly mb: number
}

export interface SearchTimes {
  /** `sinceStart` of the process; `opening`: without its code. */
  readonly first: Readonly<Record<'ms' | 'cpu' | 'sinceStart' | 'opening' | 'mb', number>>
  readonly words: SearchTime
  readonly vectors: SearchTime
}

export const parsedTimes = (json: string): SearchTimes => JSON.parse(json)

/** What earlier runs have done in a folder. */
export interface Progress {
  readonly pages: number
  readonly isStored: boolean
  /** Segments whose pages are in the engine. */
  readonly loaded: readonly string[]
  readonly isLoaded: boolean
  /** Times before the vectors had an index. */
  readonly before: SearchTimes | null
  readonly isIndexed: boolean
  readonly after: SearchTimes | null
  /** Versions of changed pages, which differ in each run. */
  readonly version: number
  /** Seconds, seconds of CPU and peaks of memory in MB of what was done so far. */
  readonly figures: Readonly<Record<string, number>>
}

export const parsedProgress = (json: string): Progress => JSON.parse(json)
