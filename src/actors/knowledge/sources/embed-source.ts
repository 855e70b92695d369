import type { Logger } from 'pino'
import type { EmbeddedProjectList } from '#actors/capability/embedder-port.ts'
import type { SourceContext } from '#machines/knowledge-source/knowledge-source.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import type { Embedder } from '#retrieval/index.ts'
import { type Clock, contextOf, type EffectContext, type IdempotentEffect } from '#runtime/index.ts'
import { StoreUnavailable, type VectorStore } from '#storage/index.ts'
import type { BaseSizes } from './base-sizes.ts'
import type { SourceBlobs } from './source-blobs.ts'
import type { SearchableVectors } from './stored-vectors.ts'
import { blobOwnerOf } from './sync-source.ts'
import { embedDocument } from './vector-store.ts'

/** Returns the embedder of a project's knowledge; null when chunks are found by their words only. */
export type EmbedderOf = (project: string) => Promise<Pick<Embedder, 'id' | 'embed'> | null>

export interface EmbedParts {
  readonly clock: Clock
  readonly blobs: SourceBlobs
  readonly embedderOf: EmbedderOf
  readonly projects: Pick<EmbeddedProjectList, 'note'>
  /** null for a store that cannot search vectors. */
  readonly vectors: VectorStore | null
  readonly sizes: Pick<BaseSizes, 'total'>
  readonly log: Pick<Logger, 'warn'>
  /** Called when the contents of a base have changed. */
  readonly changed: (base: string) => void
  /** In [0, 1). */
  readonly random: () => number
}

/** Embeds the chunks of a source, and removes the blobs that it no longer references. A failing embedder is retried. */
export const embedSource = (parts: EmbedParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context) => {
    const source = contextOf(sourceDefinition, context)
    await parts.projects.note(context.owner.project)
    try {
      const vectors = await embedded(parts, source, context)
      const { document, upload } = source
      const named = [document?.text, document?.chunks, upload?.parts, vectors?.parts].flatMap((names) => names ?? [])
      await parts.blobs.keepOnly(blobOwnerOf(context), named, context.signal)
      parts.changed(source.knowledge_base_id)
      return { event: { type: 'embedded', vectors } }
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      return { event: { type: 'embed_failed', jitter: parts.random() } }
    }
  },
})

const embedded = async (parts: EmbedParts, source: SourceContext, context: EffectContext) => {
  const { blobs, embedderOf, clock } = parts
  const { document, vectors: before, knowledge_base_id: base } = source
  const owner = blobOwnerOf(context)
  const embedder = await embedderOf(owner.project)
  if (embedder === null || document === null) return null
  const searchable = await searchableOf(parts, { project: owner.project, base, embedder: embedder.id })
  return embedDocument(blobs, embedder, { owner, document, before, searchable, clock, signal: context.signal })
}

/** Vectors of small bases are not stored twice: they are searched in the process. */
const searchableOf = async (
  { vectors, sizes, log }: EmbedParts,
  { project, base, embedder }: { readonly project: string; readonly base: string; readonly embedder: string },
): Promise<SearchableVectors | null> => {
  if (vectors === null || (await sizes.total(project, base)) < vectors.min) return null
  return { vectors, base, embedder, log }
}
