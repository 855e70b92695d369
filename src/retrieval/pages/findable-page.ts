/** A part of a page's text. */
interface FindablePassage {
  readonly start: number
  readonly end: number
  readonly heading: string | null
  readonly vector: Float32Array | null
}

/** A page to index. Times are in ms since the epoch. */
export interface FindablePage {
  readonly id: string
  /** Increases with each change of the page; absent: 0. */
  readonly version?: number
  readonly url: string
  readonly title: string
  readonly description: string
  readonly text: string
  readonly passages: readonly FindablePassage[]
  readonly contentHash: string
  readonly language?: string | null
  readonly publishedAt: number | null
  readonly firstSeenAt: number
  /** URLs that it links to. */
  readonly links: readonly string[]
}
