import type { Embedder } from '#retrieval/embedder.ts'
import type { MemoryOwner } from '../memory-owner.ts'

/** What embeddings of one request came to. */
export interface Embedded {
  readonly vectors: readonly Float32Array[]
  readonly costUsd: number
  readonly model: string | null
  readonly provider: string | null
}

/** Makes vectors of texts for a project. */
export interface MemoryEmbedder {
  /** Names what makes the vectors: vectors of different ids are never compared. */
  readonly id: string
  /** @throws {ServiceError} when it cannot. */
  embed(texts: readonly string[], kind: 'query' | 'passage', owner: MemoryOwner): Promise<Embedded>
}

/** The embedder of a project by its settings; null for none: memories are found by their words. */
export type EmbedderOf = (project: string) => Promise<MemoryEmbedder | null>

/** A local embedder costs nothing. */
export const freeEmbedder = (local: Embedder): MemoryEmbedder => ({
  id: local.id,
  embed: async (texts, kind) => ({
    vectors: await local.embed(texts, kind),
    costUsd: 0,
    model: local.id,
    provider: 'local',
  }),
})
