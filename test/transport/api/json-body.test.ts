import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonType, parseJson } from '#transport/api/body/json-body.ts'

const parse = (text: string) => parseJson(Buffer.from(text))
const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`

describe('a JSON body', () => {
  it('of any value is parsed', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        expect(JSON.stringify(parse(text))).toBe(text)
      }),
    )
  })

  it('may be nested 64 deep and no deeper', () => {
    expect(parse(nested(64))).toBeInstanceOf(Array)
    expect(() => parse(nested(66))).toThrow('nested deeper than 64')
  })

  it('may have any number of brackets in its texts', () => {
    const text = `\\"${'[{'.repeat(100)}`
    expect(parse(JSON.stringify({ text }))).toEqual({ text })
  })

  it('has at most 100,000 names, texts, objects and lists, and eight times as many numbers', () => {
    const items = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(',')}]`
    expect(parse(items(80_000, '{}'))).toHaveLength(80_000)
    expect(parse(items(780_000, '1'))).toHaveLength(780_000)
    for (const body of [items(100_000, '{}'), items(100_000, '""'), items(810_000, '1')])
      expect(() => parse(body)).toThrow('The body has more than 100000 names')
  })

  it('is UTF-8', () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow('not UTF-8')
  })
})

describe('a content type', () => {
  it.each([undefined, 'application/json', 'Application/JSON; charset=utf-8', 'application/merge-patch+json'])(
    '%s is JSON',
    (type) => {
      expect(isJsonType(type)).toBe(true)
    },
  )

  it.each(['', 'text/plain', 'application/jsonx', 'text/x+json', 'multipart/form-data; boundary=application/json'])(
    '%s is not',
    (type) => {
      expect(isJsonType(type)).toBe(false)
    },
  )
})
