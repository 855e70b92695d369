import { describe, expect, it } from 'vitest'
import { jsonOf } from '#storage/long-json.ts'
import type { Json } from '#storage/ports.ts'

const long = 'many things, "and" more é\n '.repeat(20_000)

const values: readonly (readonly [what: string, value: Json])[] = [
  ['a text', long],
  ['a text in objects and lists', { a: [{ b: long, c: null }, 1, long], 'a "name"': { d: [] }, e: {} }],
  ['pairs of surrogates on either side of each cut', `${'😀'.repeat(200_000)}x${'😀'.repeat(200_000)}`],
  [
    'a text below 200 levels of 1,000 values each',
    Array.from({ length: 200 }).reduce<Json>((inner) => [...Array.from({ length: 1000 }, () => 1), { inner }], long),
  ],
  ['halves of pairs', `${'\ud83d'.repeat(300_000)}${'\ude00'.repeat(300_000)}`],
  ['control characters', '\u0000\u2028\u007f'.repeat(100_000)],
  ['a name like one of every object', JSON.parse(`{"__proto__":${JSON.stringify(long)},"constructor":1}`)],
]

describe('JSON with long texts', () => {
  it.each(values)('equals the output of JSON.stringify for %s', async (_, value) => {
    const made = jsonOf(value)
    expect(made).toBeInstanceOf(Promise)
    expect((await made) === JSON.stringify(value)).toBe(true)
  })

  it('equals the output of JSON.stringify without long texts', () => {
    const value = { a: [1, 'b', null, true], c: {} }
    expect(jsonOf(value)).toBe(JSON.stringify(value))
  })

  it('yields to other work on the event loop', async () => {
    let turns = 0
    const count = setInterval(() => turns++, 0)
    const beat = (): void => {
      turns++
      next = setImmediate(beat)
    }
    let next = setImmediate(beat)
    await jsonOf({ a: long.repeat(4) })
    clearImmediate(next)
    clearInterval(count)
    expect(turns).toBeGreaterThan(10)
  })
})
