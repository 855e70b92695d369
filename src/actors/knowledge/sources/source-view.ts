import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import { rowTimes, timestampOrNull } from '#records/row-times.ts'
import { rowOf } from '#records/schema.ts'
import { type Resident, rowRecord } from '#runtime/internal.ts'
import type { ResultOf } from '#specs/index.ts'
import { sourceRows } from '../kinds.ts'
import type { SourceRow } from '../schema.ts'

/** A source as the API returns it. */
export type SourceView = ResultOf<'knowledge_sources.get'>

/** Returns the source of a list row. */
export const sourceView = (row: SourceRow): SourceView => {
  const { data } = row
  const { document, vectors } = data
  return {
    id: row.id,
    knowledge_base_id: data.knowledge_base_id,
    type: data.type,
    status: data.status,
    title: data.title ?? document?.title ?? data.filename,
    filename: data.filename,
    mime_type: data.mime_type,
    url: data.url,
    refresh_interval_s: data.refresh_interval_s,
    metadata: data.metadata,
    checksum: data.checksum,
    size_bytes: data.size_bytes,
    characters: document?.characters ?? 0,
    page_count: document?.page_count ?? null,
    chunk_count: document?.chunk_count ?? 0,
    embedder: vectors?.embedder ?? null,
    embedded_count: vectors?.count ?? 0,
    changes: data.changes,
    error: data.error,
    synced_at: timestampOrNull(data.synced_at_ms),
    ...rowTimes(row),
  }
}

/** Returns the source of an actor. */
export const residentView = (resident: Resident): SourceView => sourceView(rowOf(sourceRows, rowRecord(resident)))

/** The actor kind of sources. */
export const sourceKind = sourceDefinition
