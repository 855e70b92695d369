import { describe, expect, it } from 'vitest'
import type { Route } from '#gateway/call/routes.ts'
import { affordableTokens, maxCostOf } from '#gateway/chat/max-cost.ts'
import { costOf } from '../call/cost-of.ts'

const route = (provider: string, model: string): Route => ({
  ...{ provider, model, format: 'openai', baseUrl: 'https://example.com/v1' },
  ...{ apiKey: null, source: 'managed', connectionId: null },
})
const haiku = route('anthropic', 'claude-haiku-4-5')
const said = (content: unknown, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more })

describe('the maximum cost of a chat call', () => {
  it('is between one and two times the cost of the longest answer, and increases with n', () => {
    const text = 'Internationalization is difficult, they said. '.repeat(20)
    const usage = { inputTokens: 200, outputTokens: 50, cachedTokens: 0, reasoningTokens: 0 }
    const max = Number(maxCostOf(said(text, { max_tokens: 50 }), haiku))
    const cost = Number(costOf('anthropic/claude-haiku-4-5', usage))
    expect(max).toBeGreaterThan(cost)
    expect(max).toBeLessThan(2 * cost)
    expect(Number(maxCostOf(said(text, { max_tokens: 50, n: 3 }), haiku))).toBeGreaterThan(max)
    expect(Number(maxCostOf(said(text, { max_tokens: 1e308, n: 2 }), haiku))).toBeGreaterThan(1e9)
  })

  it('includes writes to the one-hour cache when the request marks them', () => {
    const parts = [{ type: 'text', text: 'x'.repeat(4000), cache_control: { type: 'ephemeral', ttl: '1h' } }]
    const written = { inputTokens: 1000, cacheWriteTokens: 1000, cacheWriteLongTokens: 1000 }
    const cost = costOf('anthropic/claude-haiku-4-5', {
      ...written,
      outputTokens: 1,
      cachedTokens: 0,
      reasoningTokens: 0,
    })
    expect(Number(maxCostOf(said(parts, { max_tokens: 1 }), haiku))).toBeGreaterThan(Number(cost))
  })

  it('counts images independently of their size in bytes', () => {
    const image = (bytes: number) => [
      { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } },
    ]
    expect(maxCostOf(said(image(1_000_000)), haiku)).toBe(maxCostOf(said(image(10)), haiku))
  })

  it('affords as many output tokens as the remaining budget pays for', () => {
    const body = said('Hello')
    const usd = '0.01'
    const tokens = affordableTokens(body, haiku, usd) ?? 0
    expect(tokens).toBeGreaterThan(256)
    expect(Number(maxCostOf(body, haiku, tokens))).toBeLessThanOrEqual(Number(usd))
    expect(Number(maxCostOf(body, haiku, tokens + 1))).toBeGreaterThan(Number(usd))
    expect(affordableTokens(body, haiku, '100')).toBeNull()
  })

  it('is null when the price is unknown', () => {
    expect(maxCostOf(said('hello'), route('openai', 'nobody-knows-1'))).toBeNull()
  })
})
