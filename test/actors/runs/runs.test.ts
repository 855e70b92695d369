import { describe, expect, it, vi } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import type { LogEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { wholeReach } from '#test/support/whole-reach.ts'
import { calls, functionTool, httpTool } from '../sessions/approving.ts'
import { callOf, collect, typesOf, type World } from '../sessions/harness.ts'
import { AnsweringModel, cancelRun, openRuns, runOf, startRun, until, untilEnd, withTools } from './run-world.ts'

// many steps of many actors: slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const actionOf = (events: readonly LogEvent[], tool: string): string =>
  String(events.findLast(({ payload }) => payload.tool === tool && 'action_id' in payload)?.payload.action_id)

const approve = (world: World, action_id: string, output?: string) =>
  world.useCases['actions.approve'](
    callOf({ action_id }, {}, output === undefined ? {} : { tool_results: [{ action_id, output }] }),
  )

const reject = (world: World, action_id: string) =>
  world.useCases['actions.reject'](callOf({ action_id }, {}, { reason: 'no' }))

describe('a run without tools', () => {
  it('moves from the queue through one model call to its output', async () => {
    const world = await openRuns({}, { scripts: [{ text: ['Hel', 'lo'] }] })
    const input = { prompt: 'hi', city: 'Bern' }
    const created = await world.useCases['runs.create'](callOf({ agent_id: 'agt_1' }, {}, { input }))
    expect(created).toMatchObject({ agent_id: 'agt_1', status: 'queued', output: null, started_at: null })
    expect(typesOf(await untilEnd(world, created.id))).toEqual([
      'run.queued',
      'run.started',
      'run.model_call.started',
      'run.model_call.completed',
      'run.completed',
    ])
    const run = await runOf(world, created.id)
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, cost_usd: '0.0001' }
    expect(run).toMatchObject({ status: 'completed', input, output: { text: 'Hello' }, usage, error: null })
    expect(run.started_at).not.toBeNull()
    expect(run.finished_at).not.toBeNull()
    const content = 'hi\n\n{\n  "city": "Bern"\n}'
    expect(world.provider.requests[0]?.messages).toEqual([{ role: 'user', content }])
  })

  it('fails with the code interrupted if the model call throws', async () => {
    const model = new AnsweringModel(() => Promise.reject(new Error('not a model error')))
    const world = await openRuns({}, { model })
    const run = await startRun(world, 'agt_1')
    expect((await untilEnd(world, run)).at(-1)).toMatchObject({
      event_type: 'run.failed',
      payload: { error: { code: 'interrupted' } },
    })
    expect(await runOf(world, run)).toMatchObject({ status: 'failed', output: null, error: { code: 'interrupted' } })
  })

  it('has a log that can be read in pages and as a resumable stream', async () => {
    const world = await openRuns({}, { scripts: [{ text: ['Hello'] }] })
    const run = await startRun(world, 'agt_1')
    const whole = await untilEnd(world, run)
    const seen: string[] = []
    for (let cursor: string | undefined, more = true; more; ) {
      const query = { limit: 2, ...(cursor !== undefined && { cursor }) }
      const page = await world.useCases['runs.events'](callOf({ run_id: run }, query, undefined))
      if (!('json' in page)) throw new Error('not a page')
      seen.push(...page.json.data.map(({ event_type }) => event_type))
      more = page.json.next_cursor !== null
      cursor = page.json.next_cursor ?? undefined
    }
    expect(seen).toEqual(typesOf(whole))
    const call = { ...callOf({ run_id: run }, { limit: 2 }, undefined), accept: 'text/event-stream', after: 3 }
    const answer = await world.useCases['runs.events'](call)
    if (!('events' in answer)) throw new Error('not a stream')
    expect(typesOf(await collect(answer.events.stream))).toEqual(typesOf(whole).slice(3))
    const page = await world.useCases['runs.events']({ ...call, accept: 'application/json' })
    expect(page).toMatchObject({ json: { data: [{ sequence: 4 }, { sequence: 5 }] } })
    const foreign = callOf({ run_id: run }, { limit: 2, cursor: 'bm90aGluZw' }, undefined)
    await expect(world.useCases['runs.events'](foreign)).rejects.toMatchObject({ code: 'invalid_query' })
  })
})

describe('the tools of a run', () => {
  it('are run by the server at once, and their outputs reach the model in order', async () => {
    const world = await openRuns(
      { agt_1: withTools(httpTool('post'), httpTool('get')) },
      {
        scripts: [calls('post', 'get', 'made_up'), { text: ['Done.'] }],
        runTool: async ({ tool }) => ({ ok: true, output: tool.type === 'http' ? tool.name : '' }),
      },
    )
    const run = await startRun(world, 'agt_1')
    expect((await untilEnd(world, run)).at(-1)?.payload).toMatchObject({ output: { text: 'Done.' } })
    const said = world.provider.requests[1]?.messages.slice(1)
    expect(said).toMatchObject([
      { role: 'assistant', toolCalls: [{ name: 'post' }, { name: 'get' }, { name: 'made_up' }] },
      { role: 'tool', content: 'post' },
      { role: 'tool', content: 'get' },
      { role: 'tool', content: expect.stringContaining('unknown_tool') },
    ])
  })

  it('wait for an output if the caller runs them', async () => {
    const world = await openRuns(
      { agt_1: withTools(functionTool('confirm')) },
      { scripts: [calls('confirm'), { text: ['Fine.'] }] },
    )
    const run = await startRun(world, 'agt_1')
    const events = await until(world, run, 'run.requires_action')
    expect(events.at(-1)?.payload).toMatchObject({ reason: 'tool_output_required', tool: 'confirm' })
    expect((await runOf(world, run)).status).toBe('requires_action')
    const action = actionOf(events, 'confirm')
    await expect(approve(world, action)).rejects.toMatchObject({ code: 'tool_result_required' })
    expect(await approve(world, action, '42')).toMatchObject({
      status: 'executed',
      run_id: run,
      resolved_by: 'key_prj_a',
    })
    await untilEnd(world, run)
    expect(world.provider.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: '42' })
    expect((await runOf(world, run)).status).toBe('completed')
  })

  it('run once if approved twice, and the model receives the reason of a rejection', async () => {
    const tools = [httpTool('guarded', { needsApproval: true }), httpTool('risky', { risk_level: 'high' })]
    const ran: string[] = []
    const world = await openRuns(
      { agt_1: withTools(...tools) },
      {
        scripts: [calls('guarded', 'risky'), { text: ['So be it.'] }],
        runTool: async ({ actionId, runId }) => {
          ran.push(`${actionId} ${runId}`)
          return { ok: true, output: 'ran' }
        },
      },
    )
    const run = await startRun(world, 'agt_1')
    const events = await until(world, run, 'run.requires_action', 2)
    const guarded = actionOf(events, 'guarded')
    await Promise.all([approve(world, guarded), approve(world, guarded)])
    expect(await reject(world, actionOf(events, 'risky'))).toMatchObject({ status: 'rejected', note: 'no' })
    const log = await untilEnd(world, run)
    expect(typesOf(log)).toContain('run.action.rejected')
    expect(JSON.stringify(log.map(({ payload }) => payload))).not.toContain('"no"')
    expect(ran).toEqual([`${guarded} ${run}`])
    expect(world.provider.requests[1]?.messages.slice(2)).toMatchObject([
      { role: 'tool', content: 'ran' },
      { role: 'tool', content: '{"error":{"code":"rejected","message":"A person rejected this call: no"}}' },
    ])
    expect(log.at(-1)?.event_type).toBe('run.completed')
  })

  it('follow the approval policy of the installation: denied, automatic, or approved by a person', async () => {
    const tools = { barred: 'deny', guarded: 'auto', plain: 'require' } as const
    const world = await openRuns(
      {
        agt_1: {
          ...withTools(httpTool('barred'), httpTool('guarded', { needsApproval: true }), httpTool('plain')),
          approval_policy: { default: 'auto', tools },
        },
      },
      { scripts: [calls('barred', 'guarded', 'plain'), { text: ['Done.'] }] },
    )
    const run = await startRun(world, 'agt_1')
    const events = await until(world, run, 'run.requires_action')
    expect(events.at(-1)?.payload).toMatchObject({ reason: 'approval_required', tool: 'plain' })
    await approve(world, actionOf(events, 'plain'))
    const outputs = (await untilEnd(world, run)).filter(({ event_type }) => event_type === 'run.tool_call.completed')
    const byTool = Object.fromEntries(outputs.map(({ payload }) => [payload.tool, payload.output]))
    expect(byTool).toMatchObject({ guarded: 'done', plain: 'done' })
    expect(byTool.barred).toContain('denied_by_policy')
  })

  it('run an action that a caller creates for the run, which belongs to its tenant', async () => {
    const ran: string[] = []
    const world = await openRuns(
      { agt_1: withTools(httpTool('post'), functionTool('confirm')) },
      {
        scripts: [calls('confirm')],
        runTool: async ({ actionId }) => {
          ran.push(actionId)
          return { ok: true, output: 'posted' }
        },
      },
    )
    const run = await startRun(world, 'agt_1', { tenant_id: 'ten_1' })
    await until(world, run, 'run.requires_action')
    const body = { tool: 'post', arguments: { a: 1 }, risk_level: 'low', run_id: run } as const
    const action = await world.useCases['actions.create'](callOf({}, {}, body))
    expect(action).toMatchObject({ status: 'pending_approval', tenant_id: 'ten_1', run_id: run })
    await approve(world, action.id)
    expect(ran).toEqual([action.id])
    const unknown = callOf({}, {}, { ...body, run_id: 'run_01kb0000000000000000000000' })
    await expect(world.useCases['actions.create'](unknown)).rejects.toMatchObject({
      code: 'not_found',
      details: { param: 'run_id' },
    })
  })
})

describe('a run that is ended', () => {
  it('by cancel aborts the model call, and is cancelled again without a change', async () => {
    const stuck = Promise.withResolvers<void>()
    const model = new AnsweringModel(
      (_request, signal) =>
        new Promise((_, refuse) => {
          signal.addEventListener('abort', () => {
            stuck.resolve()
            refuse(new Error('aborted'))
          })
        }),
    )
    const world = await openRuns({}, { model })
    const run = await startRun(world, 'agt_1')
    await until(world, run, 'run.model_call.started')
    expect(await cancelRun(world, run)).toMatchObject({ status: 'cancelled', finished_at: expect.any(String) })
    await stuck.promise
    expect((await cancelRun(world, run)).status).toBe('cancelled')
    expect((await untilEnd(world, run)).at(-1)?.event_type).toBe('run.cancelled')
  })

  it('by complete while its action waits is refused with what is possible instead', async () => {
    const world = await openRuns({ agt_1: withTools(functionTool('confirm')) }, { scripts: [calls('confirm')] })
    const run = await startRun(world, 'agt_1')
    const action_id = actionOf(await until(world, run, 'run.requires_action'), 'confirm')
    const completion = callOf({ action_id }, {}, { output: 'done' })
    await expect(world.useCases['actions.complete'](completion)).rejects.toMatchObject({
      code: 'invalid_transition',
      message: 'The action is pending_approval; complete is not possible now. Possible now: approve, reject.',
    })
  })

  it('by cancel while it waits rejects its action; a completed run refuses cancel', async () => {
    const world = await openRuns(
      { agt_1: withTools(functionTool('confirm')) },
      { scripts: [calls('confirm'), { text: ['Hello'] }] },
    )
    const run = await startRun(world, 'agt_1')
    const action = actionOf(await until(world, run, 'run.requires_action'), 'confirm')
    await cancelRun(world, run)
    await world.host.delivered(run)
    const after = await world.useCases['actions.get'](callOf({ action_id: action }, {}, undefined))
    expect(after.status).toBe('rejected')
    const other = await startRun(world, 'agt_1')
    await untilEnd(world, other)
    await expect(cancelRun(world, other)).rejects.toMatchObject({
      code: 'invalid_transition',
      message: 'The run is completed; cancel is not possible now.',
    })
  })

  it('by its expiry while an action waits has the status expired', async () => {
    const clock = new VirtualClock()
    const world = await openRuns({ agt_1: withTools(functionTool('confirm')) }, { clock, scripts: [calls('confirm')] })
    const run = await startRun(world, 'agt_1', { expires_in: 60 })
    await clock.advance(1000)
    expect((await runOf(world, run)).status).toBe('requires_action')
    await clock.advance(58_000)
    expect((await runOf(world, run)).status).toBe('requires_action')
    await clock.advance(2000)
    expect((await runOf(world, run)).status).toBe('expired')
  })

  it('by a limit of its agent fails with the code of that limit', async () => {
    const clock = new VirtualClock()
    const limits = { max_steps: 2, max_duration_s: 30 }
    const world = await openRuns(
      { agt_1: { ...withTools(functionTool('confirm')), source: { limits } } },
      { clock, scripts: [calls('made_up'), calls('made_up'), calls('confirm')] },
    )
    const looping = await startRun(world, 'agt_1')
    await clock.advance(1000)
    expect(await runOf(world, looping)).toMatchObject({ status: 'failed', error: { code: 'too_many_steps' } })
    const waiting = await startRun(world, 'agt_1')
    await clock.advance(32_000)
    expect(await runOf(world, waiting)).toMatchObject({ status: 'failed', error: { code: 'time_limit_exceeded' } })
  })

  it('by deletion leaves nothing in the store', async () => {
    const clock = new VirtualClock()
    const world = await openRuns({ agt_1: withTools(functionTool('confirm')) }, { clock, scripts: [calls('confirm')] })
    const run = await startRun(world, 'agt_1')
    await clock.advance(1000)
    await world.host.deliver(run, { event: { type: 'delete' }, cause: 'erase' })
    await clock.advance(60_000)
    expect(await world.storage.commits.events(run, 0, 10)).toEqual([])
    await expect(runOf(world, run)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the owner of a run', () => {
  it('is checked: another project, another agent and a public key do not find the run', async () => {
    const world = await openRuns({}, { scripts: [{ text: ['Hello'] }] })
    const run = await startRun(world, 'agt_1', { tenant_id: 'ten_1' })
    const call = callOf({ run_id: run }, {}, undefined)
    await expect(world.useCases['runs.get']({ ...call, scope: projectScope('prj_b') })).rejects.toMatchObject({
      code: 'not_found',
    })
    const asKey = (agentId: string, keyType: 'secret' | 'public'): Principal => ({
      kind: 'agent_key',
      project: 'prj_a',
      keyId: 'key_b',
      agentId,
      keyType,
      allowedDomains: [],
      reach: wholeReach,
    })
    const own = await world.useCases['runs.get']({ ...call, principal: asKey('agt_1', 'secret') })
    expect(own.tenant_id).toBe('ten_1')
    for (const principal of [asKey('agt_2', 'secret'), asKey('agt_1', 'public')]) {
      await expect(world.useCases['runs.get']({ ...call, principal })).rejects.toMatchObject({ code: 'not_found' })
      const create = callOf({ agent_id: 'agt_1' }, {}, { input: { prompt: 'go' }, tenant_id: 'ten_1' })
      await expect(world.useCases['runs.create']({ ...create, principal })).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('can change its agent without an effect on the run', async () => {
    const tools = [httpTool('guarded', { needsApproval: true })]
    const config = { ...noAgent, model: 'm-1', system_prompt: 'Be brief.', tools }
    const agents = { agt_1: { config } }
    const world = await openRuns(agents, { scripts: [calls('guarded'), { text: ['Done.'] }] })
    const run = await startRun(world, 'agt_1')
    const events = await until(world, run, 'run.requires_action')
    Object.assign(agents, { agt_1: { config: { ...noAgent, model: 'm-2' } } })
    await approve(world, actionOf(events, 'guarded'))
    await untilEnd(world, run)
    expect(world.provider.requests.map(({ model, instructions }) => [model, instructions])).toEqual([
      ['m-1', ['Be brief.']],
      ['m-1', ['Be brief.']],
    ])
  })
})
