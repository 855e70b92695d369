import { describe, expect, it } from 'vitest'
import type { Route } from '#gateway/call/routes.ts'
import { mostCostOf } from '#gateway/chat/most-cost.ts'
import { costOf } from '../call/cost-of.ts'

const route = (provider: string, model: string): Route => ({
  ...{ provider, model, format: 'openai', baseUrl: 'https://example.com/v1' },
  ...{ apiKey: null, source: 'managed', connectionId: null },
})
const haiku = route('anthropic', 'claude-haiku-4-5')
const said = (content: unknown, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more })

describe('the most that a chat call can cost', () => {
  it('is no less than what it costs when each byte is a token and the answer is as long as it may be', () => {
    const text = 'x'.repeat(1000)
    const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 0, reasoningTokens: 0 }
    const most = Number(mostCostOf(said(text, { max_tokens: 50 }), haiku))
    expect(most).toBeGreaterThan(Number(costOf('anthropic/claude-haiku-4-5', usage)))
    expect(Number(mostCostOf(said(text, { max_tokens: 50, n: 3 }), haiku))).toBeGreaterThan(most)
  })

  it('holds what may all be written to a cache for long, where the caller marks it so', () => {
    const parts = [{ type: 'text', text: 'x'.repeat(1000), cache_control: { type: 'ephemeral', ttl: '1h' } }]
    const written = { inputTokens: 1000, cacheWriteTokens: 1000, cacheWriteLongTokens: 1000 }
    const cost = costOf('anthropic/claude-haiku-4-5', {
      ...written,
      outputTokens: 1,
      cachedTokens: 0,
      reasoningTokens: 0,
    })
    expect(Number(mostCostOf(said(parts, { max_tokens: 1 }), haiku))).toBeGreaterThan(Number(cost))
  })

  it('counts images by what a model may make of them, not by their bytes', () => {
    const image = (bytes: number) => [
      { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } },
    ]
    expect(mostCostOf(said(image(1_000_000)), haiku)).toBe(mostCostOf(said(image(10)), haiku))
  })

  it('is null when the price is unknown', () => {
    expect(mostCostOf(said('hello'), route('openai', 'nobody-knows-1'))).toBeNull()
  })
})
