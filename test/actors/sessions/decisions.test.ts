import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreUnavailable } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import {
  action,
  approval,
  approve,
  asUser,
  calls,
  functionTool,
  httpTool,
  keyed,
  pausedTurn,
  reject,
} from './approving.ts'
import { callOf, collect, newSession, openWorld, turn, typesOf, type World } from './harness.ts'

let world: World
let session: string
let actionId: string

const tools = [functionTool('confirm', true), httpTool('send', { needsApproval: true })]
const unknownAction = 'act_01kb0000000000000000000000'

const pauseFor = async (tool: string): Promise<void> => {
  world = await openWorld({ scripts: [calls(tool), { text: ['done'] }, { text: ['again'] }] })
  session = await newSession(world)
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
  actionId = waiting[tool] ?? ''
}

beforeEach(() => pauseFor('confirm'))
afterEach(() => world.runtime.drain(0))

const params = () => ({ session_id: session })

describe('a decision is refused', () => {
  it('with 422 if a function is approved without its output', async () => {
    const refusal = { code: 'tool_result_required', details: { param: 'tool_results' } }
    await expect(world.useCases['sessions.approve'](approval(session, actionId))).rejects.toMatchObject(refusal)
    const direct = callOf({ action_id: actionId }, {}, {})
    await expect(world.useCases['actions.approve'](direct)).rejects.toMatchObject(refusal)
    expect((await action(world, actionId)).status).toBe('pending_approval')
  })

  it('with 409 once the action is approved', async () => {
    await approve(world, session, actionId)
    await expect(approve(world, session, actionId)).rejects.toMatchObject({ code: 'action_already_resolved' })
    await expect(reject(world, session, actionId)).rejects.toMatchObject({ code: 'action_already_resolved' })
    const direct = callOf({ action_id: actionId }, {}, {})
    await expect(world.useCases['actions.reject'](direct)).rejects.toMatchObject({ code: 'action_already_resolved' })
  })

  it('with 409 once the action is rejected', async () => {
    await reject(world, session, actionId)
    await expect(approve(world, session, actionId)).rejects.toMatchObject({ code: 'action_already_resolved' })
    const direct = callOf({ action_id: actionId }, {}, {})
    await expect(world.useCases['actions.approve'](direct)).rejects.toMatchObject({ code: 'action_already_resolved' })
  })

  it.each([unknownAction, 'ses_01kb0000000000000000000000', 'nonsense', ''])(
    'with 404 for the action %j',
    async (id) => {
      await expect(approve(world, session, id)).rejects.toMatchObject({ code: 'not_found' })
      await expect(reject(world, session, id)).rejects.toMatchObject({ code: 'not_found' })
    },
  )

  it("with 404 for another session's action", async () => {
    const other = await newSession(world)
    await expect(approve(world, other, actionId)).rejects.toMatchObject({ code: 'not_found' })
    await expect(reject(world, other, actionId)).rejects.toMatchObject({ code: 'not_found' })
    expect((await action(world, actionId)).status).toBe('pending_approval')
  })

  it('with 404 entirely if one of its results belongs to a call that the answer did not make', async () => {
    const results = [
      { action_id: actionId, output: '1' },
      { action_id: unknownAction, output: '2' },
    ]
    const refusal = { code: 'not_found', details: { param: 'tool_results' } }
    await expect(approve(world, session, actionId, results)).rejects.toMatchObject(refusal)
    const direct = callOf({ action_id: actionId }, {}, { tool_results: results })
    await expect(world.useCases['actions.approve'](direct)).rejects.toMatchObject(refusal)
    expect((await action(world, actionId)).status).toBe('pending_approval')
  })

  it('with StoreUnavailable, not as unknown, while the store cannot be read', async () => {
    const clock = new VirtualClock()
    const faulty = new FaultyStorage(world.storage)
    const next = await openWorld({ storage: faulty.storage, clock })
    await clock.advance(70_000)
    faulty.away = true
    for (const decide of [approve, reject]) {
      const refused = expect(decide(next, session, actionId)).rejects.toThrow(StoreUnavailable)
      await clock.advance(10_000)
      await refused
    }
  })
})

it('refuses a turn while a call waits for approval, and names the call', async () => {
  const refused = turn(world, session, { input: 'more' })
  await expect(refused).rejects.toMatchObject({ code: 'approval_pending', message: expect.stringContaining(actionId) })
})

describe('an Idempotency-Key', () => {
  const approveKeyed = async (body?: string) => {
    const call = approval(session, actionId, [{ action_id: actionId, output: '31' }])
    const { stream, replayed } = await world.useCases['sessions.approve'](keyed(call, 'k1', body))
    return { events: await collect(stream), replayed }
  }

  it('returns the same stream for a repeated approval, which is made once', async () => {
    const first = await approveKeyed()
    const again = await approveKeyed()
    expect([first.replayed, again.replayed]).toEqual([false, true])
    expect(again.events).toEqual(first.events)
    expect(world.provider.requests).toHaveLength(2)
  })

  it('returns the same stream for two concurrent approvals', async () => {
    const both = await Promise.all([approveKeyed(), approveKeyed()])
    expect(both.map(({ replayed }) => replayed).sort()).toEqual([false, true])
    expect(both[1]?.events).toEqual(both[0]?.events)
    expect(typesOf(both[1]?.events ?? []).at(-1)).toBe('turn.completed')
  })

  it('returns the whole stream for an approval repeated before the session has processed the first', async () => {
    const faulty = new FaultyStorage(world.storage)
    world = await openWorld({ storage: faulty.storage, scripts: [{ text: ['done'] }] })
    await world.host.recovery.over()
    const hears = Promise.withResolvers<void>()
    faulty.hold((commit) => (commit.actor === session ? hears.promise : undefined))
    const first = approveKeyed()
    await expect.poll(() => world.storage.commits.byCause(actionId, 'idem:k1')).not.toBeNull()
    const second = approveKeyed()
    await calm()
    hears.resolve()
    expect((await second).events).toEqual((await first).events)
    expect(typesOf((await first).events).at(-1)).toBe('turn.completed')
  })

  it('returns the same stream for a repeated approval after later turns', async () => {
    const first = await approveKeyed()
    await turn(world, session, { input: 'more' })
    expect((await approveKeyed()).events).toEqual(first.events)
  })

  it('is refused with another body, for approvals and turns', async () => {
    await approveKeyed()
    const reused = { code: 'idempotency_key_reused', details: { param: 'Idempotency-Key' } }
    await expect(approveKeyed('other')).rejects.toMatchObject(reused)
    const run = (body: string) =>
      world.useCases['sessions.turns'](keyed(callOf(params(), {}, { input: 'x' }), 'k2', body))
    await collect((await run('one')).stream)
    await expect(run('two')).rejects.toMatchObject(reused)
  })

  it('returns the same answer for a repeated rejection, and is refused with another body', async () => {
    const call = keyed(callOf(params(), {}, { action_id: actionId }), 'k1')
    const first = await world.useCases['sessions.reject'](call)
    expect(await world.useCases['sessions.reject'](call)).toEqual(first)
    const other = keyed(call, 'k1', 'other')
    await expect(world.useCases['sessions.reject'](other)).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })

  it('returns the same stream for repeated and concurrent turns, which run once', async () => {
    await approveKeyed()
    const call = keyed(callOf(params(), {}, { input: 'more' }), 'k3')
    const both = await Promise.all([1, 2].map(() => world.useCases['sessions.turns'](call)))
    const streams = await Promise.all(both.map(({ stream }) => collect(stream)))
    expect(both.map(({ replayed }) => replayed).sort()).toEqual([false, true])
    expect(streams[1]).toEqual(streams[0])
    const later = await world.useCases['sessions.turns'](call)
    expect(await collect(later.stream)).toEqual(streams[0])
    expect(world.provider.requests).toHaveLength(3)
  })

  it('returns the whole turn if it is repeated after its end', async () => {
    const fresh = await newSession(world)
    const run = () => world.useCases['sessions.turns'](keyed(callOf({ session_id: fresh }, {}, { input: 'go' }), 'k4'))
    await collect((await run()).stream)
    expect(typesOf(await collect((await run()).stream))).toEqual([
      'turn.started',
      'output_text.delta',
      'turn.completed',
    ])
  })
})

describe('a client token', () => {
  const make = (tenant: string, user: string) =>
    world.useCases['sessions.create'](asUser(callOf({}, {}, { metadata: {} }), tenant, user))
  const get = (id: string, tenant: string, user: string, bound: string | null = null) =>
    world.useCases['sessions.get'](asUser(callOf({ session_id: id }, {}, undefined), tenant, user, bound))
  const run = (id: string, tenant: string, user: string, bound: string | null = null) =>
    world.useCases['sessions.turns'](asUser(callOf({ session_id: id }, {}, { input: 'hi' }), tenant, user, bound))
  const list = async (tenant: string, user: string) => {
    const page = await world.useCases['sessions.list'](
      asUser(callOf({}, { page: 1, limit: 20 }, undefined), tenant, user),
    )
    return page.data.map((each) => each.id)
  }

  it.each([
    ['another tenant', 'ten_2', 'u_1'],
    ['another user of its tenant', 'ten_1', 'u_2'],
    ['another user of another tenant', 'ten_2', 'u_2'],
  ])('of %s finds nothing to read, run, follow, cancel or list', async (_, tenant, user) => {
    const { id } = await make('ten_1', 'u_1')
    const call = asUser(callOf({ session_id: id }, {}, undefined), tenant, user)
    await expect(get(id, tenant, user)).rejects.toMatchObject({ code: 'not_found' })
    await expect(run(id, tenant, user)).rejects.toMatchObject({ code: 'not_found' })
    await expect(world.useCases['sessions.stream'](call)).rejects.toMatchObject({ code: 'not_found' })
    await expect(world.useCases['sessions.cancel']({ ...call, body: {} })).rejects.toMatchObject({ code: 'not_found' })
    expect(await list(tenant, user)).toEqual([])
  })

  it('finds the sessions of its user, and the project finds all', async () => {
    const { id } = await make('ten_1', 'u_1')
    expect((await get(id, 'ten_1', 'u_1')).id).toBe(id)
    expect(await list('ten_1', 'u_1')).toEqual([id])
    const all = await world.useCases['sessions.list'](callOf({}, { page: 1, limit: 20 }, undefined))
    expect(all.data.map((each) => each.id)).toEqual([id, session])
  })

  it('does not find a session that a secret key created without an owner', async () => {
    await expect(get(session, 'ten_1', 'u_1')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('bound to one session finds no other session of the same user', async () => {
    const [one, two] = [await make('ten_1', 'u_1'), await make('ten_1', 'u_1')]
    expect((await get(one.id, 'ten_1', 'u_1', one.id)).id).toBe(one.id)
    await expect(get(two.id, 'ten_1', 'u_1', one.id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(run(two.id, 'ten_1', 'u_1', one.id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it("finds its session's actions under its tenant and user only", async () => {
    world = await openWorld({ scripts: [calls('confirm')] })
    const { id } = await make('ten_1', 'u_1')
    const gated = callOf({ session_id: id }, {}, { input: 'go', tools, pause_on_tool_calls: true })
    const { stream } = await world.useCases['sessions.turns'](asUser(gated, 'ten_1', 'u_1'))
    const waiting = (await collect(stream)).at(-1)?.payload.action_id
    const seen = callOf({ action_id: String(waiting) }, {}, undefined)
    expect(await world.useCases['actions.get'](asUser(seen, 'ten_1', 'u_1'))).toMatchObject({ tenant_id: 'ten_1' })
    await expect(world.useCases['actions.get'](asUser(seen, 'ten_2', 'u_1'))).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
