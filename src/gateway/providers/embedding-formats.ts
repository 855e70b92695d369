import type { WireFormat } from '#specs/data/providers.ts'
import type { EmbeddingFormat } from './embedding-format.ts'
import { googleEmbeddings } from './google/google-embeddings.ts'
import { openAiEmbeddings } from './openai/openai-embeddings.ts'

const formats: Readonly<Partial<Record<WireFormat, EmbeddingFormat>>> = {
  openai: openAiEmbeddings,
  google: googleEmbeddings,
  perplexity: openAiEmbeddings,
}

/** Returns the embeddings API of a wire format; null when providers of this format have none. */
export const embeddingFormat = (format: WireFormat): EmbeddingFormat | null => formats[format] ?? null
