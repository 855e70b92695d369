import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { pause } from '#runtime/clock.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

it('a pause leaves nothing at its signal, which may outlast the retries of hours', async () => {
  const clock = new VirtualClock()
  const { signal } = new AbortController()
  const paused = pause(clock, 1000, signal)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await clock.advance(1000)
  await paused
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})
