import { expect, it } from 'vitest'
import { agents } from '#actors/agents/kinds.ts'
import { pushConfigs, pushRecordId } from '#actors/runs/a2a/a2a-push-config.ts'
import { A2aPushes } from '#actors/runs/a2a/a2a-pushes.ts'
import { answerRpc } from '#actors/runs/a2a/a2a-rpc.ts'
import { A2aRuns, type A2aRunsParts } from '#actors/runs/a2a/a2a-runs.ts'
import type { TaskView } from '#actors/runs/a2a/a2a-task.ts'
import { a2aTasks } from '#actors/runs/a2a/a2a-tasks.ts'
import { a2aUseCases } from '#actors/runs/a2a/a2a-use-cases.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import { type JsonObject, projectScope, StoreUnavailable } from '#storage/index.ts'
import { callOf } from '#test/actors/sessions/harness.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { readableBox } from '#test/support/open-services.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { openRuns, runOf } from '../run-world.ts'

const push = { id: null, url: 'https://93.184.216.34/updates', secrets: { token: 'secret' }, place: 'push' }
const message = { message: { messageId: 'm1', contextId: null, taskId: null, text: 'go', data: [] }, push }

const open = async (clock = new VirtualClock()) => {
  const storage = openMemoryStorage({ now: clock.now })
  const { records } = storage
  const world = await openRuns({}, { storage, clock })
  await records.prepare([agents, a2aTasks, pushConfigs])
  const guard = openSsrfGuard({ allowedPrivateHosts: [] })
  const pushes = new A2aPushes({ records, guard, box: readableBox, now: clock.now })
  const call = callOf({ agent_id: 'agt_1' }, {}, undefined)
  const { project } = call.scope
  const data = { name: 'Agent', description: null, config: { model: 'scripted-1' } }
  await new Table(records, agents, clock.now).insert({ id: 'agt_1', project, data })
  const parts = {
    ...{ host: world.host, records, clock, now: clock.now, serverUrl: 'http://127.0.0.1', pushes },
    useCases: world.useCases,
  }
  const runsOf = (create: A2aRunsParts['useCases']['runs.create'] = world.useCases['runs.create']) =>
    new A2aRuns({ ...parts, useCases: { ...world.useCases, 'runs.create': create } })
  const kept = () => records.list(a2aTasks, projectScope(project), { limit: 10 })
  const keptConfigs = () => records.list(pushConfigs, projectScope(project), { limit: 10 })
  return { world, call, parts, runsOf, kept, keptConfigs, pushes }
}

const refuse = async (): Promise<never> => {
  throw new ServiceError('rate_limit_exceeded')
}

it('keeps nothing of a message whose run is refused, which begins a run once it is not', async () => {
  const { world, call, runsOf, kept, keptConfigs } = await open()
  await expect(runsOf(refuse).sent(call, message, true)).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  expect([await kept(), await keptConfigs()]).toEqual([[], []])
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

it('a task that is sent again has one config, whose pushes say what the notice says and show no secret', async () => {
  const { call, runsOf, keptConfigs, pushes } = await open()
  const { id: run_id } = await runsOf().sent(call, message, true)
  await runsOf().sent(call, message, true)
  expect(await keptConfigs()).toHaveLength(1)
  expect(await runsOf().pushConfigs(call, run_id)).toEqual({
    configs: [{ id: 'message', taskId: run_id, url: push.url }],
    nextPageToken: '',
  })
  const { project, tenant } = call.scope
  const pushed = async (event_type: WebhookEventType, more: JsonObject = {}) => {
    const data = { run_id, status: event_type.slice('run.'.length), ...more }
    const wanting = await pushes.wanting({ id: 'n1', project, tenant, at: 0, event_type, data })
    return wanting.map(({ body }) => JSON.parse(body).task)
  }
  expect(await pushed('run.queued')).toEqual([])
  expect(await pushed('run.requires_action', { action_ids: ['act_1'] })).toMatchObject([
    {
      id: run_id,
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{}, { data: { action_ids: ['act_1'] } }] } },
    },
  ])
  expect(await pushed('run.completed', { output: { text: 'Done.' } })).toMatchObject([
    { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'Done.' }] }] },
  ])
  expect(await pushed('run.failed', { error: { code: 'x', message: 'No.' } })).toMatchObject([
    { status: { state: 'TASK_STATE_FAILED', message: { parts: [{ text: 'No.' }, { data: { code: 'x' } }] } } },
  ])
})

it('a task has at most ten configs, and an address that answers that it is gone gets no more', async () => {
  const { call, runsOf, pushes } = await open()
  const { id } = await runsOf().sent(call, { ...message, push: null }, true)
  const set = (n: number) => runsOf().setPush(call, id, { ...push, id: `c${n}` })
  for (let n = 0; n < 10; n++) await set(n)
  await expect(set(10)).rejects.toMatchObject({ code: 'invalid_field' })
  await set(3)
  const receiver = await pushes.get(call.scope.project, pushRecordId(id, 'c3'))
  const gone = { status: 410, error: 'http_error', response: null } as const
  await receiver?.noted(gone)
  expect((await runsOf().pushConfigs(call, id)).configs.map((config) => config.id)).not.toContain('c3')
  await expect(runsOf().pushConfig(call, id, 'c3')).rejects.toMatchObject({ code: 'not_found' })
  const earlier = await pushes.get(call.scope.project, pushRecordId(id, 'c4'))
  await runsOf().setPush(call, id, { ...push, id: 'c4', url: `${push.url}/moved` })
  expect(await earlier?.noted(gone)).toBe(true)
  expect(await runsOf().pushConfig(call, id, 'c4')).toMatchObject({ url: `${push.url}/moved` })
})

it('lists tasks without their artifacts unless they are wanted, and shows no history where its length is 0', async () => {
  const { call, runsOf } = await open()
  const runs = runsOf()
  const { id, history, artifacts } = await runs.sent(call, message, false)
  expect([history?.length, artifacts?.length]).toEqual([1, 1])
  const listed = async (view: TaskView) =>
    (await runs.list(call, { pageSize: 1, contextId: `ctx_${id.slice(4)}` }, view)).tasks
  expect(await listed({})).toMatchObject([{ id, history }])
  expect((await listed({})).map((task) => task.artifacts)).toEqual([undefined])
  expect(await listed({ includeArtifacts: true, historyLength: 0 })).toMatchObject([{ id, artifacts }])
  expect((await runs.task(call, id, { historyLength: 0 })).history).toBeUndefined()
  expect(await runs.task(call, id)).toMatchObject({ history, artifacts })
})

const messageOf = (messageId: string, contextId: string | null = null) => ({
  ...{ message: { ...message.message, messageId, contextId }, push: null },
})

it('pages through the tasks of a context and counts all of them', async () => {
  const { call, runsOf } = await open()
  const runs = runsOf()
  const sent: string[] = []
  for (const id of ['a', 'b', 'c']) sent.push((await runs.sent(call, messageOf(id, 'ctx-1'), false)).id)
  const page = (pageToken: string) => runs.list(call, { pageSize: 2, contextId: 'ctx-1', pageToken }, {})
  const first = await page('')
  expect([first.tasks.length, first.totalSize]).toEqual([2, 3])
  const second = await page(first.nextPageToken)
  expect([second.tasks.length, second.totalSize, second.nextPageToken]).toEqual([1, 3, ''])
  expect([...first.tasks, ...second.tasks].map(({ id }) => id).sort()).toEqual(sent.toSorted())
  expect(await runs.list(call, { pageSize: 1 }, {})).toMatchObject({ totalSize: 3, tasks: [{ id: sent.at(-1) }] })
  await expect(page('x')).rejects.toMatchObject({ code: 'invalid_field' })
})

it('lists and counts only the tasks whose state changed since a time', async () => {
  const clock = new VirtualClock()
  const { call, runsOf } = await open(clock)
  const runs = runsOf()
  const byRpc = (statusTimestampAfter: string) =>
    answerRpc(runs, { ...call, body: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { statusTimestampAfter } } })
  const ended = async (id: string) => (await runs.sent(call, messageOf(id), false)).id
  await ended('a')
  await clock.advance(60_000)
  const since = clock.now()
  const later = [await ended('b'), await ended('c')]
  const listed = await runs.list(call, { pageSize: 5, since, status: 'TASK_STATE_COMPLETED' }, {})
  expect([listed.totalSize, listed.tasks.map(({ id }) => id).sort()]).toEqual([2, later.toSorted()])
  expect((await runs.list(call, { pageSize: 5, since, status: 'TASK_STATE_FAILED' }, {})).totalSize).toBe(0)
  expect(await byRpc(new Date(since).toISOString())).toMatchObject({ json: { result: { totalSize: 2 } } })
  expect(await byRpc('yesterday')).toMatchObject({ json: { error: { code: -32602 } } })
})

it('answers a call of another version with the error that the protocol has for it, in both bindings', async () => {
  const { call, runsOf, parts } = await open()
  const rpc = { ...call, body: { jsonrpc: '2.0' as const, id: 7, method: 'ListTasks' } }
  const answer = (a2aVersion?: string) => answerRpc(runsOf(), { ...rpc, a2aVersion })
  for (const other of ['0.3', '', '1.1', '2.0'])
    expect(await answer(other)).toMatchObject({ json: { id: 7, error: { code: -32009 } } })
  for (const served of [undefined, '1.0', '1.0.1']) expect(await answer(served)).toMatchObject({ json: { result: {} } })
  const useCases = a2aUseCases(parts)
  const listed = useCases['a2a.tasks']({ ...call, query: { pageSize: 1 }, a2aVersion: '0.3' })
  await expect(listed).rejects.toMatchObject({ details: { extra: { reason: 'VERSION_NOT_SUPPORTED' } } })
})
