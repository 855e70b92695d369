import { Decimal } from 'decimal.js'
import { describe, expect, it } from 'vitest'
import { contextDisplay, imageDisplay, perMillion, tokenDisplay, usdDisplay } from '#gateway/catalogue/displays.ts'

describe('the display of a context size', () => {
  it.each([
    [128_000, '128K'],
    [131_072, '128K'],
    [32_768, '32K'],
    [200_000, '200K'],
    [1_000_000, '1M'],
    [1_048_576, '1M'],
    [1_047_576, '1M'],
    [1_500_000, '1.5M'],
    [2_097_152, '2M'],
    [16_385, '16K'],
    [999_999, '1M'],
    [512, '512'],
    [0, 'unknown'],
  ])('is, for %i tokens, %s', (tokens, text) => {
    expect(contextDisplay(tokens)).toBe(text)
  })
})

describe('the display of a price', () => {
  it.each([
    ['0.00000015', '$0.15'],
    ['0.0000025', '$2.50'],
    ['0.000000075', '$0.075'],
    ['0.00006', '$60.00'],
    ['0.0000000375', '$0.0375'],
  ])('for %s per token is %s per million, with two digits or as many as needed', (price, text) => {
    expect(usdDisplay(perMillion(price))).toBe(text)
    expect(tokenDisplay(perMillion(price))).toBe(`${text} per 1M`)
  })

  it('has the unit "per img" for an image', () => {
    expect(imageDisplay('0.04')).toBe('$0.04 per img')
    expect(imageDisplay('0.0336')).toBe('$0.0336 per img')
  })

  it('is based on zero when there is no price', () => {
    expect(perMillion(undefined)).toEqual(new Decimal(0))
  })
})
