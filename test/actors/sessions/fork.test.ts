import { afterEach, describe, expect, it, vi } from 'vitest'
import { auditLog } from '#actors/audit/kinds.ts'
import { failureRows } from '#actors/observation/failures.ts'
import { forkHistory, maxForkLength } from '#actors/sessions/fork-history.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { newId } from '#runtime/ids.ts'
import type { LogEvent } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { approve, calls, functionTool, pausedTurn } from './approving.ts'
import { callOf, collect, newSession, openWorld, type Script, turn, typesOf, type World } from './harness.ts'

vi.setConfig({ testTimeout: 60_000 })

let world: World
afterEach(() => world.runtime.drain(0))

type ForkBody = Parameters<World['useCases']['sessions.fork']>[0]['body']

const fork = (session: string, body: ForkBody = {}) =>
  world.useCases['sessions.fork'](callOf({ session_id: session }, {}, body))
const logOf = (session: string) => collect(world.host.feed.follow(session, 0, { at: 'idle' }))
const open = async (...scripts: readonly Script[]) => {
  world = await openWorld({ scripts })
  return newSession(world, { mood: 'calm' })
}

describe('a fork of a session', () => {
  it('has a copy of the history up to its turn, and continues from there', async () => {
    const session = await open({ text: ['one', ' two'] }, { text: ['other'] }, { text: ['forked'] })
    await turn(world, session, { input: 'first' })
    await turn(world, session, { input: 'second' })
    const made = await fork(session, { turn_number: 1 })
    expect(made).toMatchObject({
      status: 'active',
      turn_count: 1,
      metadata: { mood: 'calm' },
      forked_from: { session_id: session, turn_number: 1 },
    })
    expect(made.id).not.toBe(session)
    const before = await logOf(made.id)
    expect(typesOf(before)).toEqual(['session.forked', 'turn.started', 'output_text.delta', 'turn.completed'])
    expect(before.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
    expect(before[2]?.payload).toEqual({ delta: 'one two' })
    await turn(world, made.id, { input: 'instead' })
    expect(world.provider.requests.at(-1)?.messages).toEqual([
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'one two', toolCalls: [] },
      { role: 'user', content: 'instead' },
    ])
    expect((await logOf(made.id)).at(-1)).toMatchObject({ turn_number: 2, payload: { output: 'forked' } })
    // the other session does not change
    expect((await logOf(session)).filter(({ event_type }) => event_type === 'turn.started')).toHaveLength(2)
    expect(await fork(made.id)).toMatchObject({ forked_from: { session_id: made.id, turn_number: 2 } })
  })

  it('starts after the newest ended turn, without the calls that wait', async () => {
    const session = await open({ text: ['one'] }, calls('confirm'), { text: ['done'] }, { text: ['else'] })
    await turn(world, session, { input: 'first' })
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('confirm', true)] })
    const made = await fork(session)
    expect(made).toMatchObject({ status: 'active', turn_count: 1 })
    await expect(fork(session, { turn_number: 2 })).rejects.toMatchObject({ code: 'approval_pending' })
    await turn(world, made.id, { input: 'go on' })
    await expect(
      turn(world, made.id, { tool_results: [{ action_id: waiting.confirm ?? '', output: 'x' }] }),
    ).rejects.toMatchObject({ code: 'not_found' })
    await approve(world, session, waiting.confirm ?? '')
    expect((await logOf(session)).at(-1)?.payload.output).toBe('else')
  })

  it('keeps the calls of its history with their outputs', async () => {
    const session = await open(calls('confirm'), { text: ['done'] }, { text: ['more'] })
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('confirm', true)] })
    await approve(world, session, waiting.confirm ?? '')
    await logOf(session)
    const made = await fork(session)
    await turn(world, made.id, { input: 'and now' })
    await turn(world, session, { input: 'and now' })
    const [ofFork, ofSession] = world.provider.requests.slice(-2)
    expect(ofFork?.messages).toEqual(ofSession?.messages)
    expect(ofFork?.messages.some(({ role }) => role === 'tool')).toBe(true)
  })

  it('is refused for a missing or running turn', async () => {
    const session = await open({ text: [new Promise<void>(() => {})] })
    await expect(fork(session)).rejects.toMatchObject({ code: 'not_found', details: { param: 'turn_number' } })
    void turn(world, session, { input: 'first' })
    await vi.waitFor(() => expect(world.provider.requests).toHaveLength(1), { timeout: 30_000 })
    await expect(fork(session, { turn_number: 1 })).rejects.toMatchObject({ code: 'turn_in_progress' })
    await expect(fork(session)).rejects.toMatchObject({ code: 'turn_in_progress' })
    await expect(fork(session, { turn_number: 7 })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is refused to another project, and created once per idempotency key', async () => {
    const session = await open({ text: ['one'] })
    await turn(world, session, { input: 'first' })
    const foreign = callOf({ session_id: session }, {}, {}, { kind: 'secret_key', project: 'prj_b', keyId: 'k' })
    await expect(world.useCases['sessions.fork'](foreign)).rejects.toMatchObject({ code: 'not_found' })
    const idempotency = { cause: 'idem:1', fingerprint: '1', seed: newId('x').slice(2) }
    const call = { ...callOf({ session_id: session }, {}, {}), idempotency }
    const [one, two] = [await world.useCases['sessions.fork'](call), await world.useCases['sessions.fork'](call)]
    expect(one.id).toBe(two.id)
    expect(typesOf(await logOf(one.id)).filter((type) => type === 'session.forked')).toHaveLength(1)
  })

  it('counts no failure and no cost of its history, and leaves an audit line with its reason', async () => {
    const session = await open({ fails: new ModelError('provider_error', 'It failed.') })
    await turn(world, session, { input: 'first' })
    const { id } = await fork(session, { reason: 'to try another prompt' })
    await world.host.delivered(id)
    await world.host.rows.shown()
    const scope = projectScope('prj_a')
    const failures = await world.storage.records.list(failureRows, scope, { limit: 10 })
    expect(failures.map(({ data }) => data.actor)).toEqual([session])
    const lines = await world.storage.records.list(auditLog, scope, { limit: 10 })
    expect(lines.map(({ data }) => data)).toEqual([
      expect.objectContaining({ action: 'session.forked', resource_id: id, reason: 'to try another prompt' }),
    ])
    const got = await world.useCases['sessions.get'](callOf({ session_id: id }, {}, undefined))
    expect(got.total_cost).toBe(0)
  })

  it('outlives the session it was forked from', async () => {
    const session = await open({ text: ['one'] }, { text: ['two'] })
    await turn(world, session, { input: 'x'.repeat(100_000) })
    const { id } = await fork(session)
    await world.useCases['sessions.delete'](callOf({ session_id: session }, {}, undefined))
    await turn(world, id, { input: 'still there' })
    expect(world.provider.requests.at(-1)?.messages[0]?.content).toHaveLength(100_000)
  })
})

describe('a history that is too long for one commit', () => {
  const turns = 2_000
  /** A log of many turns, as a store returns it. */
  const log = Array.from({ length: turns }, (_, index): readonly LogEvent[] => {
    const turn_number = index + 1
    const at = (part: number) => ({ sequence: index * 3 + part, turn_number })
    return [
      { ...at(1), event_type: 'turn.started', payload: { turn_number, input_text: `question ${turn_number}` } },
      { ...at(2), event_type: 'output_text.delta', payload: { delta: `answer ${turn_number}` } },
      { ...at(3), event_type: 'turn.completed', payload: { turn_number, output: `answer ${turn_number}` } },
    ]
  }).flat()
  const readLog = (_actor: string, after: number) => log.slice(after, after + 100)

  it('keeps its newest turns as events, and earlier turns as a conversation', async () => {
    const session = await open({ text: ['fine'] })
    const history = await forkHistory(readLog, { session_id: session, turn_number: turns })
    const first = Number(history[0]?.payload.first_turn)
    expect(first).toBeGreaterThan(1)
    expect(history[1]).toMatchObject({ event_type: 'turn.started', turn_number: first })
    expect(JSON.stringify(history.slice(1)).length).toBeLessThan(maxForkLength)
    await world.host.create({
      kind: sessionDefinition,
      id: 'ses_01kb0000000000000000000001',
      owner: { project: 'prj_a', tenant: null, user: null, createdAt: world.clock.now() },
      input: {
        session_id: 'ses_01kb0000000000000000000001',
        agent_id: null,
        metadata: {},
        fork: { from: { session_id: session, turn_number: turns }, history, by: { kind: 'system', id: null } },
      },
      cause: 'req_1',
    })
    await turn(world, 'ses_01kb0000000000000000000001', { input: 'next' })
    const messages = world.provider.requests.at(-1)?.messages ?? []
    expect(messages).toHaveLength(2 * turns + 1)
    expect(messages[0]).toEqual({ role: 'user', content: 'question 1' })
    expect(messages.at(-2)).toMatchObject({ role: 'assistant', content: `answer ${turns}` })
  })

  it('is not copied from a log that ends before its turn does', async () => {
    await open()
    const cut = (_actor: string, after: number) => log.slice(0, 4).slice(after)
    await expect(forkHistory(cut, { session_id: 'ses_1', turn_number: 2 })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is copied without the gap that a crash has left in the log', async () => {
    await open()
    const gapped = (_actor: string, after: number) =>
      log.slice(after, after + 16).map((each) => ({ ...each, follows: 1 }))
    const history = await forkHistory(gapped, { session_id: 'ses_1', turn_number: 1 })
    expect(history.length).toBeGreaterThan(2)
    expect(history.filter((each) => 'follows' in each)).toEqual([])
  })
})
