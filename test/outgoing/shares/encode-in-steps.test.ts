import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginningOfJson, encodeInSteps, encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { pieceBytes } from '#outgoing/shares/json-spans.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const encoded = (value: unknown): string => atOnce(encodeInSteps(value)).toString('utf8')
const long = (piece: string): string => piece.repeat(Math.ceil((4 * pieceBytes) / piece.length))

describe('JSON written in steps', () => {
  it.each<readonly [string, unknown]>([
    ['a long text', long('many things, and more ')],
    ['a text of escapes', long('"\\\n\u0001é東')],
    ['a text of pairs of surrogates', `a${long('👩‍👩‍👧😀')}`],
    ['halves of pairs', `${long('x\ud83d')}\ude00${long('\ude00y')}`],
    ['a long list', Array.from({ length: 20_000 }, (_, at) => ({ at, text: `${at}`, none: null }))],
    ['undefined fields', { a: undefined, b: [undefined, 1], c: { d: undefined }, e: long('x') }],
    ['numbers that JSON has no words for', [Number.NaN, Number.POSITIVE_INFINITY, -0, 1e21, 0.1]],
    ['names of all kinds', { '': 1, '10': 2, '9': 3, 'a"b': 4, 東京: 5 }],
    ['nothing in it', [{}, [], '', null, true, false]],
  ])('equals the output of JSON.stringify for %s', (_, value) => {
    expect(encoded(value)).toBe(JSON.stringify(value))
  })

  it('equals the output of JSON.stringify for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(encoded(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it('yields at least every 64 KB', () => {
    const value = { text: long('x'), list: Array.from({ length: 20_000 }, (_, at) => ({ at })) }
    expect([...encodeInSteps(value)].length).toBeGreaterThan(JSON.stringify(value).length / (2 * pieceBytes))
  })

  it('is returned directly if it is short, and as a promise otherwise', async () => {
    expect(encodeJson({ a: 1 })).toBe('{"a":1}')
    const value = { text: long('é"') }
    expect(encodeJson(value)).toBeInstanceOf(Promise)
    expect(Buffer.from(await encodeJson(value)).toString('utf8')).toBe(JSON.stringify(value))
  })

  it('can be limited to its beginning', () => {
    const value = { list: Array.from({ length: 200_000 }, (_, at) => at), text: 'x' }
    const beginning = beginningOfJson(value)
    expect(JSON.stringify(value).startsWith(beginning)).toBe(true)
    expect(beginning.length).toBeGreaterThan(16 * 1024 + 512)
    expect(beginning.length).toBeLessThan(3 * pieceBytes)
  })
})
