import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonSpans, pieceBytes } from '#outgoing/shares/json-spans.ts'
import { parseInSteps } from '#outgoing/shares/parse-in-steps.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { runsByDay } from '#test/setup/at-night.ts'

const limits = { maxDepth: 64, maxWeight: 1e9 }

const parsed = (text: string | Buffer): unknown => {
  const bytes = Buffer.from(text)
  return atOnce(parseInSteps(bytes, atOnce(jsonSpans(bytes, limits)).long))
}

const steps = (bytes: Buffer): number => {
  const { long } = atOnce(jsonSpans(bytes, limits))
  return [...parseInSteps(bytes, long)].length
}

/** A text that is cut many times, at every kind of character. */
const longText = (piece: string): string => piece.repeat(Math.ceil((4 * pieceBytes) / piece.length))
const many = (count: number, item: string): string => Array.from({ length: count }, () => item).join(',')
/** Adds blanks around every token outside of strings. */
const spaced = (text: string): string =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"|[,:[\]{}]/g, (part) => (part.startsWith('"') ? part : ` \n${part}\t\r`))

describe('JSON parsed in steps', () => {
  const whole: readonly (readonly [string, string])[] = [
    ['a long text', JSON.stringify(longText('many things, and more '))],
    ['a long text of other scripts', JSON.stringify(longText('東京は晴れ、Привет 👩‍👩‍👧 é '))],
    ['a long text of escapes', JSON.stringify(longText('"\\\n\u0001/'))],
    ['a long text of escaped characters', `"${longText('\\u00e9\\ud83d\\ude00\\\\\\"x')}"`],
    ['a long text of backslashes', JSON.stringify(longText('\\'))],
    ['a long list of numbers', `[${many(50_000, '1.5e3')}]`],
    ['a long list of objects', `[${many(9_000, '{"role":"user","content":"hi, [you]"}')}]`],
    ['a long list of one item', `[${JSON.stringify(longText('x'))}]`],
    ['long and short items by turns', `[1,${many(3, `${JSON.stringify(longText('x'))},{"a":[2,3]},"4"`)},5]`],
    ['a long object', `{${Array.from({ length: 9_000 }, (_, at) => `"key ${at}":${at}`).join(',')}}`],
    [
      'a long object of numbers as names',
      `{${Array.from({ length: 9_000 }, (_, at) => `"${9_000 - at}":1`).join(',')}}`,
    ],
    ['long and short fields', `{"a":1,"b":${JSON.stringify(longText('x'))},"c":[],"d":[${many(20_000, '[]')}],"e":{}}`],
    ['a long name', `{"a":1,${JSON.stringify(longText('name'))}:2,"b":3}`],
    ['long values within each other', `[[[{"a":[[${JSON.stringify(longText('x'))}]]},1],2],3]`],
    ['the name of a prototype', `{"__proto__":${JSON.stringify(longText('x'))},"a":{"__proto__":1},"toString":2}`],
    ['a short value', ' {"a": [1, "2"] } '],
    ['an empty list with blanks', `[${' '.repeat(2 * pieceBytes)}]`],
  ]
  it.each(whole)('equals the result of JSON.parse for %s', (_, text) => {
    expect(parsed(text)).toEqual(JSON.parse(text))
    expect(JSON.stringify(parsed(text))).toBe(JSON.stringify(JSON.parse(text)))
  })

  it.each(whole)('accepts blanks around every token of %s', (_, text) => {
    const blanks = spaced(text)
    expect(JSON.stringify(parsed(blanks))).toBe(JSON.stringify(JSON.parse(blanks)))
  })

  const x = JSON.stringify(longText('x'))
  it.each([
    ['a comma too many', `[${x},]`],
    ['a comma before', `[,${x}]`],
    ['two commas', `[1,,${x}]`],
    ['two commas behind', `[${x},,1]`],
    ['no comma', `[${x} ${x}]`],
    ['no comma behind', `[${x} 1]`],
    ['another bracket', `[${x}}`],
    ['another bracket of an object', `{"a":${x}]`],
    ['no end', `[${x}`],
    ['no end of a text', `["${longText('x')}`],
    ['more behind it', `[${x}]]`],
    ['a value without a name', `{${x}}`],
    ['a name without a value', `{${x}:}`],
    ['a number as a name', `{1:${x}}`],
    ['a comma too many in an object', `{"a":${x},}`],
    ['a raw line break in a text', `["${longText('x')}\n"]`],
    ['an invalid escape', `["${longText('x')}\\x${longText('y')}"]`],
    ['an escape that is cut off', `["${longText('x')}\\u12"]`],
    ['a word', `[${x},word]`],
    ['nothing', ''],
    ['a byte order mark', `\ufeff[${x}]`],
  ])('is refused with %s, as by JSON.parse', (_, text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    expect(() => parsed(text)).toThrow(SyntaxError)
  })

  it('equals the result of JSON.parse for any value, wherever texts and lists are split', () => {
    const long = fc.tuple(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }),
      fc.integer({ min: 1, max: 30_000 }),
    )
    const text = long.map(([piece, count]) => piece.repeat(Math.min(count, 70_000 / piece.length)))
    const value = fc.array(
      fc.oneof(fc.jsonValue({ maxDepth: 4 }), text, fc.dictionary(fc.string(), text, { maxKeys: 3 })),
      {
        maxLength: 8,
      },
    )
    fc.assert(
      fc.property(value, (items) => {
        const written = JSON.stringify(items)
        expect(JSON.stringify(parsed(written))).toBe(JSON.stringify(JSON.parse(written)))
      }),
      { numRuns: runsByDay(60) },
    )
  })

  it('yields at least every 96 KB, wherever most of its bytes are', () => {
    const bodies = whole.filter(([, text]) => text.length > 3 * pieceBytes).map(([, text]) => Buffer.from(text))
    for (const bytes of bodies) expect(steps(bytes)).toBeGreaterThan(bytes.length / (3 * pieceBytes))
  })
})
