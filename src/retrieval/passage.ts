/** A text to index. */
export interface Passage {
  readonly id: string
  readonly text: string
  /** The whole it is a part of: the session of a memory, the source of a chunk. */
  readonly group: string | null
  /** Position in the group: the previous and next passages are its neighbours. */
  readonly order: number
  /** Page of the group on which it is, from 1. */
  readonly page?: number | null
  /** When it was said, in ms since the epoch. */
  readonly at: number
  readonly speaker?: string | null
  /** Headings above a chunk; searched like its text. */
  readonly heading?: string
  /** null: none. `stored`: it is not in the index but in a `VectorStore`, and a search gives the cosines of candidates. */
  readonly vector: Float32Array | 'stored' | null
  /** Vector of the lead of its page (`leadsOf`), for the first passage of a page. */
  readonly lead?: Float32Array | null
}
