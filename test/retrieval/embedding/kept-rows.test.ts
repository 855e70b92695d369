import { describe, expect, it } from 'vitest'
import { KeptRows } from '#retrieval/embedding/kept-rows.ts'

const rows = (numbers: number): Float32Array => new Float32Array(numbers)

describe('what a model has made of texts', () => {
  it('is kept for those used last', () => {
    const kept = new KeptRows(16)
    for (let n = 0; n < 8; n++) kept.set(`text ${n}`, rows(2))
    kept.get('text 0')
    kept.set('one more', rows(2))
    expect(['text 0', 'text 1', 'one more'].map((key) => kept.get(key)?.length)).toEqual([2, undefined, 2])
  })

  it('counts once when a text is set again', () => {
    const kept = new KeptRows(16)
    for (let n = 0; n < 100; n++) kept.set('text', rows(2))
    for (let n = 0; n < 7; n++) kept.set(`other ${n}`, rows(2))
    expect([kept.get('text')?.length, kept.get('other 0')?.length]).toEqual([2, 2])
  })

  it('is not kept when it would take the place of many others', () => {
    const kept = new KeptRows(16)
    kept.set('long', rows(4))
    expect(kept.get('long')).toBeUndefined()
  })
})
