import fc from 'fast-check'
import { expect, it } from 'vitest'
import { textBytes } from '#gateway/call/accounting/text-bytes.ts'

it('counts the UTF-8 bytes of texts and names, and 12 for each other value', () => {
  expect(textBytes('héllo 🌍')).toBe(11)
  expect(textBytes({ query: 'é', documents: ['a', { text: 'bc' }], top_n: 2 })).toBe(
    5 + 2 + (9 + 1) + (4 + 2) + 5 + 12 * 4,
  )
})

it('counts at least the bytes of all texts of a document', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (texts) => {
      expect(textBytes({ texts })).toBeGreaterThanOrEqual(Buffer.byteLength(texts.join('')))
    }),
    { numRuns: 50 },
  )
})
