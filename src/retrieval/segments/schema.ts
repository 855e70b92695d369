/** An array of numbers of a segment. */
export type Column = Int8Array | Uint8Array | Int32Array | Uint32Array | Float32Array | Float64Array

/** Where a column is in the bytes of a segment. */
export type ColumnPlace = readonly [at: number, bytes: number]

/** The places of the columns, as `packed` wrote them. */
export const placesIn = (json: string): Readonly<Record<string, ColumnPlace>> => JSON.parse(json)

/** What a segment of pages keeps of a page besides its words, as it wrote it. */
export interface StoredFacts {
  readonly url: string
  readonly title: string
  readonly contentHash: string
  readonly publishedAt: number | null
  readonly firstSeenAt: number
  readonly language: string | null
  /** Start and end of each passage, one after the other. */
  readonly places: readonly number[]
}

export const storedFacts = (json: string): StoredFacts => JSON.parse(json)

/** Ids of removed pages, with the time of the removal in ms since the epoch. */
export type Removals = readonly (readonly [id: string, at: number])[]

export const removalsIn = (json: string): Removals => JSON.parse(json)
