import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { priceTable } from '../../../src/actors/gateway/price-table.ts'
import { costOf, priceOf, prices } from '../../../src/actors/gateway/prices.ts'

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

  it('counts cached input at its own price', () => {
    expect(costOf('gpt-4o-mini', usage(1000, 0, 400))).toBe('0.00012')
  })

  it('is the same under a provider prefix', () => {
    expect(costOf('openai/gpt-4o-mini', usage(10, 10))).toBe(costOf('gpt-4o-mini', usage(10, 10)))
  })

  it('is null for a model that the snapshot does not know', () => {
    expect(costOf('nobody-knows-1', usage(10, 10))).toBeNull()
    expect(costOf('constructor', usage(10, 10))).toBeNull()
  })

  it('moves to the prices of a tier when the input is longer than its limit', () => {
    const row = priceOf('gemini-2.5-pro')
    const tier = row?.tiers?.[0]
    expect(tier?.above).toBe(200_000)
    expect(costOf('gemini-2.5-pro', usage(200_000, 0))).toBe('0.25')
    expect(costOf('gemini-2.5-pro', usage(200_001, 0))).toBe('0.5000025')
  })

  it('marks the price of the simulated model as made up', () => {
    expect(priceOf('simulated-1')?.nominal).toBe(true)
    expect(costOf('simulated-7', usage(1, 1))).toBe('0.000003')
  })

  it('never falls when a call uses more', () => {
    const count = fc.nat(1_000_000)
    fc.assert(
      fc.property(count, count, fc.nat(1000), (input, output, more) => {
        const less = Number(costOf('gpt-4.1', usage(input, output)))
        expect(Number(costOf('gpt-4.1', usage(input + more, output + more)))).toBeGreaterThanOrEqual(less)
      }),
    )
  })
})

describe('the snapshot of prices', () => {
  it('is stamped with version and day', () => {
    expect(prices.version).toMatch(/^\d+\.\d+/)
    expect(prices.date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  })

  it('holds no price of zero, which would say that a model is free', () => {
    expect(Object.entries(prices.models).filter(([, row]) => Number(row.input) === 0)).toEqual([])
  })

  it('is refused when a row is wrong', () => {
    expect(() => priceTable({ ...prices, models: { x: { input: 'cheap', context: 1, capabilities: [] } } })).toThrow(
      /: x/,
    )
    expect(() => priceTable({ models: {} })).toThrow(/price table/)
  })
})
