import { secondsOf } from '#actors/capability/openai-pages.ts'
import type { Row } from '#records/schema.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Status } from '#specs/statuses.ts'
import type { KnowledgeBaseData } from '../kinds.ts'
import type { SourceRow } from '../schema.ts'
import { endOf, fileIdOf } from './store-files.ts'

/** A vector store as the API returns it. */
export type StoreView = ResultOf<'vector_stores.get'>
/** A file of a vector store as the API returns it. */
export type StoreFileView = ResultOf<'vector_store_files.get'>
/** Status of a file in a vector store. */
export type FileStatus = StoreFileView['status']
/** Number of files by status. */
export type FileCounts = StoreView['file_counts']

/** Id of the vector store that is another name of a base. */
export const storeIdOf = (base: string): string => `vs_${endOf(base)}`

/** Id of the base that a vector store names, which may also be named by the base's own id. */
export const baseIdOf = (store: string): string => (store.startsWith('vs_') ? `kb_${endOf(store)}` : store)

const words = { pending: 'in_progress', ready: 'completed', failed: 'failed' } as const

export const fileStatusOf = (status: Status<'knowledge_source'>) => words[status]

/** Status of sources that have this status as files; null when none can have it. */
export const sourceStatusOf = (status: FileStatus): Status<'knowledge_source'> | null => {
  if (status === 'in_progress') return 'pending'
  if (status === 'completed') return 'ready'
  return status === 'failed' ? 'failed' : null
}

export const countsOf = (statuses: readonly FileStatus[]): FileCounts => {
  const counts = { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: statuses.length }
  for (const status of statuses) counts[status]++
  return counts
}

/** Converts a base with its files. */
export const storeView = (
  { id, data, created_at, updated_at }: Row<KnowledgeBaseData>,
  { counts, bytes }: { readonly counts: FileCounts; readonly bytes: number },
): StoreView => ({
  ...{ id: storeIdOf(id), object: 'vector_store', created_at: secondsOf(created_at) },
  ...{ name: data.name, description: data.description, usage_bytes: bytes, file_counts: counts },
  status: counts.in_progress > 0 ? 'in_progress' : 'completed',
  last_active_at: secondsOf(updated_at),
  metadata: data.metadata,
})

/** Converts a source. */
export const storeFileView = (row: SourceRow): StoreFileView => ({
  ...{ id: fileIdOf(row), object: 'vector_store.file', created_at: secondsOf(row.created_at) },
  ...{ vector_store_id: storeIdOf(row.data.knowledge_base_id), status: fileStatusOf(row.data.status) },
  usage_bytes: row.data.size_bytes ?? 0,
  last_error: row.data.error === null ? null : errorOf(row.data.error),
  attributes: row.data.metadata,
  chunking_strategy: { type: 'other' },
})

const errorOf = ({ code, message }: NonNullable<SourceRow['data']['error']>) => ({
  code: code === 'busy' ? ('server_error' as const) : ('invalid_file' as const),
  message,
})
