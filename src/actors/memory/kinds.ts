import type { JsonObject } from '#storage/index.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'

/** A fact that a memory states; times in ms since the epoch. */
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
  /** Found in a content that its caller stored verbatim: it supersedes, but belongs to no graph and no response. */
  readonly implied?: boolean
}

/** A part of a content that a newer memory superseded. */
export type SupersededPart = {
  readonly text: string
  readonly valid_to_ms: number
  /** The memory that superseded it. */
  readonly by: string
}

/** Content of a memory before a change. */
type VersionData = {
  readonly content: string
  readonly valid_from_ms: number | null
  readonly valid_to_ms: number | null
  readonly at_ms: number
}

/** A fact or text that is remembered about an end user. The row's `user` is the external id; its `tenant` may be null. */
export type MemoryData = {
  /** The `ownerKey` of its user, by which the memories of one user are looked up, with or without a tenant. */
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
  /** Actor of the write that created the memory; null when it was written directly. */
  readonly receipt: string | null
  readonly redacted: readonly string[]
  readonly facts: readonly FactData[]
  readonly observed_at_ms: number
  readonly valid_from_ms: number | null
  readonly valid_to_ms: number | null
  readonly superseded_by: string | null
  /** Parts of the content that no longer hold while others do; absent when there are none. */
  readonly superseded?: readonly SupersededPart[]
  /** An older memory that this one may supersede, which is not sure; absent: none. */
  readonly doubts?: string
  /** Why the content is not given to a model as it is; absent when nothing is suspected. */
  readonly flags?: readonly MemoryFlag[]
  /** Embedder of `vector`, which has one byte per dimension, in base64. */
  readonly embedder: string | null
  readonly vector: string | null
  /** Start of the day of the latest hit; null when it was never found. */
  readonly used_at_ms: number | null
  readonly versions: readonly VersionData[]
}

/** Suspicion about a content: it contains instructions to a model. */
export type MemoryFlag = 'instructions'

/**
 * The latest changes of one user's memories, from which other nodes update their indexes, and the write that is being
 * carried out.
 */
export type MemoryChangesData = {
  readonly owner: string
  readonly recent: readonly { readonly version: number; readonly ids: readonly string[] }[]
  readonly pending?: PendingWrite | null
  /** Processes whose writes came second, the one that has the next turn first. */
  readonly waiting?: readonly WaitingProcess[]
}

type WaitingProcess = {
  readonly process: string
  /** ms since the epoch. */
  readonly at_ms: number
}

/** The end that a decided write gives to an older memory. */
type PendingEnd = {
  readonly id: string
  readonly facts: readonly FactData[]
  readonly by: string
  readonly parts?: readonly SupersededPart[]
}

/** A decided write: the memories to store and what they supersede. It is one message in the row of its user's memory. */
export type PendingWrite = {
  readonly token: string
  /** ms since the epoch. */
  readonly at_ms: number
  readonly rows: readonly JsonObject[]
  readonly ends: readonly PendingEnd[]
}

/** A deletion by filter. It does not name the user, so it can stay after the user's memories are deleted. */
export type ForgetData = {
  readonly by: readonly string[]
  readonly forgotten: number
}

/**
 * Progress of a project's embedding: memories up to the id `after` have vectors from `embedder`. One row per project,
 * owned by the installation.
 */
export type MemoryVectorsData = {
  readonly project: string
  readonly embedder: string | null
  readonly after: string | null
}

/** Operations counted against an allowance in one period. */
export type MemoryCountData = {
  readonly used: number
  /** The effects that were counted last. */
  readonly latest?: readonly string[]
}

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

/** Returns the id of a project's row in `memory_vectors`. */
export const memoryVectorsId = (project: string): string => `mvc_${project.slice('prj_'.length)}`

export const memoryVectors: TypedKind<MemoryVectorsData> = {
  name: 'memory_vectors',
  exported: null,
  ofProject: memoryVectorsId,
}

export const memoryCounts: TypedKind<MemoryCountData> = { name: 'memory_counts', exported: null }

/** List rows of the writes, which are their receipts. */
export const memoryWriteRows: AnyKind = { name: 'memory_writes', filters: ['owner', 'status'], exported: null }

/** All record kinds of this folder, for `RecordStore.prepare`. */
export const memoryKinds: readonly AnyKind[] = [
  ...[memories, memoryChanges, memoryForgets],
  ...[memoryVectors, memoryCounts, memoryWriteRows],
]
