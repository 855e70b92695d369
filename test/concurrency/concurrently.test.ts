import { expect, it } from 'vitest'
import { concurrently } from '#src/concurrency/concurrently.ts'

const none = new AbortController().signal

it('runs at most `atOnce` items at a time and returns results in order', async () => {
  let running = 0
  let max = 0
  const gates = Array.from({ length: 7 }, () => Promise.withResolvers<void>())
  const all = concurrently([...gates.keys()], { atOnce: 3, signal: none }, async (item) => {
    max = Math.max(max, ++running)
    await gates[item]?.promise
    running--
    return item * 2
  })
  for (const gate of gates.toReversed()) gate.resolve()
  expect(await all).toEqual([0, 2, 4, 6, 8, 10, 12])
  expect(max).toBe(3)
})

it('aborts the other items when one fails, and starts no further item', async () => {
  const begun: number[] = []
  const all = concurrently([0, 1, 2, 3], { atOnce: 2, signal: none }, async (item, signal) => {
    begun.push(item)
    if (item === 1) throw new Error('no')
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  })
  await expect(all).rejects.toThrow('no')
  expect(begun).toEqual([0, 1])
})

it('returns nothing for no items', async () => {
  expect(await concurrently([], { atOnce: 4, signal: none }, async () => 1)).toEqual([])
})
