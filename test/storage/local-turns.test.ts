import { expect, it } from 'vitest'
import { LocalTurns, maxResources } from '#storage/local-turns.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { turnsContract } from './contract/turns.ts'

turnsContract('local', async () => {
  const clock = new VirtualClock()
  const turns = new LocalTurns(clock)
  return { views: [turns, turns], tick: () => clock.advance(100), close: async () => {} }
})

it('the turns of the oldest of 10,000 resources are forgotten', async () => {
  const turns = new LocalTurns(new VirtualClock())
  const rule = { atOnce: 1, spacingMs: 1_000, holdMs: 1_000 }
  for (let n = 0; n <= maxResources; n += 1) await turns.take(`h${n}`, 'a', rule)
  expect((await turns.take('h0', 'b', rule)).taken).toBe(true)
  expect((await turns.take(`h${maxResources}`, 'b', rule)).taken).toBe(false)
})
