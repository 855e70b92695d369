import { expect, it } from 'vitest'
import { costOfUnits, priceOf } from '#gateway/prices/prices.ts'
import { anthropicUsage } from '#gateway/providers/anthropic/anthropic-usage.ts'

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
  ['mistral/mistral-small-latest', { searches: 2 }, '0'],
])('the searches of %s %o cost %s', (model, searches, usd) => {
  expect(fee(model, searches)).toBe(usd)
})

it('the searches of Anthropic are read from its usage', () => {
  const usage = { input_tokens: 1, output_tokens: 1, server_tool_use: { web_search_requests: 2 } }
  expect(anthropicUsage(usage)).toMatchObject({ searches: 2 })
})
