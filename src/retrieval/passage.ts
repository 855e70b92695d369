/** A text that can be found. */
export interface Passage {
  readonly id: string
  readonly text: string
  /** What it is a part of: the session of a memory, the source of a chunk. */
  readonly group: string | null
  /** Its place in the group: the passages before and after it are its neighbours. */
  readonly order: number
  /** Page of the group that it stands on, from 1. */
  readonly page?: number | null
  /** When it was said, in ms. */
  readonly at: number
  readonly speaker?: string | null
  /** Headings above a chunk; found like its text. */
  readonly heading?: string
  readonly vector: Float32Array | null
}
