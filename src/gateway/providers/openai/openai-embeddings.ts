import { countOrNull } from '#gateway/call/accounting/counted.ts'
import { statusFailure, streamedFailure } from '#gateway/call/failure.ts'
import { type Route, wireModelOf } from '#gateway/call/routes.ts'
import { renamedModel } from '#outgoing/renamed-model.ts'
import { encodeJson, type WireBody } from '#outgoing/shares/encode-in-steps.ts'
import { arrayOf, isObject, objectOf, textOf } from '#outgoing/wire.ts'
import type { Embedded, EmbeddingFormat, EmbeddingRequest } from '../embedding-format.ts'
import { bearer } from '../provider-format.ts'
import { unreadableEmbeddings } from '../unreadable-embeddings.ts'
import type { WireVector } from '../vector-encoding.ts'

/** OpenAI's embeddings API. The caller's body is passed through, including fields that only the provider knows. */
export const openAiEmbeddings: EmbeddingFormat = {
  requests: (request, route) => [
    {
      path: '/embeddings',
      headers: { 'content-type': 'application/json', ...bearer(route) },
      body: bodyFor(request, route),
      answer: (json) => embedded(json, request.inputs.length),
    },
  ],
  failure: statusFailure,
}

function bodyFor({ body, bytes }: EmbeddingRequest, route: Route): WireBody {
  const model = wireModelOf(route)
  const anew = (): WireBody => {
    const { models: _models, ...rest } = body
    return encodeJson({ ...rest, model })
  }
  if (bytes === null || body.models !== undefined) return anew()
  const named = body.model === model ? bytes : renamedModel(bytes, model)
  return named instanceof Promise ? named.then((late) => late ?? anew()) : (named ?? anew())
}

function embedded(json: unknown, count: number): Embedded {
  const { data, model, usage, error } = objectOf(json)
  if (isObject(error)) throw streamedFailure(error)
  const vectors: (WireVector | undefined)[] = Array.from({ length: count })
  for (const [place, row] of arrayOf(data).entries()) {
    const { index: given, embedding } = objectOf(row)
    const index = given ?? place
    // a list with one far index takes minutes to walk
    if (!Number.isInteger(index) || Number(index) < 0 || Number(index) >= count) throw unreadableEmbeddings()
    vectors[Number(index)] = vectorOf(embedding)
  }
  const whole = vectors.filter((vector) => vector !== undefined)
  if (whole.length !== count) throw unreadableEmbeddings()
  const tokens = objectOf(usage).prompt_tokens ?? objectOf(usage).total_tokens
  return { model: textOf(model), vectors: whole, inputTokens: countOrNull(tokens) }
}

const vectorOf = (embedding: unknown): WireVector | undefined => {
  if (typeof embedding === 'string' && embedding !== '') return embedding
  return isVector(embedding) ? embedding : undefined
}

/** Whether the value is a non-empty array of finite numbers: JSON's `1e999` is read as none. */
export const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => Number.isFinite(each))
