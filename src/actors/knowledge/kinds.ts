import type { ReadDocument, SourceContext, Vectors } from '#machines/knowledge-source/knowledge-source.ts'
import type { allFilePurposes } from '#specs/resources/knowledge/files.ts'
import type { subjectTypes } from '#specs/resources/knowledge/knowledge-grants.ts'
import type { Status } from '#specs/statuses.ts'
import type { JsonObject } from '#storage/index.ts'
import type { IndexState } from '../indexing/stored-index.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'
import { isObject } from '../runtime/index.ts'

export type KnowledgeBaseData = {
  readonly name: string
  readonly description: string | null
  readonly tenant_id: string | null
  readonly metadata: JsonObject
}

/** Kinds of subjects that a knowledge base can be granted to. */
export type SubjectType = (typeof subjectTypes)[number]

export type KnowledgeGrantData = {
  readonly knowledge_base_id: string
  readonly subject_type: SubjectType
  readonly subject_id: string
  readonly permissions: readonly 'read'[]
}

/** Data of a source's list row (`sourceDefinition.row`). */
export type SourceRowData = Omit<SourceContext, 'source_id' | 'upload' | 'created_by' | 'attempts' | 'delay_ms'> & {
  readonly document: ReadDocument | null
  readonly vectors: Vectors | null
  readonly base_status: string
  readonly base_file?: string
  readonly status: Status<'knowledge_source'>
}

/** Knowledge bases. The owner of a tenant's base is the tenant, so it is deleted together with the tenant. */
export const knowledgeBases: TypedKind<KnowledgeBaseData> = {
  name: 'knowledge_bases',
  filters: ['tenant_id'],
  outbox: true,
}

/** Grants. A grant is deleted together with the tenant, or the user of a tenant, that it is for. */
export const knowledgeGrants: TypedKind<KnowledgeGrantData> = {
  name: 'knowledge_grants',
  unique: [{ fields: ['knowledge_base_id', 'subject_type', 'subject_id'] }],
  filters: ['knowledge_base_id', { fields: ['knowledge_base_id', 'subject_type'] }],
  outbox: true,
}

const textsOf = (document: unknown): readonly string[] =>
  isObject(document) && Array.isArray(document.text) ? document.text.map(String) : []

/** List rows of sources. */
export const sourceRows: TypedKind<SourceRowData> = {
  name: 'knowledge_sources',
  exported: 'knowledge',
  unexported: ['document', 'vectors', 'base_status', 'base_file'],
  textBlobs: ({ document }) => textsOf(document),
  filters: ['knowledge_base_id', 'base_status', 'base_file'],
}

/** A question with its expected answer: a source, a text, or both. */
export type RecallQuestion = {
  readonly question: string
  readonly source_id?: string
  readonly text?: string
}

export type RecallSetData = {
  readonly knowledge_base_id: string
  readonly name: string
  readonly questions: readonly RecallQuestion[]
}

/** Sets of questions that measure the recall of a base. */
export const knowledgeRecallSets: TypedKind<RecallSetData> = {
  name: 'knowledge_recall_sets',
  filters: ['knowledge_base_id'],
  outbox: true,
}

export type FileData = {
  readonly filename: string
  readonly purpose: (typeof allFilePurposes)[number]
  readonly mime_type: string
  readonly bytes: number
  /** ms since the epoch; absent: it does not expire. */
  readonly expires_at_ms?: number
  /** When it is removed: when it expires, or later if a batch reads it. */
  readonly removed_at?: string
  /** Names of the blobs of its content in base64, in order. */
  readonly parts: readonly string[]
}

/** Files that were uploaded by `files.create`, or made by a batch. */
export const storedFiles: TypedKind<FileData> = {
  name: 'files',
  filters: ['purpose'],
  due: 'removed_at',
  unexported: ['parts'],
  textBlobs: ({ parts }) => (Array.isArray(parts) ? parts.map(String) : []),
  outbox: true,
}

export type FileBatchData = {
  readonly knowledge_base_id: string
  readonly file_ids: readonly string[]
  readonly cancelled: boolean
}

/** Files that one request added to a vector store. */
export const fileBatches: TypedKind<FileBatchData> = {
  name: 'knowledge_file_batches',
  filters: ['knowledge_base_id'],
  outbox: true,
}

/** The indexes of bases. The owner of the index of a tenant's base is the tenant. */
export const knowledgeIndexes: TypedKind<IndexState> = { name: 'knowledge_indexes', exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const knowledgeKinds: readonly AnyKind[] = [
  ...[knowledgeBases, knowledgeGrants, knowledgeRecallSets, knowledgeIndexes, sourceRows, storedFiles, fileBatches],
]
