import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodedAs, unitVector } from '#gateway/providers/vector-encoding.ts'

it('both encodings represent the same vector with 32 bits', () => {
  fc.assert(
    fc.property(fc.array(fc.float({ noNaN: true }), { minLength: 1 }), (vector) => {
      const text = encodedAs('base64', vector)
      expect(encodedAs('float', text)).toEqual(vector)
      expect(encodedAs('base64', encodedAs('float', text))).toBe(text)
    }),
  )
})

it('a vector in the requested encoding is returned unchanged', () => {
  const vector = [0.1, 0.2]
  expect(encodedAs('float', vector)).toBe(vector)
})

it('base64 contains little-endian floats', () => {
  expect(encodedAs('base64', [1])).toBe(Buffer.from([0, 0, 0x80, 0x3f]).toString('base64'))
})

it('a unit vector has length 1, except for the zero vector', () => {
  expect(unitVector([3, 4])).toEqual([0.6, 0.8])
  expect(unitVector([0, 0])).toEqual([0, 0])
  // more numbers than a call can have arguments
  expect(unitVector(new Array<number>(250_000).fill(2))[0]).toBeCloseTo(0.002, 9)
})
