import { afterEach, describe, expect, it } from 'vitest'
import { auditLogUseCases } from '#actors/audit/audit-use-cases.ts'
import { auditLog } from '#actors/audit/kinds.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { AnsweringModel, cancelRun, openRuns, runOf, startRun, until, untilEnd, withTools } from '../runs/run-world.ts'
import { approval, approve, asUser, calls, functionTool, keyed, pausedTurn, reject } from '../sessions/approving.ts'
import { callOf, collect, newSession, openWorld, type Script, turn, type World } from '../sessions/harness.ts'

let world: World
afterEach(() => world.runtime.drain(0))

const project = projectScope('prj_a')
const key = { actor_kind: 'secret_key', actor_id: 'key_prj_a' }

const lines = async () => {
  const rows = await new Table(world.storage.records, auditLog, world.clock.now).list(project, { limit: 100 })
  return rows.map(({ data, tenant, created_at }) => ({ ...data, tenant, created_at }))
}

/** Audit lines, once everything in the commits of these actors is delivered. */
const linesOf = async (...actors: readonly string[]) => {
  for (const actor of actors) await world.host.delivered(actor)
  return lines()
}

describe('the audit log names who decided about an action, and its tool', () => {
  const paused = async (...more: readonly Script[]) => {
    world = await openWorld({ scripts: [calls('confirm'), ...more, { text: ['done'] }] })
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('confirm', true)] })
    return { session, id: waiting.confirm ?? '' }
  }
  const lineOf = (done: string, id: string) => ({
    ...key,
    action: `action.${done}`,
    resource_type: 'action',
    resource_id: id,
    resource_name: 'confirm',
    changes: [],
  })

  it('when it is approved through its session', async () => {
    const { session, id } = await paused()
    const before = world.clock.now()
    await approve(world, session, id)
    const [line, ...others] = await linesOf(id)
    expect(others).toEqual([])
    expect(line).toMatchObject(lineOf('approved', id))
    expect(line?.created_at).toBeGreaterThanOrEqual(before)
  })

  it('when it is rejected through its session', async () => {
    const { session, id } = await paused()
    await reject(world, session, id)
    expect(await linesOf(id)).toEqual([expect.objectContaining(lineOf('rejected', id))])
  })

  it('when it is approved directly', async () => {
    const { id } = await paused()
    const body = { tool_results: [{ action_id: id, output: '1' }] }
    await world.useCases['actions.approve'](callOf({ action_id: id }, {}, body))
    expect(await linesOf(id)).toEqual([expect.objectContaining(lineOf('approved', id))])
  })

  it('when it is rejected directly', async () => {
    const { id } = await paused()
    await world.useCases['actions.reject'](callOf({ action_id: id }, {}, { reason: 'no' }))
    expect(await linesOf(id)).toEqual([expect.objectContaining(lineOf('rejected', id))])
  })

  it('in the response of audit_log.list', async () => {
    const { session, id } = await paused()
    await reject(world, session, id)
    await world.host.delivered(id)
    const { clock, storage } = world
    const useCases = auditLogUseCases({
      records: storage.records,
      notices: { delivered: async () => {} },
      now: clock.now,
    })
    const { data } = await useCases['audit_log.list'](callOf({}, { limit: 10, resource_id: id }, undefined))
    const actor = { kind: 'secret_key', id: 'key_prj_a', ip: '127.0.0.1' }
    const resource = { type: 'action', id, name: 'confirm' }
    expect(data).toEqual([expect.objectContaining({ action: 'action.rejected', actor, resource })])
  })

  it('once, even if the decision is repeated', async () => {
    const { session, id } = await paused()
    const call = keyed(approval(session, id, [{ action_id: id, output: '1' }]), 'once')
    for (let time = 0; time < 3; time++) await collect((await world.useCases['sessions.approve'](call)).stream)
    await world.useCases['actions.approve'](callOf({ action_id: id }, {}, {}))
    expect(await linesOf(id)).toHaveLength(1)
  })

  it('and identifies an end user by a hash, without an address', async () => {
    const { id } = await paused()
    const call = asUser(callOf({ action_id: id }, {}, { reason: 'no' }), 'ten_a', 'ada')
    await world.useCases['actions.reject']({ ...call, scope: project })
    const [line] = await linesOf(id)
    const named = expect.stringMatching(/^[0-9a-f]{32}$/)
    expect(line).toMatchObject({ actor_kind: 'client_token', actor_id: named, actor_ip: null })
    expect(JSON.stringify(line)).not.toContain('ada')
  })

  it('and has no line for a cancelled action or for a turn', async () => {
    const { session, id } = await paused({ text: ['again'] })
    await world.useCases['sessions.cancel'](callOf({ session_id: session }, {}, {}))
    await turn(world, session, { input: 'and now?' })
    expect(await linesOf(session, id)).toEqual([])
  })
})

describe('the audit log names who created and who cancelled a run', () => {
  const lineOf = (done: string, run: string) => ({
    ...key,
    action: `run.${done}`,
    resource_type: 'run',
    resource_id: run,
    changes: [],
  })

  it('if that was a caller', async () => {
    world = await openRuns({ agt_a: withTools(functionTool('confirm', true)) }, { scripts: [calls('confirm')] })
    const run = await startRun(world, 'agt_a')
    await until(world, run, 'run.requires_action')
    expect(await linesOf(run)).toEqual([expect.objectContaining(lineOf('created', run))])
    await cancelRun(world, run)
    const all = await linesOf(run)
    expect(all).toHaveLength(2)
    expect(all).toEqual(expect.arrayContaining([expect.objectContaining(lineOf('cancelled', run))]))
  })

  it('and has no line for a delegated run, nor for its end together with its parent run', async () => {
    const model = new AnsweringModel(({ messages, tools }) => {
      const delegating = (tools ?? []).find(({ name }) => name.startsWith('delegate'))
      const requiresApproval = messages.length < 3
      const call = (name: string) => ({ text: '', toolCalls: [{ callId: 'c', name, arguments: '{"task":"go"}' }] })
      return delegating !== undefined && requiresApproval ? call(delegating.name) : call('confirm')
    })
    world = await openRuns(
      {
        agt_a: { subagents: [{ agent_id: 'agt_b', version: null, description: null }] },
        agt_b: withTools(functionTool('confirm', true)),
      },
      { model },
    )
    const run = await startRun(world, 'agt_a')
    const delegated = (await until(world, run, 'run.delegated')).at(-1)?.payload
    const child = String(delegated?.child_run_id ?? delegated?.run_id)
    await until(world, child, 'run.requires_action')
    await cancelRun(world, run)
    await untilEnd(world, child)
    expect((await runOf(world, child)).status).toBe('cancelled')
    const all = await linesOf(run, child)
    expect(all.map(({ action, resource_id }) => `${action} ${resource_id}`).sort()).toEqual([
      `run.cancelled ${run}`,
      `run.created ${run}`,
    ])
  })
})
