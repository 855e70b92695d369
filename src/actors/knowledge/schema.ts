import type { JsonObject } from '#storage/index.ts'
import type { Row } from '../records/schema.ts'
import type { SourceRowData } from './kinds.ts'
import type { FoundAnswer, PlacedBaseSearch } from './search/search-base.ts'
import type { StoredChunk } from './sources/document-store.ts'
import type { Additions } from './stores/store-files.ts'

/*
 * The functions below return values read from our own commits, rows and blobs as the type that was written: only the
 * source machine, `storeDocument` and `additionNotice` write them.
 */

/** A source's list row. */
export type SourceRow = Row<SourceRowData & JsonObject>

/** What an index knows of a source besides the words of its chunks. */
export type SourceFacts = {
  /** Identifies its text and chunks. */
  readonly content: string
  /** All its titles, one a line. */
  readonly titles: string
  readonly metadata: JsonObject
  readonly file_id?: string
  readonly chunk_count: number
  /** The embedder and number of its vectors; null for none. */
  readonly vectors: { readonly embedder: string; readonly count: number; readonly hash: string } | null
  readonly has_leads: boolean
  readonly has_pages: boolean
}

/** Returns the facts of a source that `factsOf` made. */
export const storedFacts = (json: string): SourceFacts => JSON.parse(json)

/** Returns the chunks of a blob. */
export const storedChunks = (value: unknown): readonly StoredChunk[] => value as readonly StoredChunk[]

/** Returns the vectors of a blob, each with the id of its chunk. */
export const storedVectors = (value: unknown): readonly (readonly [id: string, vector: string])[] =>
  value as readonly (readonly [string, string])[]

/** Returns the files of an addition. */
export const storedAdditions = (event: unknown): Omit<Additions, 'request'> & Partial<Additions> => event as Additions

/** Returns a search that another process of this installation has sent. */
export const receivedSearch = (input: JsonObject): PlacedBaseSearch => input as PlacedBaseSearch

/** Returns what another process has found. */
export const foundAnswer = (answer: JsonObject): FoundAnswer => answer as FoundAnswer
