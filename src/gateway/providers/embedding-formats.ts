import type { WireFormat } from '#specs/data/providers.ts'
import type { EmbeddingFormat } from './embedding-format.ts'
import { googleEmbeddings } from './google/google-embeddings.ts'
import { openAiEmbeddings } from './openai/openai-embeddings.ts'

const formats: Readonly<Partial<Record<WireFormat, EmbeddingFormat>>> = {
  openai: openAiEmbeddings,
  google: googleEmbeddings,
  perplexity: openAiEmbeddings,
}

/** null: providers of this format embed nothing. */
export const embeddingFormat = (format: WireFormat): EmbeddingFormat | null => formats[format] ?? null
