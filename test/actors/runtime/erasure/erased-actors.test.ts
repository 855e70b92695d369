import { expect, it } from 'vitest'
import { actionRows } from '#actors/sessions/kinds.ts'
import { deliveryRows } from '#actors/webhooks/kinds.ts'
import { requestErasure } from '#runtime/erasure/erase-listed.ts'
import { removeLate } from '#runtime/erasure/erased-actors.ts'
import type { RecordStore } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { callOf, newSession, openWorld, turn } from '#test/actors/sessions/harness.ts'
import { scriptedWebhook } from '#test/actors/webhooks/scripted-endpoint.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'

const one = (session_id: string) => callOf({ session_id }, {}, undefined)

/** A deleted session for which a late write arrives after its log was removed. */
const resurrected = async () => {
  const clock = new VirtualClock()
  const faulty = new FaultyStorage(openMemoryStorage({ now: clock.now }))
  const world = await openWorld({ storage: faulty.storage, clock })
  const session = await newSession(world)
  faulty.next('late')
  const running = turn(world, session, { input: 'hi' })
  await clock.advance(2000)
  await running
  await world.useCases['sessions.delete'](one(session))
  await calm()
  expect(await faulty.inner.commits.head(session)).toBeNull()
  expect(await faulty.release()).toEqual(['done'])
  expect(await faulty.inner.commits.head(session)).not.toBeNull()
  return { clock, faulty, world, session }
}

it('does not find a deleted session again when a write arrives late', async () => {
  const { faulty, world, session } = await resurrected()
  await expect(world.useCases['sessions.get'](one(session))).rejects.toMatchObject({ code: 'not_found' })
  expect(await faulty.inner.commits.head(session)).toBeNull()
})

it('removes a late write at the start of the server, and runs nothing of it', async () => {
  const { clock, faulty, session } = await resurrected()
  faulty.crash()
  const next = await openWorld({ storage: faulty.inner, clock })
  await next.host.recovery.over()
  expect(await faulty.inner.commits.head(session)).toBeNull()
  expect(next.provider.requests).toEqual([])
})

it('removes a late write after half a minute without a request', async () => {
  const { clock, faulty, session } = await resurrected()
  await clock.advance(31_000)
  expect(await faulty.inner.commits.head(session)).toBeNull()
})

it('removes a late write that was closed, after the erasing process has crashed', async () => {
  const { clock, faulty, session } = await resurrected()
  const { commits } = faulty.inner
  const seq = (await commits.head(session))?.seq ?? 0
  await commits.settle({ close: [{ actor: session, seq }], undue: [], retire: [] })
  faulty.crash()
  const next = await openWorld({ storage: faulty.inner, clock })
  await next.host.recovery.over()
  expect(await commits.open({ limit: 10 })).toEqual([])
  expect(await commits.head(session)).not.toBeNull()
  await clock.advance(33_000)
  expect(await commits.head(session)).toBeNull()
})

it('removes the vectors of erased actors that arrived late, of its own actors only', async () => {
  const { clock, faulty, session } = await resurrected()
  const removed: string[] = []
  const vectors = { removeGroups: async (groups: readonly string[]) => void removed.push(...groups) }
  const storage = { ...faulty.inner, vectors }
  await removeLate({ storage, clock, isMine: () => false })
  expect(removed).toEqual([])
  await removeLate({ storage, clock, isMine: () => true })
  expect(removed).toEqual([session])
})

it('recreates no erased actor when the commit that created it is processed again after a crash', async () => {
  const clock = new VirtualClock()
  const inner = openMemoryStorage({ now: clock.now })
  await scriptedWebhook(inner.records, clock, 'whk_1')
  const attempts: number[] = []
  const endpoint = async () => attempts.push(clock.now()) && 204
  const faulty = new FaultyStorage(inner)
  const { useCases, host } = await openWorld({ storage: faulty.storage, clock, notifiesWebhooks: true, endpoint })
  const body = { tool: 'own', arguments: {}, risk_level: 'low', expires_in: 3600 } as const
  await useCases['actions.create'](callOf({}, {}, body))
  await calm()
  await host.rows.settled()
  const [delivery] = await inner.records.list(deliveryRows, projectScope('prj_a'), { limit: 10 })
  const actor = delivery?.id ?? ''
  expect(attempts).toHaveLength(1)
  await requestErasure({ storage: faulty.storage, host, clock }, { actor, project: 'prj_a', tenant: null })
  await clock.advance(60)
  expect(await inner.commits.head(actor)).toBeNull()
  faulty.crash()
  const next = await openWorld({ storage: inner, clock, notifiesWebhooks: true, endpoint })
  await next.host.recovery.over()
  await clock.advance(1000)
  expect(await inner.commits.head(actor)).toBeNull()
  expect(attempts).toHaveLength(1)
})

/** `records`, whose `project` waits until `gate` resolves. */
const slowRows = (records: RecordStore, gate: Promise<void>): RecordStore =>
  new Proxy(records, {
    get: (_, name) => {
      const method: unknown = Reflect.get(records, name)
      if (typeof method !== 'function') return method
      return async (...args: readonly unknown[]): Promise<unknown> => {
        if (name === 'project') await gate
        return Reflect.apply(method, records, args)
      }
    },
  })

it('shows no row of a deleted action after a crash before its row was written', async () => {
  const clock = new VirtualClock()
  const inner = openMemoryStorage({ now: clock.now })
  const world = await openWorld({ storage: inner, clock })
  const body = { tool: 'own', arguments: {}, risk_level: 'low', expires_in: 3600 } as const
  const { id: actor } = await world.useCases['actions.create'](callOf({}, {}, body))
  const rows = () => inner.records.list(actionRows, projectScope('prj_a'), { limit: 10 })
  await world.host.rows.settled()
  expect(await rows()).toHaveLength(1)
  const gate = Promise.withResolvers<void>()
  const faulty = new FaultyStorage({ ...inner, records: slowRows(inner.records, gate.promise) })
  const { host } = await openWorld({ storage: faulty.storage, clock })
  await requestErasure({ storage: faulty.storage, host, clock }, { actor, project: 'prj_a', tenant: null })
  // by then a replaced process no longer runs
  await clock.advance(7000)
  faulty.crash()
  const next = await openWorld({ storage: inner, clock })
  await next.host.recovery.over()
  await clock.advance(10_000)
  expect(await inner.commits.head(actor)).toBeNull()
  expect(await rows()).toEqual([])
})
