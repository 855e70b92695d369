import { expect, it } from 'vitest'
import { Janitor } from '#runtime/log/janitor.ts'
import { openProbe } from '../probe.ts'

it('removes idle actors from memory that were used before the wall clock was set back', async () => {
  const probe = await openProbe()
  await probe.create('prb_1')
  probe.clock.set(-24 * 60 * 60_000)
  await probe.clock.advance(63_000)
  expect(probe.host.live).toBe(0)
})

it('removes actors beyond the limit as soon as they are idle, and keeps those with running effects', async () => {
  const probe = await openProbe()
  for (let at = 0; at < 6; at++) await probe.create(`prb_${at}`)
  await probe.deliver('prb_0', { type: 'work', policy: 'idempotent' })
  const janitor = new Janitor(probe.host, probe.clock, { max: 2, idleMs: 60_000 })
  janitor.start()
  await probe.clock.advance(500)
  expect(probe.host.live).toBe(6)
  await probe.clock.advance(4000)
  expect(probe.host.live).toBe(2)
  expect(probe.host.resident('prb_0')).toBeDefined()
  janitor.stop()
})
