import { expect, it } from 'vitest'
import { StreamedCalls } from '#gateway/call/streaming/streamed-calls.ts'

const part = (index: number | undefined, id: string, name: string, text: string) => ({
  ...(index !== undefined && { index }),
  ...{ id, function: { name, arguments: text } },
})

it('calls that a server sends whole and without an index stay separate calls', () => {
  const calls = new StreamedCalls()
  calls.add([part(undefined, 'a', 'one', '{}'), part(undefined, 'b', 'two', '{}')])
  expect(calls.whole).toMatchObject([
    { id: 'a', function: { name: 'one' } },
    { id: 'b', function: { name: 'two' } },
  ])
})

it('the parts of a call are joined by their index, and an invalid index is ignored', () => {
  const calls = new StreamedCalls()
  calls.add([part(1, 'b', 'two', '{"q"'), part(1e9, 'x', 'x', ''), part(-1, 'x', 'x', ''), part(0.5, 'x', 'x', '')])
  calls.add([part(0, 'a', 'one', '{}'), part(1, '', '', ':1}')])
  expect(calls.all).toEqual([
    { id: 'a', name: 'one', arguments: '{}' },
    { id: 'b', name: 'two', arguments: '{"q":1}' },
  ])
})

it('calls keep together without an index: a part with another id or name begins one, also where the index is null', () => {
  const calls = new StreamedCalls()
  calls.add([{ ...part(undefined, 'a', 'one', '{"q"'), index: null }])
  calls.add([{ index: null, function: { arguments: ':1}' } }])
  calls.add([part(undefined, 'b', 'two', '{}'), part(undefined, 'b', 'two', ' '), part(undefined, '', 'three', '{}')])
  expect(calls.all).toEqual([
    { id: 'a', name: 'one', arguments: '{"q":1}' },
    { id: 'b', name: 'two', arguments: '{} ' },
    { id: '', name: 'three', arguments: '{}' },
  ])
})

it('calls that a server numbers from one, or with gaps, are no more than it made', () => {
  const calls = new StreamedCalls()
  calls.add([part(1, 'a', 'one', '{}'), part(3, 'b', 'two', '{}')])
  expect(calls.whole.map(({ id }) => id)).toEqual(['a', 'b'])
})
