import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { LogEvent } from '#machines/json.ts'
import { fromStored, toStored } from '#storage/stored-events.ts'

const delta = (sequence: number, text: string, cuts?: readonly number[]): LogEvent => ({
  ...{ sequence, event_type: 'output_text.delta', turn_number: 1, payload: { delta: text } },
  ...(cuts !== undefined && { cuts }),
})

const end = (sequence: number, output: LogEvent['payload'][string]): LogEvent => ({
  ...{ sequence, event_type: 'turn.completed', turn_number: 1 },
  payload: { turn_number: 1, output, usage: { total_tokens: 3 } },
})

const long = 'a text of some length, which is worth a reference'

it('an answer whose deltas are in its commit is stored once, and read as it was', () => {
  const events = [delta(3, long, [20, 29]), delta(4, long), end(5, `${long}${long}`)]
  const stored = toStored(events)
  expect(JSON.stringify(stored).split(long)).toHaveLength(3)
  expect(stored.at(-1)).toMatchObject({ payload: { output: '' }, deltas: 2 })
  expect(JSON.stringify(fromStored(JSON.parse(JSON.stringify(stored))))).toBe(JSON.stringify(events))
})

it('the text of a failed turn is stored once too, beside its error', () => {
  const output = { text: long, error: { code: 'provider_error' } }
  const events = [delta(3, long), end(4, output)]
  expect(toStored(events).at(-1)?.payload.output).toEqual({ ...output, text: '' })
  expect(fromStored(toStored(events))).toEqual(events)
})

it('a text of which a part is elsewhere is stored whole', () => {
  for (const events of [[end(1, long)], [delta(1, long.slice(1)), end(2, long)], [delta(1, `${long}x`), end(2, long)]])
    expect(toStored(events)).toEqual(events)
})

it('every list of events is read as it was written', () => {
  const text = fc.oneof(fc.string(), fc.constant(long), fc.string({ unit: 'binary', minLength: 40 }))
  const made = fc.array(fc.tuple(text, fc.boolean()), { maxLength: 12 }).map((list) => {
    let whole = ''
    return list.map(([each, isEnd], index) => {
      if (isEnd) return end(index + 1, index % 2 === 0 ? whole : { text: whole })
      whole += each
      return delta(index + 1, each, index % 3 === 0 ? [each.length] : undefined)
    })
  })
  fc.assert(
    fc.property(made, (events) => {
      const stored: readonly LogEvent[] = JSON.parse(JSON.stringify(toStored(events)))
      expect(fromStored(stored)).toEqual(events)
    }),
  )
})
