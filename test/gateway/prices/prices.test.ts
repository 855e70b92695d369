import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { routeCost } from '#gateway/call/accounting/route-price.ts'
import { checkPrices, priceTable } from '#gateway/prices/price-table.ts'
import { costOfUnits, priceAt, priceOf, priceSnapshot, prices } from '#gateway/prices/prices.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { providers } from '#specs/data/providers.ts'
import { costOf } from '../call/cost-of.ts'

const usage = (inputTokens: number, outputTokens: number, cachedTokens = 0, reasoningTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
})

describe('the cost of a call', () => {
  it('is exact decimal text', () => {
    expect(costOf('gpt-4o-mini', usage(1, 1))).toBe('0.00000075')
    expect(costOf('gpt-4o-mini', usage(3, 0))).toBe('0.00000045')
  })

  it('includes cached input at its own price', () => {
    expect(costOf('gpt-4o-mini', usage(1000, 0, 400))).toBe('0.00012')
  })

  it('is the same with a provider prefix', () => {
    expect(costOf('openai/gpt-4o-mini', usage(10, 10))).toBe(costOf('gpt-4o-mini', usage(10, 10)))
  })

  it('is null for a model outside the snapshot', () => {
    expect(costOf('nobody-knows-1', usage(10, 10))).toBeNull()
    expect(costOf('constructor', usage(10, 10))).toBeNull()
  })

  it('includes cache writes at their own price', () => {
    const written = { ...usage(1000, 0, 100), cacheWriteTokens: 400 }
    expect(costOf('claude-haiku-4-5', written)).toBe('0.00101')
  })

  it('includes long-lived cache writes at their own price', () => {
    const written = { ...usage(1000, 0, 0), cacheWriteTokens: 400, cacheWriteLongTokens: 100 }
    expect(costOf('claude-haiku-4-5', written)).toBe('0.001175')
    expect(costOf('claude-haiku-4-5', { ...written, cacheWriteLongTokens: 999 })).toBe('0.0014')
  })

  it('includes audio input and output at their own prices', () => {
    const talk = { ...usage(1000, 500), audioInputTokens: 900, audioOutputTokens: 400 }
    // 100 × 2.5 + 900 × 32 + 100 × 10 + 400 × 64 USD per million
    expect(costOf('gpt-audio', talk)).toBe('0.05565')
    expect(costOf('gpt-audio', usage(1000, 500))).toBe('0.0075')
    expect(costOf('gemini-2.5-flash', { ...usage(1000, 0), audioInputTokens: 1000 })).toBe('0.001')
  })

  it('includes cached audio at its own price', () => {
    const heard = { ...usage(1000, 0, 600), audioInputTokens: 500, audioCachedTokens: 400 }
    // 100 × 1 + 300 × 0.3 + 400 × 0.1 + 200 × 0.03 USD per million
    expect(costOf('gemini-2.5-flash', heard)).toBe('0.000236')
  })

  it('treats audio as text when the list has no price for it', () => {
    const talk = { ...usage(1000, 500), audioInputTokens: 900, audioOutputTokens: 400 }
    expect(costOf('gpt-4o-mini', talk)).toBe(costOf('gpt-4o-mini', usage(1000, 500)))
  })

  it('includes at most as many audio tokens as tokens', () => {
    const all = { ...usage(10, 10), audioInputTokens: 10, audioOutputTokens: 10 }
    const odd = { ...all, audioInputTokens: 99, audioOutputTokens: 99, audioCachedTokens: 99 }
    expect(costOf('gpt-audio', odd)).toBe(costOf('gpt-audio', all))
    const cached = { ...usage(10, 10, 10, 10), audioInputTokens: 10, audioOutputTokens: 10 }
    expect(costOf('gpt-audio', cached)).toBe(costOf('gpt-audio', { ...usage(10, 10, 10, 10) }))
  })

  it('is the charge that a trusted provider reports', () => {
    const tokens = { ...usage(10, 10), chargedUsd: '0.00014' }
    const cost = (provider: string, model: string, tokens: TokenUsage) =>
      routeCost({ provider, model, source: 'managed' }, { tokens })
    expect(cost('openrouter', 'anthropic/claude-sonnet-4', tokens)).toBe('0.00014')
    expect(cost('openrouter', 'anthropic/claude-sonnet-4', usage(10, 10))).toBeNull()
    expect(cost('openai', 'gpt-4o-mini', tokens)).toBe(costOf('gpt-4o-mini', tokens))
    expect(cost('custom', 'gpt-4o-mini', tokens)).toBeNull()
  })

  it('is known for voices by characters', () => {
    expect(costOfUnits(priceAt('deepgram', 'aura-2'), { characters: 1000 })).toBe('0.03')
  })

  it('includes at most as many cached, written and reasoning tokens as tokens', () => {
    const odd = { ...usage(10, 10, 99, 99), cacheWriteTokens: 99 }
    expect(costOf('gpt-4o-mini', odd)).toBe(costOf('gpt-4o-mini', usage(10, 10, 10, 10)))
  })

  it('includes the search for models that search in every call', () => {
    expect(costOf('sonar', usage(1000, 1000))).toBe('0.007')
  })

  it('is the cost at the named provider when several sell the model', () => {
    const id = 'openai/gpt-oss-120b'
    expect(costOf(`groq/${id}`, usage(1, 0))).toBe(priceAt('groq', id)?.input)
    expect(costOf(`together/${id}`, usage(1, 0))).toBe(priceAt('together', id)?.input)
    expect(priceOf(id)).toBe(priceAt('groq', id))
    expect(priceOf('gemini/gemini-2.5-flash')).toBe(priceAt('google', 'gemini-2.5-flash'))
  })

  it('equals the result of decimal arithmetic for every model', () => {
    const tokens = fc.nat(3_000_000)
    fc.assert(
      fc.property(fc.constantFrom(...plainTokens), tokens, tokens, ({ provider, id, input, output }, read, written) => {
        const exact = new Decimal(input ?? 0).times(read).plus(new Decimal(output ?? 0).times(written))
        expect(costOf(`${provider}/${id}`, usage(read, written))).toBe(exact.toFixed())
      }),
    )
  })

  it('uses the prices of a tier when the input is longer than its limit', () => {
    const row = priceOf('gemini-2.5-pro')
    const tier = row?.tiers?.[0]
    expect(tier?.above).toBe(200_000)
    expect(costOf('gemini-2.5-pro', usage(200_000, 0))).toBe('0.25')
    expect(costOf('gemini-2.5-pro', usage(200_001, 0))).toBe('0.5000025')
  })

  it('is nominal for the simulated model', () => {
    expect(priceOf('simulated-1')?.nominal).toBe(true)
    expect(costOf('simulated-7', usage(1, 1))).toBe('0.000003')
  })

  it('never decreases with more usage', () => {
    const count = fc.nat(1_000_000)
    fc.assert(
      fc.property(count, count, fc.nat(1000), (input, output, more) => {
        const less = Number(costOf('gpt-4.1', usage(input, output)))
        expect(Number(costOf('gpt-4.1', usage(input + more, output + more)))).toBeGreaterThanOrEqual(less)
      }),
    )
  })
})

const plainTokens = prices.rows.filter(
  ({ input, output, tiers, call }) => input && output && tiers === undefined && call === undefined,
)

describe('the cost of a call in other units', () => {
  it('depends on the spoken characters', () => {
    expect(costOfUnits(priceAt('openai', 'tts-1'), { characters: 1000 })).toBe('0.015')
    expect(costOfUnits(priceAt('elevenlabs', 'eleven_flash_v2_5'), { characters: 1 })).toBe('0.00004')
  })

  it('depends on the transcribed seconds, including fractions', () => {
    expect(costOfUnits(priceAt('openai', 'whisper-1'), { seconds: 60 })).toBe('0.006')
    expect(costOfUnits(priceAt('openai', 'whisper-1'), { seconds: 0.1 })).toBe('0.00001')
    expect(costOfUnits(priceAt('groq', 'whisper-large-v3'), { seconds: 3600 })).toBe('0.110988')
  })

  it('depends on seconds rather than tokens for a transcription, and on tokens when seconds have no price', () => {
    const both = { seconds: 10, tokens: usage(500, 20) }
    expect(costOfUnits(priceAt('openai', 'gpt-4o-transcribe'), both)).toBe('0.001')
    expect(costOfUnits(priceAt('google', 'gemini-3.5-transcribe'), both)).toBe('0.00124')
  })

  it('depends on the number of images', () => {
    expect(costOfUnits(priceAt('xai', 'grok-imagine-image'), { images: 3 })).toBe('0.06')
  })

  it('is null when the counted units have no price', () => {
    expect(costOfUnits(priceAt('openai', 'gpt-4o-mini'), { characters: 10 })).toBeNull()
    expect(costOfUnits(priceAt('openai', 'tts-1'), { tokens: usage(10, 0) })).toBeNull()
    expect(costOfUnits(priceAt('cartesia', 'sonic-3'), { characters: 10 })).toBeNull()
  })
})

describe('the snapshot of prices', () => {
  it('has a version and a date', () => {
    expect(prices.version).toMatch(/^\d+\.\d+/)
    expect(prices.date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  })

  it('has no price of zero and no row without a price', () => {
    const numbers = ({ date: _, currency: __, ...rates }: ReturnType<typeof priceSnapshot>) => Object.values(rates)
    expect(prices.rows.filter((row) => numbers(priceSnapshot(row)).some((rate) => Number(rate) === 0))).toEqual([])
    expect(prices.rows.filter((row) => numbers(priceSnapshot(row)).length === 0)).toEqual([])
  })

  it.each([
    ['openai', 'speech'],
    ['openai', 'transcription'],
    ['elevenlabs', 'speech'],
    ['elevenlabs', 'transcription'],
    ['google', 'speech'],
    ['google', 'transcription'],
    ['groq', 'speech'],
    ['groq', 'transcription'],
    ['deepgram', 'transcription'],
    ['openai', 'image'],
    ['openai', 'embedding'],
    ['mistral', 'embedding'],
  ])('has models of %s for %s', (provider, mode) => {
    expect(prices.rows.some((row) => row.provider === provider && row.mode === mode)).toBe(true)
  })

  it('has less than 300,000 characters', () => {
    expect(JSON.stringify(prices.rows).length).toBeLessThan(300_000)
  })

  it('has no invalid row', () => {
    expect(() => checkPrices(prices)).not.toThrow()
  })

  it('is refused with an invalid row', () => {
    const file = { source: 'x', version: '1', date: '2026-01-01', currency: 'USD' }
    const check = (...rows: object[]) => checkPrices(priceTable({ ...file, rows }))
    const row = { provider: 'openai', id: 'x', mode: 'chat', input: '0.1', context: 1, capabilities: [] }
    expect(() => check(row)).not.toThrow()
    expect(() => check(row, { ...row, input: 'cheap' })).toThrow(/openai\/x/)
    expect(() => check({ ...row, input: `0.${'0'.repeat(18)}1` })).toThrow(/openai\/x/)
    expect(() => priceTable({ rows: [] })).toThrow(/price table/)
  })

  it('is in the order of the providers, so that an id finds its first provider', () => {
    const order = providers.map(({ id }) => id)
    const places = prices.rows.map(({ provider }) => order.indexOf(provider))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
  })
})
