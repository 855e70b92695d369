import { expect, it } from 'vitest'
import { LogTail } from '#runtime/log/log-tail.ts'

const event = (sequence: number, chars = 1) => ({ sequence, event_type: 'said', payload: { text: 'x'.repeat(chars) } })
const sequences = (tail: LogTail, after: number, last: number) =>
  tail.after(after, last)?.map(({ sequence }) => sequence)

it('returns the events after a sequence if it has all of them', () => {
  const tail = new LogTail()
  tail.remember([event(4), event(5), event(6)])
  expect(sequences(tail, 4, 6)).toEqual([5, 6])
  expect(sequences(tail, 3, 6)).toEqual([4, 5, 6])
  expect(sequences(tail, 6, 6)).toEqual([])
})

it('returns nothing if earlier, later or evicted events are missing', () => {
  const tail = new LogTail()
  tail.remember([event(4), event(5)])
  expect(sequences(tail, 2, 5)).toBeUndefined()
  expect(sequences(tail, 4, 6)).toBeUndefined()
  for (let sequence = 6; sequence <= 40; sequence++) tail.remember([event(sequence)])
  expect(sequences(tail, 5, 40)).toBeUndefined()
  tail.remember([event(41, 70_000)])
  expect(sequences(tail, 40, 41)).toBeUndefined()
})

it('drops the events before a gap, and stores no event twice', () => {
  const tail = new LogTail()
  tail.remember([event(1), event(2)])
  tail.remember([event(2), event(3)])
  expect(sequences(tail, 0, 3)).toEqual([1, 2, 3])
  tail.remember([event(7), event(8)])
  expect(sequences(tail, 2, 8)).toBeUndefined()
  expect(sequences(tail, 6, 8)).toEqual([7, 8])
})

it('has all events after one that a gap follows which a crash has left, and after what was shown in it', () => {
  const tail = new LogTail()
  tail.remember([event(4)])
  tail.remember([{ ...event(1030), follows: 5 }, event(1031)])
  expect(sequences(tail, 5, 1031)).toEqual([1030, 1031])
  expect(sequences(tail, 77, 1031)).toEqual([1030, 1031])
  expect(sequences(tail, 1030, 1031)).toEqual([1031])
  expect(sequences(tail, 4, 1031)).toBeUndefined()
})
