import { afterEach, describe, expect, it, vi } from 'vitest'
import { auditLog } from '#actors/audit/kinds.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { newId } from '#runtime/ids.ts'
import { projectScope } from '#storage/scope.ts'
import { calls, httpTool } from '../sessions/approving.ts'
import { callOf, type World } from '../sessions/harness.ts'
import { openRuns, runOf, startRun, until, untilEnd, withTools } from './run-world.ts'

vi.setConfig({ testTimeout: 60_000 })

let world: World
afterEach(() => world.runtime.drain(0))

type ReplayBody = Parameters<World['useCases']['runs.replay']>[0]['body']

const replay = (run: string, body: ReplayBody = {}) => world.useCases['runs.replay'](callOf({ run_id: run }, {}, body))

const logOf = async (run: string) => world.host.readLog(run, 0)
const sequenceIn = (log: Awaited<ReturnType<typeof logOf>>, type: string) =>
  log.find(({ event_type }) => event_type === type)?.sequence ?? 0

describe('a replay of a run', () => {
  it('is a new run with the same input, or with another one if that is given', async () => {
    world = await openRuns({}, { scripts: [{ text: ['one'] }, { text: ['two'] }, { text: ['three'] }] })
    const input = { prompt: 'go', city: 'Bern' }
    const run = await startRun(world, 'agt_1', { input, expires_in: 600 })
    await untilEnd(world, run)
    const again = await replay(run)
    expect(again).toMatchObject({ replay_of: run, status: 'queued', input })
    expect(Date.parse(again.expires_at) - Date.parse(again.created_at)).toBe(600_000)
    await untilEnd(world, again.id)
    const edited = await replay(run, { input: { prompt: 'go elsewhere' }, reason: 'the city was wrong' })
    await untilEnd(world, edited.id)
    expect(world.provider.requests.at(-1)?.messages).toEqual([{ role: 'user', content: 'go elsewhere' }])
    expect(await runOf(world, edited.id)).toMatchObject({ status: 'completed', output: { text: 'three' } })
    expect(await runOf(world, run)).toMatchObject({ replay_of: null, output: { text: 'one' } })
    const { data } = await world.useCases['runs.list'](callOf({}, { limit: 10 }, undefined))
    expect(data.map(({ replay_of }) => replay_of)).toEqual([run, run, null])
    const lines = await world.storage.records.list(auditLog, projectScope('prj_a'), { limit: 10 })
    expect(lines.map(({ data: { action, reason = null } }) => [action, reason])).toEqual([
      ['run.replayed', 'the city was wrong'],
      ['run.replayed', null],
      ['run.created', null],
    ])
  })

  it('goes on from a step with an edited task, knows what was done until then, and does not do that again', async () => {
    const agents = { agt_1: withTools(httpTool('post')) }
    world = await openRuns(agents, { scripts: [calls('post'), { text: ['one'] }, { text: ['two'] }] })
    const run = await startRun(world, 'agt_1', { input: { prompt: 'go' } })
    await untilEnd(world, run)
    const log = await logOf(run)
    const after_sequence = sequenceIn(log, 'run.tool_call.completed')
    const again = await replay(run, { input: { prompt: 'go slower' }, after_sequence })
    await untilEnd(world, again.id)
    const [, original, edited] = world.provider.requests.map(({ messages }) => messages)
    expect(original?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(edited).toEqual([{ role: 'user', content: 'go slower' }, ...(original?.slice(1) ?? [])])
    expect(await runOf(world, again.id)).toMatchObject({ replay_of: run, output: { text: 'two' } })
    expect((await logOf(again.id)).map(({ event_type }) => event_type)).not.toContain('run.tool_call.started')
    // a replay of a replay knows the same
    const third = await replay(again.id, { after_sequence: 1 })
    await untilEnd(world, third.id)
    expect(world.provider.requests.at(-1)?.messages).toEqual(edited)
  })

  it('is refused from a step that its log does not have, or at which a tool call has no output', async () => {
    const agents = { agt_1: withTools(httpTool('post')) }
    world = await openRuns(agents, { scripts: [calls('post'), { text: ['one'] }] })
    const run = await startRun(world, 'agt_1')
    await untilEnd(world, run)
    const started = sequenceIn(await logOf(run), 'run.tool_call.started')
    for (const after_sequence of [started, 1_000])
      await expect(replay(run, { after_sequence })).rejects.toMatchObject({ code: 'invalid_field' })
  })

  it('is created once per idempotency key, and not for another project', async () => {
    world = await openRuns({}, { scripts: [{ text: ['one'] }] })
    const run = await startRun(world, 'agt_1')
    const foreign = callOf({ run_id: run }, {}, {}, { kind: 'secret_key', project: 'prj_b', keyId: 'k' })
    await expect(world.useCases['runs.replay'](foreign)).rejects.toMatchObject({ code: 'not_found' })
    const idempotency = { cause: 'idem:1', fingerprint: '1', seed: newId('x').slice(2) }
    const call = { ...callOf({ run_id: run }, {}, {}), idempotency }
    expect((await world.useCases['runs.replay'](call)).id).toBe((await world.useCases['runs.replay'](call)).id)
  })

  it('of a child run has no parent, and keeps the approval policy of the run that delegated', async () => {
    const subagents = [{ agent_id: 'agt_child', version: null, description: null }]
    const policy = { default: 'require', tools: { delegate_to_agt_child: 'auto' } } as const
    const agents = {
      agt_1: { subagents, installation_id: 'ins_1', approval_policy: policy, config: noAgent },
      agt_child: withTools(httpTool('post')),
    }
    const delegates = { calls: [{ name: 'delegate_to_agt_child', arguments: '{"task":"post it"}' }] }
    const posts = { calls: [{ name: 'post', arguments: '{}' }] }
    world = await openRuns(agents, { scripts: [delegates, posts, posts] })
    const parent = await startRun(world, 'agt_1')
    const delegated = (await until(world, parent, 'run.delegated')).at(-1)
    const child = String(delegated?.payload.child_run_id)
    await vi.waitFor(() => runOf(world, child), { timeout: 30_000 })
    await until(world, child, 'run.requires_action')
    const again = await replay(child)
    expect(again).toMatchObject({ parent_run_id: null, replay_of: child })
    await until(world, again.id, 'run.requires_action')
  })
})
