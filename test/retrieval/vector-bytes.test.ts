import { describe, expect, it } from 'vitest'
import { textOfVector, vectorOfText } from '#retrieval/vector-bytes.ts'

const cosine = (a: Float32Array, b: Float32Array): number => {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

describe('the text encoding of a vector', () => {
  it('keeps its direction', () => {
    for (let seed = 1; seed < 50; seed++) {
      const vector = Float32Array.from({ length: 384 }, (_, at) => Math.sin(seed * (at + 1) * 12.9898) ** 3)
      expect(cosine(vector, vectorOfText(textOfVector(vector)) ?? new Float32Array(384))).toBeGreaterThan(0.9995)
    }
  })

  it('has 520 characters for 384 dimensions', () => {
    expect(textOfVector(new Float32Array(384).fill(0.05)).length).toBe(520)
  })

  it.each([
    ['zeros', [0, 0, 0]],
    ['no numbers', [Number.NaN, Number.POSITIVE_INFINITY, 1]],
  ])('of %s decodes to zeros', (_, numbers) => {
    expect(vectorOfText(textOfVector(Float32Array.from(numbers)))).toEqual(new Float32Array(3))
  })

  it.each(['', 'AAAA', '!!!', '////////'])('is invalid for %j', (text) => {
    expect(vectorOfText(text)).toBeNull()
  })
})
