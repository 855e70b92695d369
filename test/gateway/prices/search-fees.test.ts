import { expect, it } from 'vitest'
import { costOfUnits, priceOf } from '#gateway/prices/prices.ts'
import { anthropicUsage } from '#gateway/providers/anthropic/anthropic-usage.ts'
import { decoded, requestOf, sse } from '#test/gateway/providers/format-harness.ts'

const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 }
const fee = (model: string, searches: object) => costOfUnits(priceOf(model), { tokens: { ...nothing, ...searches } })

it.each([
  ['openai/gpt-5', { searches: 3 }, '0.03'],
  ['openai/gpt-4o', { searches: 3 }, '0.03'],
  ['openai/gpt-4o', { previewSearches: 3 }, '0.075'],
  ['openai/gpt-5', { previewSearches: 3 }, '0.03'],
  ['anthropic/claude-haiku-4-5', { searches: 2 }, '0.02'],
  ['google/gemini-2.5-flash', { searches: 3 }, '0.035'],
  ['google/gemini-3-flash-preview', { searches: 3 }, '0.042'],
  ['xai/grok-4.20', { searches: 2 }, '0.01'],
  ['vertex/claude-opus-4-7', { searches: 2 }, '0.02'],
  ['mistral/mistral-small-latest', { searches: 2 }, '0'],
])('the searches of %s %o cost %s', (model, searches, usd) => {
  expect(fee(model, searches)).toBe(usd)
})

it('the searches of Anthropic are read from its usage', () => {
  const usage = { input_tokens: 1, output_tokens: 1, server_tool_use: { web_search_requests: 2 } }
  expect(anthropicUsage(usage)).toMatchObject({ searches: 2 })
})

it.each([
  ['anthropic/claude-opus-4-7', { speed: 'fast' }, '0.0048'],
  ['anthropic/claude-opus-4-8', { speed: 'fast' }, '0.0016'],
  ['anthropic/claude-opus-4-7', { inferenceGeo: 'us' }, '0.00088'],
  ['anthropic/claude-opus-4-7', { speed: 'fast', inferenceGeo: 'us', searches: 1 }, '0.01528'],
  ['anthropic/claude-opus-4-7', { inferenceGeo: 'eu' }, '0.0008'],
  ['vertex/claude-opus-4-7', { inferenceGeo: 'us' }, '0.0008'],
] as const)('the tokens of %s with %o cost %s, and searches as much as else', (model, more, usd) => {
  const usage = { ...nothing, inputTokens: 120, cachedTokens: 100, outputTokens: 26 }
  expect(costOfUnits(priceOf(model), { tokens: { ...usage, ...more } })).toBe(usd)
})

it('the place and the speed of a call of Anthropic are read from its usage, and summaries cost as much', () => {
  const iterations = [{ type: 'compaction', input_tokens: 5, output_tokens: 1 }]
  const usage = { input_tokens: 1, output_tokens: 1, inference_geo: 'us', speed: 'fast', iterations }
  expect(anthropicUsage(usage)).toMatchObject({ inputTokens: 6, inferenceGeo: 'us', speed: 'fast' })
  const plain = anthropicUsage({ input_tokens: 1, output_tokens: 1, inference_geo: 'not_available', speed: 'standard' })
  expect(plain).not.toHaveProperty('inferenceGeo')
  expect(plain).not.toHaveProperty('speed')
})

const grounded = (webSearchQueries: readonly string[], more: object = {}) => ({
  candidates: [{ content: { parts: [{ text: 'a' }] }, groundingMetadata: { webSearchQueries }, ...more }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
})

it('the searches of Google are counted from what its answer names, once each though events repeat them', () => {
  const ended = grounded(['one', 'two', ''], { finishReason: 'STOP' })
  const request = requestOf('google', 'gemini-3-flash-preview')
  const { chunks, end } = decoded(request.decoder(), [sse(grounded(['one']), ended)])
  expect(end.usage).toMatchObject({ inputTokens: 10, outputTokens: 5, searches: 2 })
  expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 10, completion_tokens: 5 } })
  expect(request.answer(ended).usage).toMatchObject({ searches: 2 })
})

it('an answer of Google that searched for nothing has no searches', () => {
  const { usage } = requestOf('google', 'gemini-2.5-flash').answer(grounded([], { finishReason: 'STOP' }))
  expect(usage).toEqual({ inputTokens: 10, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0 })
})
