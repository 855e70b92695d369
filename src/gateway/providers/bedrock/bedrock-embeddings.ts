import { countOrNull } from '#gateway/call/accounting/counted.ts'
import type { AnswerHeaders } from '#gateway/call/attempt.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Embedded, EmbeddingFormat, EmbeddingRequest } from '../embedding-format.ts'
import { isVector } from '../openai/openai-embeddings.ts'
import type { ProviderFormat } from '../provider-format.ts'
import { textBatches } from '../text-batches.ts'
import { unreadableEmbeddings } from '../unreadable-embeddings.ts'

/** The bodies of a vendor's embedding models. */
interface Vendor {
  readonly models: RegExp
  /** Maximum texts per request. */
  readonly maxTexts: number
  readonly bodyOf: (texts: readonly string[], request: EmbeddingRequest) => WireObject
  readonly vectorsOf: (answer: WireObject) => readonly unknown[]
}

const vendors: readonly Vendor[] = [
  {
    models: /(?:^|\.)amazon\.titan-embed-(?:g1-)?text-/,
    maxTexts: 1,
    bodyOf: ([inputText], { dimensions }) => ({ inputText, ...(dimensions !== null && { dimensions }) }),
    vectorsOf: ({ embedding }) => [embedding],
  },
  {
    models: /(?:^|\.)cohere\.embed-/,
    maxTexts: 96,
    // Cohere requires a purpose, which OpenAI's API does not have
    bodyOf: (texts, { body: { input_type, truncate }, dimensions }) => ({
      ...{ texts, input_type: textOf(input_type) || 'search_document' },
      ...(truncate !== undefined && { truncate }),
      ...(dimensions !== null && { output_dimension: dimensions }),
    }),
    vectorsOf: ({ embeddings }) => arrayOf(isObject(embeddings) ? embeddings.float : embeddings),
  },
]

/** Whether a model embeds texts by an API that is known here. */
export const isBedrockEmbedder = (id: string): boolean => vendors.some(({ models }) => models.test(id))

/** Embeddings by InvokeModel, whose body is that of the model's vendor: Amazon's Titan and Cohere. */
export const bedrockEmbeddings = (
  headers: ProviderFormat['headers'],
  failure: EmbeddingFormat['failure'],
): EmbeddingFormat => ({
  requests(request, route) {
    const vendor = vendors.find(({ models }) => models.test(route.model))
    if (vendor === undefined) throw new ServiceError('model_not_found', { param: 'model' })
    return textBatches(request.inputs, vendor.maxTexts).map((texts) => ({
      path: `/model/${encodeURIComponent(route.model)}/invoke`,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers(route) },
      body: encodeJson(vendor.bodyOf(texts, request)),
      answer: (json, received) =>
        embedded(objectOf(json), vendor, { model: route.model, count: texts.length, received }),
    }))
  },
  failure,
})

const embedded = (
  answer: WireObject,
  { vectorsOf }: Vendor,
  { model, count, received }: { readonly model: string; readonly count: number; readonly received: AnswerHeaders },
): Embedded => {
  const vectors = vectorsOf(answer)
  if (vectors.length !== count || !vectors.every(isVector)) throw unreadableEmbeddings()
  return { model, vectors, inputTokens: countOrNull(answer.inputTextTokenCount ?? countIn(received)) }
}

/** Tokens of an answer whose vendor's body has no count, as Cohere's. */
const countIn = ({ 'x-amzn-bedrock-input-token-count': count }: AnswerHeaders): number | undefined =>
  typeof count === 'string' && /^\d{1,15}$/.test(count) ? Number(count) : undefined
