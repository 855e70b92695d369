import type { JsonObject } from '#storage/ports.ts'
import type { Row } from '../records/schema.ts'
import type { SourceRowData } from './kinds.ts'
import type { StoredChunk } from './sources/document-store.ts'

/*
 * What our own commits, rows and blobs hold comes back as the type that was written: the source machine and
 * `storeDocument` alone write them.
 */

/** A source's list row. */
export type SourceRow = Row<SourceRowData & JsonObject>

/** Chunks of a blob, read back. */
export const storedChunks = (value: unknown): readonly StoredChunk[] => value as readonly StoredChunk[]

/** Vectors of a blob, read back: each after the id of its chunk. */
export const storedVectors = (value: unknown): readonly (readonly [id: string, vector: string])[] =>
  value as readonly (readonly [string, string])[]
