import { describe, expect, it, vi } from 'vitest'
import type { LogEvent } from '#storage/ports.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { functionTool } from '../sessions/approving.ts'
import { typesOf } from '../sessions/harness.ts'
import {
  type Agents,
  AnsweringModel,
  cancelRun,
  openRuns,
  runOf,
  startRun,
  until,
  untilEnd,
  withTools,
} from './run-world.ts'

// many steps of many actors: slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const subagent = (agent_id: string) => ({ agent_id, version: null, description: null })

const delegating = (...agents: readonly string[]) => ({ subagents: agents.map(subagent) })

const callChild = (agent: string, task = 'dig') => ({
  toolCalls: [{ callId: 'c', name: `delegate_to_${agent}`, arguments: JSON.stringify({ task }) }],
})

/** A model that delegates to an agent in its first answer, and repeats the last output in its second. */
const boss = (agent: string) =>
  new AnsweringModel((request) => {
    const last = request.messages.at(-1)
    if (last?.role === 'tool') return { text: `It says: ${last.content}` }
    const offered = request.tools.some(({ name }) => name === `delegate_to_${agent}`)
    return offered ? callChild(agent) : { text: `dug: ${last?.content}` }
  })

const childOf = (events: readonly LogEvent[]): string =>
  String(events.find(({ event_type }) => event_type === 'run.delegated')?.payload.child_run_id)

describe('a run whose model delegates', () => {
  it('starts one child, releases its slot meanwhile, and continues with the result of the child', async () => {
    const concurrency = { perProject: 1, perTenant: 1 }
    const world = await openRuns({ agt_1: delegating('agt_2') }, { model: boss('agt_2'), concurrency })
    const run = await startRun(world, 'agt_1', { tenant_id: 'ten_1', external_user_id: 'u1' })
    const events = await untilEnd(world, run)
    expect(typesOf(events)).toEqual([
      'run.queued',
      'run.started',
      'run.model_call.started',
      'run.model_call.completed',
      'run.tool_call.started',
      'run.delegated',
      'run.child.completed',
      'run.tool_call.completed',
      'run.model_call.started',
      'run.model_call.completed',
      'run.completed',
    ])
    expect(await runOf(world, run)).toMatchObject({ output: { text: 'It says: dug: dig' } })
    expect(await runOf(world, childOf(events))).toMatchObject({
      agent_id: 'agt_2',
      status: 'completed',
      parent_run_id: run,
      tenant_id: 'ten_1',
      external_user_id: 'u1',
      input: { prompt: 'dig' },
      output: { text: 'dug: dig' },
    })
  })

  it('delegates at most five levels deep: the last run is offered no agents', async () => {
    const chain: Agents = { agt_1: delegating('agt_1') }
    const model = boss('agt_1')
    const world = await openRuns(chain, { model })
    const events = await untilEnd(world, await startRun(world, 'agt_1'))
    expect(events.at(-1)?.payload).toMatchObject({ output: { text: `${'It says: '.repeat(5)}dug: dig` } })
    expect(model.requests.filter(({ tools }) => tools.length === 0)).toHaveLength(1)
  })

  it('completes with the error of a failed child', async () => {
    const model = new AnsweringModel(({ messages, tools }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return { text: last.content }
      if (tools.length > 0) return callChild('agt_2')
      return Promise.reject(new Error('broken'))
    })
    const world = await openRuns({ agt_1: delegating('agt_2') }, { model })
    const events = await untilEnd(world, await startRun(world, 'agt_1'))
    expect(events.at(-1)).toMatchObject({ event_type: 'run.completed' })
    expect(JSON.stringify(events.at(-1)?.payload.output)).toContain('interrupted')
  })

  it.each(['cancelled', 'expired'] as const)('that is %s ends its children as well', async (status) => {
    const clock = new VirtualClock()
    const agents = { agt_1: delegating('agt_2'), agt_2: delegating('agt_3'), agt_3: withTools(functionTool('confirm')) }
    const model = new AnsweringModel((request) => {
      const [offered] = request.tools
      if (offered?.name === 'confirm') return { toolCalls: [{ callId: 'c', name: 'confirm', arguments: '{}' }] }
      return offered === undefined ? { text: 'never' } : callChild(offered.name.replace('delegate_to_', ''))
    })
    const world = await openRuns(agents, { clock, model })
    const run = await startRun(world, 'agt_1', { expires_in: 60 })
    await clock.advance(5000)
    const child = childOf(await world.storage.commits.events(run, 0, 100))
    const grandchild = childOf(await world.storage.commits.events(child, 0, 100))
    expect((await runOf(world, grandchild)).status).toBe('requires_action')
    if (status === 'cancelled') await cancelRun(world, run)
    await clock.advance(60_000)
    for (const each of [run, child, grandchild]) expect((await runOf(world, each)).status).toBe(status)
  })
})

describe('a run that waits for its child', () => {
  it('has the status running, and continues when the child is cancelled', async () => {
    const stuck = Promise.withResolvers<void>()
    const model = new AnsweringModel(async ({ messages, tools }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return { text: last.content }
      if (tools.length > 0) return callChild('agt_2')
      await stuck.promise
      return { text: 'late' }
    })
    const world = await openRuns({ agt_1: delegating('agt_2') }, { model })
    const run = await startRun(world, 'agt_1')
    const child = childOf(await until(world, run, 'run.delegated'))
    await until(world, child, 'run.model_call.started')
    expect((await runOf(world, run)).status).toBe('running')
    await cancelRun(world, child)
    const events = await untilEnd(world, run)
    expect(events.at(-1)?.payload).toMatchObject({ output: { text: expect.stringContaining('cancelled') } })
    stuck.resolve()
  })
})
