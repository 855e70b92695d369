import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attodollars, usdText } from '#gateway/prices/attodollars.ts'

const Exact = Decimal.clone({ precision: 60 })

describe('amounts in units of 10⁻¹⁸ USD', () => {
  it('are parsed from decimal text and written in the shortest form', () => {
    expect(attodollars('0.00000015')).toBe(150_000_000_000n)
    expect(attodollars('12')).toBe(12n * 10n ** 18n)
    expect(['0', '1', '10', '0.1', '1.05', '0.000000000000000001'].map((text) => usdText(attodollars(text)))).toEqual([
      '0',
      '1',
      '10',
      '0.1',
      '1.05',
      '0.000000000000000001',
    ])
  })

  it('are written exactly as by decimal arithmetic', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), (amount) => {
        expect(usdText(amount)).toBe(new Exact(amount.toString()).div('1e18').toFixed())
        expect(attodollars(usdText(amount))).toBe(amount)
      }),
    )
  })
})
