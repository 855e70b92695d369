import { countOrNull } from '#gateway/call/accounting/counted.ts'
import { streamedFailure } from '#gateway/call/failure.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, isObject, objectOf } from '#outgoing/wire.ts'
import type { Embedded, EmbeddingFormat } from '../embedding-format.ts'
import { isVector } from '../openai/openai-embeddings.ts'
import { textBatches } from '../text-batches.ts'
import { unreadableEmbeddings } from '../unreadable-embeddings.ts'
import { unitVector } from '../vector-encoding.ts'
import { googleFailure } from './google-failure.ts'
import { googleHeaders, modelPath } from './google-format.ts'

/** Maximum inputs per request. */
const maxBatch = 100

/**
 * Google's batchEmbedContents. Vectors shortened to fewer dimensions are not unit length; they are normalised, as
 * OpenAI's are.
 */
export const googleEmbeddings: EmbeddingFormat = {
  requests({ inputs, dimensions }, route) {
    const shape = dimensions === null ? {} : { outputDimensionality: dimensions }
    const headers = { 'content-type': 'application/json', ...googleHeaders(route) }
    return textBatches(inputs, maxBatch).map((batch) => ({
      path: modelPath(route.model, 'batchEmbedContents'),
      headers,
      body: encodeJson({
        requests: batch.map((text) => ({ model: `models/${route.model}`, content: { parts: [{ text }] }, ...shape })),
      }),
      answer: (json) => embedded(json, route.model, { count: batch.length, shortened: dimensions !== null }),
    }))
  },
  failure: googleFailure,
}

function embedded(
  json: unknown,
  model: string,
  { count, shortened }: { readonly count: number; readonly shortened: boolean },
): Embedded {
  const { embeddings, usageMetadata, error } = objectOf(json)
  if (isObject(error)) throw streamedFailure(error)
  const vectors = arrayOf(embeddings).map((embedding) => objectOf(embedding).values)
  if (vectors.length !== count || !vectors.every(isVector)) throw unreadableEmbeddings()
  return {
    model,
    vectors: shortened ? vectors.map(unitVector) : vectors,
    inputTokens: countOrNull(objectOf(usageMetadata).promptTokenCount),
  }
}
