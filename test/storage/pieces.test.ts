import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstSequence, inPieces, joined, piecesOf } from '#storage/pieces.ts'

const event = {
  sequence: 9,
  event_type: 'output_text.delta',
  turn_number: 2,
  payload: { delta: 'one two', attempt: 2 },
}

describe('a stored event that stands for several', () => {
  it('is each of them again, with the rest of its payload', () => {
    expect(piecesOf({ ...event, cuts: [4, 3] })).toEqual([
      { ...event, sequence: 8, payload: { delta: 'one ', attempt: 2 } },
      { ...event, sequence: 9, payload: { delta: 'two', attempt: 2 } },
    ])
    expect(firstSequence({ ...event, cuts: [4, 3] })).toBe(8)
  })

  it('loses no text, whatever its pieces are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1 }), (texts) => {
        const cuts = texts.map(({ length }) => length)
        const pieces = piecesOf({ ...event, sequence: 500, payload: { delta: texts.join('') }, cuts })
        expect(pieces.map(({ payload }) => payload.delta)).toEqual(texts)
        expect(pieces.at(-1)?.sequence).toBe(500)
      }),
    )
  })
})

it('an event that stands for itself stays as it is', () => {
  const events = [event]
  expect(inPieces(events)).toBe(events)
  expect(firstSequence(event)).toBe(9)
})

it('joined deltas are read as before, each with its time', () => {
  const texts = fc.array(fc.string({ maxLength: 9 }), { minLength: 1, maxLength: 6 })
  const alike = fc.record({ attempt: fc.constantFrom(undefined, 2), type: fc.constantFrom('delta', 'other') })
  const drawn = fc.array(fc.tuple(texts, alike, fc.integer({ min: 1, max: 3 })), { maxLength: 12 })
  fc.assert(
    fc.property(drawn, (list) => {
      let sequence = 0
      const events = list.map(([pieces, { attempt, type }, at]) => {
        sequence += pieces.length
        const delta = { delta: pieces.join(''), ...(attempt !== undefined && { attempt }) }
        const cuts = pieces.length > 1 ? { cuts: pieces.map(({ length }) => length) } : {}
        return { sequence, event_type: type, at, payload: delta, ...cuts }
      })
      expect(inPieces(joined(events))).toEqual(inPieces(events))
      expect(joined(joined(events))).toEqual(joined(events))
    }),
  )
})
