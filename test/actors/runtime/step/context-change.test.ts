import { describe, expect, it } from 'vitest'
import { contextChange } from '#runtime/step/context-change.ts'

describe('a change of a context', () => {
  it('contains the changed fields, and is undefined if nothing changed', () => {
    const calls = [{ id: 'a' }]
    expect(contextChange(null, { turn: 0, calls })).toEqual({ turn: 0, calls })
    expect(contextChange({ turn: 0, calls }, { turn: 1, calls })).toEqual({ turn: 1 })
    expect(contextChange({ turn: 0, calls }, { turn: 0, calls: [{ id: 'a' }] })).toBeUndefined()
    expect(contextChange({ turn: 1 }, { turn: 1, error: null })).toEqual({ error: null })
  })

  it('leaves out lists and objects of which every reader sees the same as before', () => {
    const long = (letter: string) => letter.repeat(100)
    const before = { usage: { input: 1, output: [2] }, many: Array(13).fill(1), text: { of: long('a') }, none: {} }
    const same = { usage: { input: 1, output: [2] }, many: Array(13).fill(2), text: { of: long('b') }, none: {} }
    expect(contextChange(before, same)).toBeUndefined()
    const other = { usage: { input: 1, output: [3] }, many: [], text: { of: 'b' }, none: [] }
    expect(contextChange(before, other)).toEqual(other)
    const turned = { usage: { output: [2], input: 1 } }
    expect(contextChange({ usage: before.usage }, turned)).toEqual(turned)
  })

  it('contains only the length of long texts, and plain values in full', () => {
    const long = (letter: string) => letter.repeat(100)
    expect(contextChange({ text: long('a') }, { text: long('b') })).toBeUndefined()
    expect(contextChange({ text: long('a') }, { text: `${long('b')}c` })).toEqual({ text: { $length: 101 } })
    expect(contextChange({ text: 'a' }, { text: long('b') })).toEqual({ text: { $length: 100 } })
    expect(contextChange({ text: long('a') }, { text: 'b' })).toEqual({ text: 'b' })
    expect(contextChange({ text: null }, { text: 'b' })).toEqual({ text: 'b' })
    expect(contextChange({ text: 'b' }, { text: null })).toEqual({ text: null })
    expect(contextChange({ on: { a: 1 } }, { on: false })).toEqual({ on: false })
    expect(contextChange({ on: 1 }, { on: { a: 1 } })).toEqual({ on: { a: 1 } })
    expect(contextChange(null, { on: false, text: 'a' })).toEqual({ on: false, text: 'a' })
  })

  it('contains no long text and no text that may be JSON, and its size is bounded', () => {
    const text = 'x'.repeat(100_000)
    const deep = { a: { b: { c: { d: { e: text } } } } }
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`f${n}`, n]))
    const changed = contextChange(null, {
      text,
      deep,
      many,
      json: '{"token":"t"}',
      list: Array(12).fill('y'.repeat(60)),
    })
    expect(changed).toMatchObject({ text: { $length: 100_000 }, many: { $items: 1_000 }, json: { $length: 13 } })
    expect(JSON.stringify(changed).length).toBeLessThan(1_500)
    expect(JSON.stringify(changed)).not.toContain('token')
  })

  it('contains a field of any name, including __proto__', () => {
    const odd: object = JSON.parse('{"__proto__":{"a":1},"constructor":2}')
    const changed = contextChange(null, { odd })
    expect(JSON.stringify(changed)).toBe('{"odd":{"__proto__":{"a":1},"constructor":2}}')
  })
})
