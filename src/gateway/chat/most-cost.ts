import { arrayOf, countOf, isObject, objectOf, textOf } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'
import type { Route } from '../call/routes.ts'
import { costOfUnits, priceAt } from '../prices/prices.ts'

/** No tokeniser makes more tokens of a text than it has bytes. */
const tokensAByte = 1

/** The most that a picture is counted as by any model that we know. */
const tokensAnImage = 50_000

/** For models whose longest answer nobody knows. */
const longestAnswer = 128_000

/** What a chat call costs at most, in USD as decimal text; null when the price is not known. Pessimistic: it holds a budget. */
export const mostCostOf = (body: ChatBody, route: Route): string | null => {
  const row = priceAt(route.provider, route.model)
  if (row === undefined) return null
  const answers = Math.max(1, countOf(body.n))
  const longest = countOf(body.max_completion_tokens) || countOf(body.max_tokens) || row.max_output || longestAnswer
  const text = JSON.stringify(body)
  const read = inputTokens(body, text)
  // what callers mark for the cache may all be written to it, for long, which costs more than reading it
  const written = text.includes('"cache_control"') ? { cacheWriteTokens: read, cacheWriteLongTokens: read } : {}
  const heard = text.includes('"input_audio"') ? { audioInputTokens: read } : {}
  const spoken = arrayOf(body.modalities).includes('audio') ? { audioOutputTokens: longest * answers } : {}
  const tokens = {
    inputTokens: read,
    outputTokens: longest * answers,
    cachedTokens: 0,
    ...written,
    ...heard,
    ...spoken,
    reasoningTokens: 0,
  }
  return costOfUnits(row, { tokens })
}

const inputTokens = (body: ChatBody, text: string): number => {
  const images = arrayOf(body.messages).flatMap((message) => arrayOf(objectOf(message).content).filter(isImage))
  const encoded = images.reduce<number>((sum, image) => sum + urlOf(image).length, 0)
  return (Buffer.byteLength(text) - encoded) * tokensAByte + images.length * tokensAnImage
}

const isImage = (part: unknown): boolean => isObject(part) && part.type === 'image_url'

const urlOf = (image: unknown): string => {
  const { image_url } = objectOf(image)
  return textOf(image_url) || textOf(objectOf(image_url).url)
}
