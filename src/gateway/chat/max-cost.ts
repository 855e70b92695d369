import { Decimal } from 'decimal.js'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { heldPrice } from '../call/accounting/route-price.ts'
import { estimateTokens } from '../call/accounting/token-estimate.ts'
import type { Ticket, TokenNeed } from '../call/admission.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Route } from '../call/routes.ts'
import { costOfUnits } from '../prices/prices.ts'
import type { TokenUsage } from '../prices/usage.ts'
import { ownRequestField } from '../providers/anthropic/anthropic-request.ts'

/**
 * Tokens added for a request, and for each object in its messages (a message, a part, a tool call), in addition to the
 * texts. Tokenizers add 3 to 4 for a message; a count by length includes the names of fields, and the gateway's options.
 */
const tokensARequest = 32
const tokensAnObject = 8

/** Maximum number of tokens that any known model counts for an image. */
export const tokensAnImage = 50_000

/** Assumed maximum length of an answer in tokens, for models whose limit is unknown. */
export const longestAnswer = 128_000

/** Minimum length in tokens to which an answer is limited when the budget does not afford a longer one. */
const shortestAnswer = 256

/** Whether the request limits the length of its answer. */
const hasTokenLimit = ({ max_completion_tokens, max_tokens }: ChatBody): boolean =>
  (countOf(max_completion_tokens) || countOf(max_tokens)) > 0

/**
 * Returns the maximum cost of a chat call in USD as decimal text, by which a budget is reserved; null when the price is
 * unknown.
 *
 * @param outputTokens of each answer; default: the maximum that the request or the model allows.
 */
export const maxCostOf = (body: ChatBody, route: Route, outputTokens?: number): string | null => {
  const row = heldPrice(route)
  if (row === undefined) return null
  const answers = Math.max(1, countOf(body.n))
  const longest = outputTokens ?? longestOf(body, row.max_output)
  const read = inputTokens(body)
  // marked input may all be written to the cache for a long time, which costs more than reading it
  const written = read.isCached ? { cacheWriteTokens: read.tokens, cacheWriteLongTokens: read.tokens } : {}
  const heard = read.isHeard ? { audioInputTokens: read.tokens } : {}
  const spoken = arrayOf(body.modalities).includes('audio') ? { audioOutputTokens: longest * answers } : {}
  const tokens = {
    inputTokens: read.tokens,
    outputTokens: longest * answers,
    cachedTokens: 0,
    ...written,
    ...heard,
    ...spoken,
    reasoningTokens: 0,
    ...requestedPlace(body),
  }
  return costOfUnits(row, { tokens })
}

/** The place and the speed that a request to Anthropic names, by which its price is multiplied. */
export const requestedPlace = (body: ChatBody): Pick<TokenUsage, 'inferenceGeo' | 'speed'> => {
  const { inference_geo, speed } = objectOf(body[ownRequestField])
  return {
    ...(typeof inference_geo === 'string' && { inferenceGeo: inference_geo }),
    ...(speed === 'fast' && { speed }),
  }
}

/** The same for the shortest answer; null also for a request that limits its answer itself. */
export const minCostOf = (body: ChatBody, route: Route): string | null =>
  hasTokenLimit(body) ? null : maxCostOf(body, route, shortestAnswer)

/**
 * Returns the number of output tokens that this amount of USD affords; null when it affords the longest answer.
 *
 * @param usd at least the cost of the shortest answer.
 */
export const affordableTokens = (body: ChatBody, route: Route, usd: string): number | null => {
  const longest = longestOf(body, heldPrice(route)?.max_output)
  const [max, min] = [maxCostOf(body, route, longest), maxCostOf(body, route, shortestAnswer)]
  if (max === null || min === null || new Decimal(max).lessThanOrEqualTo(usd)) return null
  const perToken = new Decimal(max).minus(min).dividedBy(longest - shortestAnswer)
  return shortestAnswer + new Decimal(usd).minus(min).dividedBy(perToken).floor().toNumber()
}

/** Minimum length in tokens to which an answer is limited when a limit of tokens per minute has too few left. */
const shortestAnswerPerMinute = 4_096

/**
 * Returns the tokens that a call may use. If the caller sets no limit on its length, the answer can be limited to what
 * a limit of tokens per minute has left.
 */
export const neededTokens = (body: ChatBody, route: Route): TokenNeed => {
  const answers = Math.max(1, countOf(body.n))
  const longest = longestOf(body, heldPrice(route)?.max_output)
  const { tokens } = inputTokens(body)
  const max = tokens + longest * answers
  if (hasTokenLimit(body)) return { max }
  return { max, min: tokens + Math.min(longest, shortestAnswerPerMinute) * answers }
}

/** Returns the number of output tokens that a ticket limits an answer to; null for no limit. */
export const limitedTokens = (
  body: ChatBody,
  route: Route,
  { limitedToUsd, limitedToTokens }: Pick<Ticket, 'limitedToUsd' | 'limitedToTokens'>,
): number | null => {
  const affordable = limitedToUsd === undefined ? null : affordableTokens(body, route, limitedToUsd)
  if (limitedToTokens === undefined) return affordable
  return Math.min(affordable ?? Number.POSITIVE_INFINITY, answerTokens(body, limitedToTokens))
}

/** Returns the length of each answer of a call that may use this number of tokens. */
const answerTokens = (body: ChatBody, tokens: number): number =>
  Math.max(1, Math.floor((tokens - inputTokens(body).tokens) / Math.max(1, countOf(body.n))))

const longestOf = ({ max_completion_tokens, max_tokens }: ChatBody, max: number | undefined): number =>
  Math.min(countOf(max_completion_tokens) || countOf(max_tokens) || max || longestAnswer, Number.MAX_SAFE_INTEGER)

interface Input {
  readonly tokens: number
  readonly isCached: boolean
  readonly isHeard: boolean
}

const counted = new WeakMap<ChatBody, Input>()

/** Counts the input tokens of a request, once for all routes that are tried. */
const inputTokens = (body: ChatBody): Input => {
  const known = counted.get(body)
  if (known !== undefined) return known
  const found: Found = { texts: [], objects: 0, images: 0, dataChars: 0, isCached: false, isHeard: false }
  const { messages, model: _model, models: _models, memory: _memory, ...rest } = body
  collect(messages, found)
  // tools and response formats are sent as JSON
  found.texts.push(JSON.stringify(rest))
  const input = {
    tokens:
      estimateTokens(found.texts) +
      tokensARequest +
      found.objects * tokensAnObject +
      found.images * tokensAnImage +
      found.dataChars,
    isCached: found.isCached,
    isHeard: found.isHeard,
  }
  counted.set(body, input)
  return input
}

interface Found {
  readonly texts: string[]
  objects: number
  images: number
  /** Characters of audio and files, each of which may be a token. */
  dataChars: number
  isCached: boolean
  isHeard: boolean
}

const collect = (value: unknown, found: Found): void => {
  if (typeof value === 'string') found.texts.push(value)
  else if (Array.isArray(value)) for (const each of value) collect(each, found)
  else if (isObject(value)) collectObject(value, found)
}

const collectObject = (value: WireObject, found: Found): void => {
  found.objects++
  if (value.cache_control !== undefined) found.isCached = true
  if (value.type === 'image_url') found.images++
  else if (value.type === 'input_audio' || value.type === 'file') {
    found.isHeard ||= value.type === 'input_audio'
    found.dataChars += dataLength(value)
  } else for (const each of Object.values(value)) collect(each, found)
}

const dataLength = (value: unknown): number => {
  if (!isObject(value)) return textOf(value).length
  return Object.values(value).reduce<number>((sum, each) => sum + dataLength(each), 0)
}
