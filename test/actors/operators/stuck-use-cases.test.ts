import { expect, it } from 'vitest'
import type { Call, Principal } from '#actors/call/call.ts'
import { stuckUseCases } from '#actors/operators/stuck-use-cases.ts'
import { projectScope } from '#storage/scope.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, owner } from '../runtime/probe.ts'

const id = 'prb_1'
const keyOf = (project: string): Principal => ({ kind: 'secret_key', keyId: 'key_1', project })

const callOf = <P, Q, B>(params: P, query: Q, body: B, project = owner.project): Call<P, Q, B> => ({
  params,
  query,
  body,
  principal: keyOf(project),
  scope: projectScope(project),
  after: null,
  idempotency: null,
  requestId: 'req_1',
  remoteAddress: '127.0.0.1',
  accept: '',
  files: [],
  signal: new AbortController().signal,
})

/** A probe whose effect fails until `works` is set, and the use cases of operators. */
const parked = async () => {
  const state = { works: false }
  const probe = await openProbe({
    clock: new VirtualClock(Date.now()),
    work: () =>
      state.works ? Promise.resolve({ event: { type: 'worked', output: 'done' } }) : Promise.reject(new Error('no')),
  })
  await probe.create(id)
  await probe.deliver(id, { type: 'work', policy: 'idempotent' })
  await probe.clock.advance(60_000)
  const useCases = stuckUseCases({ host: probe.host, records: probe.storage.records, now: probe.clock.now })
  const list = async (project = owner.project) =>
    (await useCases['stuck.list'](callOf({}, { limit: 10 }, undefined, project))).data
  const [stuck] = await list()
  if (stuck === undefined) throw new Error('nothing is stuck')
  return { probe, state, useCases, list, stuck }
}

it('stuck work is shown with its reason to its own project, and not found by another', async () => {
  const { list, stuck, useCases } = await parked()
  expect(stuck).toMatchObject({
    kind: 'parked_actor',
    actor_id: id,
    machine: 'probe',
    reason: 'Error: no',
    attempts: 3,
  })
  expect(await useCases['stuck.get'](callOf({ stuck_id: stuck.id }, {}, undefined))).toEqual(stuck)
  expect(await list('prj_2')).toEqual([])
  const foreign = useCases['stuck.retry'](callOf({ stuck_id: stuck.id }, {}, {}, 'prj_2'))
  await expect(foreign).rejects.toMatchObject({ code: 'not_found' })
})

it('a retry is journaled with its caller, and the work continues', async () => {
  const { probe, state, useCases, list, stuck } = await parked()
  state.works = true
  await useCases['stuck.retry'](callOf({ stuck_id: stuck.id }, {}, {}))
  await probe.clock.advance(100)
  expect((await logOf(probe.storage, id)).map(({ payload }) => payload.output)).toEqual(['done'])
  expect(await list()).toEqual([])
  const commits = await probe.storage.commits.ofProject(owner.project, null, 100)
  const decision = commits.find(({ event }) => event.type === '$retry')
  expect(decision?.event.by).toMatchObject({ kind: 'secret_key', id: 'key_1' })
  expect(decision?.messages).toMatchObject([{ to: 'audit', event: { action: 'stuck_work.retried' } }])
})

it('a skip accepts events of the machine only', async () => {
  const { probe, useCases, stuck } = await parked()
  const skip = (event: { type: string }) => useCases['stuck.skip'](callOf({ stuck_id: stuck.id }, {}, { event }))
  await expect(skip({ type: '$retry' })).rejects.toMatchObject({ code: 'invalid_field', details: { param: 'event' } })
  await skip({ type: 'worked' })
  expect((await probe.find(id)).state.inFlight).toEqual({})
})
