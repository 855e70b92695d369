import type { JsonObject } from '#storage/ports.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'

/** A statement that a memory makes; times in ms since the epoch. */
export type FactData = {
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly single: boolean
  readonly ended: boolean
  readonly valid_from_ms: number
  readonly valid_to_ms: number | null
  readonly observed_at_ms: number
  readonly text: string
}

/** What a memory said before it was changed. */
export type VersionData = {
  readonly content: string
  readonly valid_from_ms: number | null
  readonly valid_to_ms: number | null
  readonly at_ms: number
}

/** A fact or text that is remembered about an end user. The row's `user` is the external id; its `tenant` may be null. */
export type MemoryData = {
  /** `ownerKey`: what the memories of one user are found by, with and without a tenant. */
  readonly owner: string
  readonly content: string
  readonly scope: 'user' | 'session'
  readonly session_id: string | null
  readonly namespace: string | null
  readonly importance: number
  readonly pinned: boolean
  readonly metadata: JsonObject
  readonly source: string
  readonly speaker: string | null
  /** Actor of the write that made it; null for one that was written as it is. */
  readonly receipt: string | null
  readonly redacted: readonly string[]
  readonly facts: readonly FactData[]
  readonly observed_at_ms: number
  readonly valid_from_ms: number | null
  readonly valid_to_ms: number | null
  readonly superseded_by: string | null
  /** Embedder of `vector`, which is a byte a dimension in base64. */
  readonly embedder: string | null
  readonly vector: string | null
  /** Day of the newest hit; null for none. */
  readonly used_at_ms: number | null
  readonly versions: readonly VersionData[]
}

/** The newest changes of one user's memories, for the indexes of other nodes. */
export type MemoryChangesData = {
  readonly owner: string
  readonly recent: readonly { readonly version: number; readonly ids: readonly string[] }[]
}

/** A removal by filter. It names the user by a hash: it stays when they are forgotten. */
export type ForgetData = {
  readonly by: readonly string[]
  readonly forgotten: number
}

/** How far the memories of a project have vectors: those up to the id `after`, of this embedder. One row a project, of the installation. */
export type MemoryVectorsData = {
  readonly project: string
  readonly embedder: string | null
  readonly after: string | null
}

/** What was counted of one period against an allowance. */
export type MemoryCountData = { readonly used: number }

export const memories: TypedKind<MemoryData> = {
  name: 'memories',
  filters: ['owner'],
  outbox: true,
  unexported: ['owner', 'vector'],
}

export const memoryChanges: TypedKind<MemoryChangesData> = {
  name: 'memory_changes',
  unique: [{ fields: ['owner'] }],
  exported: null,
}

export const memoryForgets: TypedKind<ForgetData> = {
  name: 'memory_forgets',
  outbox: true,
  exported: null,
}

/** Id of a project's row of `memory_vectors`. */
export const memoryVectorsId = (project: string): string => `mvc_${project.slice('prj_'.length)}`

export const memoryVectors: TypedKind<MemoryVectorsData> = {
  name: 'memory_vectors',
  exported: null,
  ofProject: memoryVectorsId,
}

export const memoryCounts: TypedKind<MemoryCountData> = { name: 'memory_counts', exported: null }

/** List rows of writes: their receipts. */
export const memoryWriteRows: AnyKind = { name: 'memory_writes', filters: ['owner', 'status'], exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const memoryKinds: readonly AnyKind[] = [
  ...[memories, memoryChanges, memoryForgets],
  ...[memoryVectors, memoryCounts, memoryWriteRows],
]
