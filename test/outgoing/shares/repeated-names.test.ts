import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonSpans } from '#outgoing/shares/json-spans.ts'
import { countFields, repeatedName } from '#outgoing/shares/repeated-names.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const limits = { maxDepth: 64, maxWeight: 1e9 }
const namesIn = (text: string): number => atOnce(jsonSpans(Buffer.from(text), limits)).names
const fieldsIn = (text: string): number => atOnce(countFields(JSON.parse(text)))
const repeated = (text: string): string | null => atOnce(repeatedName(Buffer.from(text)))

describe('field names of JSON', () => {
  it.each([
    ['{"model":"a","model":"b"}', 'model'],
    ['{"messages":[{"role":"user"},{"role":"user","content":"a","role":"system"}]}', 'messages[1].role'],
    ['{"a":{"b":[[1,{"c":1,"c":1}]]}}', 'a.b[0][1].c'],
    ['{"model":"a","mod\\u0065l":"b"}', 'model'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a:b":"x:{","a":{},"a" : 1}', 'a'],
    ['[{"é":1,"\\u00e9":2}]', '[0].é'],
    ['{"":1,"":2}', ''],
    [`{"a":"${'\\"'.repeat(50_000)}","b":[${'1,'.repeat(40_000)}1],"a":1}`, 'a'],
  ])('include a duplicate in %s', (text, name) => {
    expect(namesIn(text)).toBeGreaterThan(fieldsIn(text))
    expect(repeated(text)).toBe(name)
  })

  it.each([
    '{"a":{"a":{"a":[{"a":1},{"a":2}]}}}',
    '{"a":"\\"a\\":1","b":":"}',
    '{"__proto__":1,"constructor":2,"toString":3}',
    '{"1":1,"01":2,"1.0":3}',
    '[]',
    '"a:b"',
  ])('are unique within each object of %s', (text) => {
    expect(namesIn(text)).toBe(fieldsIn(text))
    expect(repeated(text)).toBeNull()
  })

  it('are as many as the fields of any value that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        expect(namesIn(text)).toBe(fieldsIn(text))
      }),
    )
  })

  it('are reported with at most 200 characters of a long path', () => {
    const name = 'n'.repeat(100_000)
    expect(repeated(`{"${name}":1,"${name}":2}`)).toHaveLength(200)
  })
})
