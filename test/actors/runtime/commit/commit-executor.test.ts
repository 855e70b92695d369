import { expect, it } from 'vitest'
import type { StoredEvent } from '#storage/ports.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { forever, logOf, openProbe, type ProbeOptions, type Run, typesOf } from '../probe.ts'

const id = 'prb_1'
const work: StoredEvent = { type: 'work', policy: 'idempotent' }

const planted = (): never => {
  throw new Error('planted')
}

const opened = async (options: ProbeOptions) => {
  const probe = await openProbe({ clock: new VirtualClock(Date.now()), ...options })
  await probe.create(id)
  return { ...probe, types: async () => typesOf(await logOf(probe.storage, id)) }
}

it('starts the effects of a durable commit, and acknowledges it, though the rows beside it cannot be made', async () => {
  const done: Run = () => Promise.resolve({ event: { type: 'worked', output: 'done' } })
  const ledger: ProbeOptions['ledger'] = ({ event }) => (event.type === 'work' ? planted() : [])
  const { deliver, clock, types } = await opened({ work: done, ledger })
  expect((await deliver(id, work)).commit).not.toBeNull()
  await clock.advance(0)
  expect(await types()).toEqual(['worked'])
})

it('acknowledges a durable commit, and ends and starts its effects, though the end of a stream cannot be noted', async () => {
  const ended: string[] = []
  const speak: Run = async (params, context) => {
    context.signal.addEventListener('abort', () => void ended.push('speak'))
    for (const delta of ['a', 'b']) await context.part({ type: 'heard', delta }, { type: 'heard' })
    return forever(params, context)
  }
  const { deliver, clock, types } = await opened({ speak, streamEnded: planted })
  await deliver(id, { type: 'speak' })
  await clock.advance(0)
  expect((await deliver(id, { type: 'stop' })).commit).not.toBeNull()
  expect(ended).toEqual(['speak'])
  await deliver(id, { type: 'count' })
  expect(await types()).toEqual(['speech.started', 'speech.delta', 'speech.delta', 'stopped', 'counted'])
})
