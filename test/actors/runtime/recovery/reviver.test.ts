import { pino } from 'pino'
import { expect, it } from 'vitest'
import { NotOwner } from '#runtime/commit/superseded.ts'
import { Reviver } from '#runtime/recovery/reviver.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const log = pino({ level: 'silent' })

/** A reviver whose loads return these results in order, and the last of them from then on. */
const reviving = (loads: readonly unknown[], holds = true) => {
  const clock = new VirtualClock()
  let loadCount = 0
  const load = async (): Promise<unknown> => {
    const next = loads[Math.min(loadCount++, loads.length - 1)]
    if (next instanceof Error) throw next
    return next
  }
  return { clock, reviver: new Reviver({ load, holds: () => holds, clock, log }), loadsOf: () => loadCount }
}

it('loads an actor until the store answers', async () => {
  const { clock, reviver, loadsOf } = reviving([new StoreUnavailable('away'), new StoreUnavailable('away'), {}])
  reviver.revive('prb_1')
  reviver.revive('prb_1')
  const there = reviver.underWay('prb_1')
  await clock.advance(60_000)
  await there
  expect([loadsOf(), reviver.underWay('prb_1')]).toEqual([3, undefined])
})

it('loads an actor of which nothing has failed without a pause', async () => {
  const { clock, reviver, loadsOf } = reviving([new StoreUnavailable('away'), {}])
  reviver.revive('prb_1', true)
  expect(loadsOf()).toBe(1)
  await clock.advance(60_000)
  expect(loadsOf()).toBe(2)
})

it('leaves an actor to its next owner', async () => {
  const { clock, reviver, loadsOf } = reviving([new NotOwner('another one has it')], false)
  reviver.revive('prb_1')
  await clock.advance(60_000)
  expect(loadsOf()).toBe(1)
})

it('continues with an actor whose lease is in doubt, as it may be renewed', async () => {
  const { clock, reviver, loadsOf } = reviving([new NotOwner('not certain'), new NotOwner('not certain'), {}])
  reviver.revive('prb_1')
  await clock.advance(60_000)
  expect(loadsOf()).toBe(3)
})

it('looks again for a missing actor, as its first commit may be on its way', async () => {
  const { clock, reviver, loadsOf } = reviving([null])
  reviver.revive('prb_1')
  await clock.advance(1000)
  expect([loadsOf(), reviver.underWay('prb_1')]).toEqual([1, undefined])
  await clock.advance(60_000)
  expect(loadsOf()).toBe(3)
})
