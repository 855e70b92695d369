import { expect, it } from 'vitest'
import { agents } from '#actors/agents/kinds.ts'
import { A2aRuns, type A2aRunsParts } from '#actors/runs/a2a/a2a-runs.ts'
import { a2aTasks } from '#actors/runs/a2a/a2a-tasks.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, StoreUnavailable } from '#storage/index.ts'
import { callOf } from '#test/actors/sessions/harness.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { openRuns, runOf } from '../run-world.ts'

const message = { messageId: 'm1', contextId: null, taskId: null, text: 'go', data: [] }

const open = async () => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage({ now: clock.now })
  const { records } = storage
  const world = await openRuns({}, { storage, clock })
  await records.prepare([agents, a2aTasks])
  const call = callOf({ agent_id: 'agt_1' }, {}, undefined)
  const { project } = call.scope
  const data = { name: 'Agent', description: null, config: { model: 'scripted-1' } }
  await new Table(records, agents, clock.now).insert({ id: 'agt_1', project, data })
  const runsOf = (create: A2aRunsParts['useCases']['runs.create'] = world.useCases['runs.create']) =>
    new A2aRuns({
      ...{ host: world.host, records, clock, now: clock.now, serverUrl: 'http://127.0.0.1' },
      useCases: { ...world.useCases, 'runs.create': create },
    })
  const kept = () => records.list(a2aTasks, projectScope(project), { limit: 10 })
  return { world, call, runsOf, kept }
}

const refuse = async (): Promise<never> => {
  throw new ServiceError('rate_limit_exceeded')
}

it('keeps nothing of a message whose run is refused, which begins a run once it is not', async () => {
  const { world, call, runsOf, kept } = await open()
  await expect(runsOf(refuse).sent(call, message, true)).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  expect(await kept()).toEqual([])
  const { id } = await runsOf().sent(call, message, true)
  expect(await runOf(world, id)).toMatchObject({ agent_id: 'agt_1' })
})

it('keeps the record of a message whose run has begun, though its repeat is refused', async () => {
  const { call, runsOf, kept } = await open()
  const { id } = await runsOf().sent(call, message, true)
  await expect(runsOf(refuse).sent(call, message, true)).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  expect((await kept()).map(({ data }) => data.run_id)).toEqual([id])
})

it('keeps the record when it is unknown whether there is a run, which the repeat then begins once', async () => {
  const { call, runsOf, kept } = await open()
  const away = runsOf(() => Promise.reject(new StoreUnavailable('away')))
  await expect(away.sent(call, message, true)).rejects.toBeInstanceOf(StoreUnavailable)
  const [record] = await kept()
  expect((await runsOf().sent(call, message, true)).id).toBe(record?.data.run_id)
})
