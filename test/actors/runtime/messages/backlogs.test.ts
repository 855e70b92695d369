import { pino } from 'pino'
import { expect, it } from 'vitest'
import { Outbox } from '#runtime/messages/outbox.ts'
import { refused } from '#runtime/refused.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { openProbe } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'

it('a parked receiver stays one while attempts fail that do not reach it', async () => {
  const { clock, create, find } = await openProbe()
  await create('prb_1')
  const sender = await find('prb_1')
  let isReached = true
  const fails = () => Promise.reject(isReached ? refused({ code: 'actor_parked' }) : new StoreUnavailable('away'))
  const outbox = new Outbox(
    { runs: () => true, deliver: fails, create: fails },
    { definitions: [probeDefinition], erased: async () => false, maxBehind: 10, clock, log: pino({ level: 'silent' }) },
  )
  const messages = ['m0', 'm1'].map((id) => ({ id, to: 'prb_2', event: { type: 'count' } }))
  void outbox.post(sender, messages)
  await calm()
  expect([outbox.size, outbox.fullAmong(messages)]).toMatchObject([0, { isParked: true }])
  isReached = false
  await clock.advance(10_000)
  expect([outbox.size, outbox.fullAmong(messages)]).toMatchObject([0, { isParked: true }])
})
