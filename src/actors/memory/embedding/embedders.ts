import type { Embedded, ProjectEmbedder } from '#actors/capability/embedder-port.ts'
import type { Embedder } from '#retrieval/embedder.ts'

export type { Embedded }

/** Makes vectors of a project's memories. */
export type MemoryEmbedder = ProjectEmbedder

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
