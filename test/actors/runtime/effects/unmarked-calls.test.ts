import { pino } from 'pino'
import { expect, it } from 'vitest'
import { EffectCall } from '#runtime/effects/effect-call.ts'
import { Suspects } from '#runtime/effects/suspects.ts'
import type { Delivered } from '#runtime/resident.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { openProbe, probeEffects } from '../probe.ts'
import { id, Worker } from './effect-worker.ts'

/** Calls an at-most-once effect whose mark gets an answer. */
const called = async (mark: () => Promise<Delivered>) => {
  const probe = await openProbe()
  await probe.create(id)
  const worker = new Worker()
  const marks: string[] = []
  const call = new EffectCall(
    {
      catalog: probeEffects({ work: worker.run }),
      host: {
        ...{ ownership: probe.host.ownership, telemetry: undefined, rows: probe.host.rows, drop: () => {} },
        ...{ shown: probe.host.shown, resident: (actor: string) => probe.host.resident(actor) },
        deliver: (_actor, { event }) => {
          marks.push(event.type)
          return mark()
        },
      },
      clock: probe.clock,
      log: pino({ level: 'silent' }),
      suspects: new Suspects(),
    },
    {
      resident: await probe.find(id),
      id: `${id}:2:0`,
      flight: { name: 'work', params: {}, policy: 'at_most_once' },
      fresh: true,
    },
    new AbortController(),
  )
  return { end: await call.run(), begun: worker.begun.length, marks }
}

it('a call whose actor was removed before its mark is not made', async () => {
  const removed = () => Promise.reject(new ServiceError('not_found'))
  expect(await called(removed)).toEqual({ end: 'ended', begun: 0, marks: ['$started'] })
})

it('a call whose effect is no longer in flight when it is marked is not made', async () => {
  const ended = async () => ({ commit: null, duplicate: false })
  expect(await called(ended)).toEqual({ end: 'ended', begun: 0, marks: ['$started'] })
})
