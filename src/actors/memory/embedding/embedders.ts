import type { Embedded, ProjectEmbedder } from '#actors/capability/embedder-port.ts'
import type { Embedder } from '#retrieval/index.ts'

export type { Embedded }

/** Makes vectors of a project's memories. */
export type MemoryEmbedder = ProjectEmbedder

/** Returns the embedder that a project's settings select; null when memories are found by their words only. */
export type EmbedderOf = (project: string) => Promise<MemoryEmbedder | null>

/** Wraps a local embedder, which costs nothing. */
export const freeEmbedder = (local: Embedder): MemoryEmbedder => ({
  id: local.id,
  embed: async (texts, kind) => ({
    vectors: await local.embed(texts, kind),
    costUsd: 0,
    model: local.id,
    provider: 'local',
  }),
  read: async (question, texts) => (await local.read?.(question, texts)) ?? null,
  compare: async (text, older) => (await local.compare?.(text, older)) ?? null,
})
