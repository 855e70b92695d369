import { streamedFailure } from '#gateway/call/failure.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, countOf, isObject, objectOf } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { Embedded, EmbeddingFormat, EmbeddingInput } from '../embedding-format.ts'
import { isVector } from '../openai/openai-embeddings.ts'
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
    const texts = inputs.map(textIn)
    const shape = dimensions === null ? {} : { outputDimensionality: dimensions }
    const headers = { 'content-type': 'application/json', ...googleHeaders(route) }
    return batches(texts).map((batch) => ({
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

const textIn = (input: EmbeddingInput): string => {
  if (typeof input === 'string') return input
  throw invalidField('input', 'This provider accepts texts, not tokens.')
}

const batches = (texts: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(texts.length / maxBatch) }, (_, at) => texts.slice(at * maxBatch, (at + 1) * maxBatch))

function embedded(
  json: unknown,
  model: string,
  { count, shortened }: { readonly count: number; readonly shortened: boolean },
): Embedded {
  const { embeddings, usageMetadata, error } = objectOf(json)
  if (isObject(error)) throw streamedFailure(error)
  const vectors = arrayOf(embeddings).map((embedding) => objectOf(embedding).values)
  if (vectors.length !== count || !vectors.every(isVector)) throw unreadableEmbeddings()
  const tokens = objectOf(usageMetadata).promptTokenCount
  return {
    model,
    vectors: shortened ? vectors.map(unitVector) : vectors,
    inputTokens: typeof tokens === 'number' ? countOf(tokens) : null,
  }
}
