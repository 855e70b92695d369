import type { WireObject } from '#outgoing/wire.ts'
import { tokensOfChars } from '../call/accounting/usage.ts'
import type { EmbeddingInput, EmbeddingRequest } from '../providers/embedding-format.ts'
import { isVector } from '../providers/openai/openai-embeddings.ts'

/** Reads a validated body in OpenAI's format. @param bytes the raw body; null when it was not kept. */
export const embeddingRequest = (body: WireObject, bytes: Uint8Array | null): EmbeddingRequest => ({
  body,
  bytes,
  inputs: inputsOf(body.input),
  dimensions: typeof body.dimensions === 'number' ? body.dimensions : null,
  encoding: body.encoding_format === 'base64' ? 'base64' : 'float',
})

/** Returns the inputs: a list of numbers is one input; of any other list each item is one. */
const inputsOf = (input: unknown): readonly EmbeddingInput[] => {
  if (typeof input === 'string' || isVector(input)) return [input]
  return Array.isArray(input) ? input.filter((each) => typeof each === 'string' || isVector(each)) : []
}

/** Estimates tokens by length, for providers that report no count. */
export const inputTokensOf = ({ inputs }: EmbeddingRequest): number =>
  inputs.reduce((sum, input) => sum + (typeof input === 'string' ? tokensOfChars(input.length) : input.length), 0)
