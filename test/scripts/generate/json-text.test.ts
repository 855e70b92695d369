import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText } from '#scripts/generate/json-text.ts'

describe('the text of a generated JSON file', () => {
  it('is equivalent to that of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    expect(JSON.parse(jsonText({ a: undefined, b: [] }))).toEqual({ b: [] })
  })

  it('has a value on one line only if that fits into 120 characters', () => {
    expect(jsonText({ a: { b: [1, 'two'] } })).toBe('{ "a": { "b": [1, "two"] } }\n')
    const long = 'x'.repeat(60)
    expect(jsonText({ a: { b: long }, c: [long] })).toBe(`{\n  "a": { "b": "${long}" },\n  "c": ["${long}"]\n}\n`)
    const wide = jsonText({ list: Array.from({ length: 60 }, (_, place) => ({ place, list: [place] })) })
    expect(Math.max(...wide.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
  })
})
