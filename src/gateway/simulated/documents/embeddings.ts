import type { ServerResponse } from 'node:http'
import { tokensOfChars } from '#gateway/call/accounting/usage.ts'
import { arrayOf, type WireObject } from '#outgoing/wire.ts'
import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import { sendError, sendJson } from '../respond.ts'
import { embeddingDimensions, embedText, encodeVector } from './embedding.ts'

/** Limits of OpenAI's API. */
const maxInputs = 2048
const maxDimensions = 3072
/** Characters of a text that its vector depends on: about 8,000 tokens. */
const maxEmbedded = 32 * 1024

/** Serves `/v1/embeddings`: one or more texts or lists of token ids, with the requested dimensions. */
export const embeddings = async (request: WireObject, response: ServerResponse): Promise<void> => {
  const texts = textsOf(request.input)
  const dimensions = request.dimensions ?? embeddingDimensions
  if (texts === null) sendError(response, 400, 'invalid_input')
  else if (!isDimensions(dimensions)) sendError(response, 400, 'invalid_dimensions')
  else sendJson(response, 200, await runInSlices(embeddingList(request, texts, dimensions)))
}

function* embeddingList(request: WireObject, texts: readonly Counted[], dimensions: number): SlicedWork<object> {
  const tokens = texts.reduce((sum, { tokens: each }) => sum + each, 0)
  const data: object[] = []
  for (const [index, { text }] of texts.entries()) {
    const vector = embedText(text.slice(0, maxEmbedded), dimensions)
    const embedding = request.encoding_format === 'base64' ? encodeVector(vector) : vector
    data.push({ object: 'embedding', index, embedding })
    yield
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  return { object: 'list', data, model: request.model, usage }
}

interface Counted {
  readonly text: string
  readonly tokens: number
}

/** Returns null for invalid input: none, empty texts, or unreadable items. */
const textsOf = (input: unknown): readonly Counted[] | null => {
  const one = typeof input === 'string' || isTokens(input)
  const inputs = (one ? [input] : arrayOf(input)).map(textOfInput)
  const texts = inputs.filter((each) => each !== null)
  return texts.length === 0 || texts.length !== inputs.length || texts.length > maxInputs ? null : texts
}

const textOfInput = (input: unknown): Counted | null => {
  if (typeof input === 'string') return input === '' ? null : { text: input, tokens: tokensOfChars(input.length) }
  return isTokens(input) ? { text: input.join(' '), tokens: input.length } : null
}

const isTokens = (input: unknown): input is readonly number[] =>
  Array.isArray(input) && input.length > 0 && input.every((token) => Number.isSafeInteger(token))

const isDimensions = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= maxDimensions
