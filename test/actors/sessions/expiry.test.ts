import { expect, it } from 'vitest'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { action, approve, calls, functionTool, httpTool, pausedTurn, reject, statusOf } from './approving.ts'
import { callOf, newSession, openWorld, turn, typesOf, type World } from './harness.ts'

const dayMs = 24 * 60 * 60 * 1000
const pollMs = 1000

const open = async (
  scripts: NonNullable<Parameters<typeof openWorld>[0]>['scripts'],
): Promise<World & { clock: VirtualClock }> => {
  const clock = new VirtualClock()
  return { ...(await openWorld({ clock, ...(scripts && { scripts }) })), clock }
}

const logOf = async (world: World, session: string) => typesOf(await world.storage.commits.events(session, 0, 1000))

it('completes a session after seven days without use, not before, and it accepts no further turn', async () => {
  const world = await open([])
  const session = await newSession(world)
  await turn(world, session, { input: 'hi' })
  await world.clock.leap(7 * dayMs - 1)
  expect(await statusOf(world, session)).toBe('active')
  await world.clock.leap(1 + pollMs)
  expect(await statusOf(world, session)).toBe('completed')
  await expect(turn(world, session, { input: 'again' })).rejects.toMatchObject({ code: 'session_expired' })
  const page = callOf({}, { page: 1, limit: 10, status: 'completed' } as const, undefined)
  expect((await world.useCases['sessions.list'](page)).data.map((each) => each.id)).toEqual([session])
})

it('counts the seven days from the last turn', async () => {
  const world = await open([])
  const session = await newSession(world)
  for (let n = 0; n < 3; n++) {
    await world.clock.leap(6 * dayMs)
    expect(typesOf(await turn(world, session, { input: 'hi' })).at(-1)).toBe('turn.completed')
  }
})

it('expires a session that a rejection completed after seven days, not before, and clears its memory', async () => {
  const memory = new ScriptedMemory()
  const clock = new VirtualClock()
  const world = await openWorld({ clock, memory, scripts: [calls('confirm'), calls('confirm')] })
  const create = callOf({}, {}, { external_user_id: 'ada', metadata: {} })
  const { id: session } = await world.useCases['sessions.create'](create)
  for (let n = 0; n < 2; n++) {
    const tools = [functionTool('confirm', true)]
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
    await reject(world, session, waiting.confirm ?? '')
    await clock.leap(6 * dayMs)
  }
  await clock.leap(dayMs + pollMs)
  await clock.advance(pollMs)
  await expect(turn(world, session, { input: 'again' })).rejects.toMatchObject({ code: 'session_expired' })
  expect(memory.ended).toEqual([session])
})

it('completes a session that was never used', async () => {
  const world = await open([])
  const session = await newSession(world)
  await world.clock.leap(7 * dayMs + pollMs)
  expect(await statusOf(world, session)).toBe('completed')
})

it('clears the session memory of an expired session once, and not for a session without turns', async () => {
  const memory = new ScriptedMemory()
  const clock = new VirtualClock()
  const world = await openWorld({ clock, memory })
  const create = async () => {
    const call = callOf({}, {}, { external_user_id: 'ada', metadata: {} })
    return (await world.useCases['sessions.create'](call)).id
  }
  const session = await create()
  await create()
  await turn(world, session, { input: 'hi' })
  await clock.leap(7 * dayMs + pollMs)
  expect(await statusOf(world, session)).toBe('completed')
  await clock.advance(pollMs)
  expect(memory.ended).toEqual([session])
})

it('can delete an expired session', async () => {
  const world = await open([])
  const session = await newSession(world)
  await world.clock.leap(7 * dayMs + pollMs)
  const call = callOf({ session_id: session }, {}, undefined)
  expect(await world.useCases['sessions.delete'](call)).toEqual({ id: session, deleted: true })
  await world.clock.advance(pollMs)
  expect(await world.storage.commits.head(session)).toBeNull()
})

it('rejects an approval after seven days, and the model receives the expiry', async () => {
  const world = await open([calls('confirm'), { text: ['I see.'] }])
  const session = await newSession(world)
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('confirm', true)] })
  await world.clock.leap(7 * dayMs - 1)
  expect(await statusOf(world, session)).toBe('paused')
  await world.clock.leap(1 + pollMs)
  expect((await action(world, waiting.confirm ?? '')).status).toBe('expired')
  expect(await statusOf(world, session)).toBe('completed')
  const log = await world.storage.commits.events(session, 0, 100)
  expect(log.at(-2)?.payload).toMatchObject({ resolution: 'rejected', reason: 'expired' })
  expect(typesOf(log).at(-1)).toBe('turn.completed')
  await expect(approve(world, session, waiting.confirm ?? '')).rejects.toMatchObject({
    code: 'action_already_resolved',
  })
  await turn(world, session, { input: 'go on' })
  const heard = '{"error":{"code":"expired","message":"Nobody approved this call in time."}}'
  expect(world.provider.requests[1]?.messages).toContainEqual(expect.objectContaining({ role: 'tool', content: heard }))
})

it('lets a tool set the expiry of its approval, which also rejects the other waiting calls', async () => {
  const world = await open([calls('quick', 'slow')])
  const session = await newSession(world)
  const { waiting } = await pausedTurn(world, session, {
    input: 'go',
    tools: [{ ...functionTool('quick', true), expires_in: 60 }, functionTool('slow', true)],
  })
  const { expires_at, created_at } = await action(world, waiting.quick ?? '')
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(60_000)
  await world.clock.advance(60_000 + pollMs)
  expect((await action(world, waiting.quick ?? '')).status).toBe('expired')
  expect((await action(world, waiting.slow ?? '')).status).toBe('rejected')
  expect(await statusOf(world, session)).toBe('completed')
})

it('does not expire an action that was approved in time', async () => {
  const world = await open([calls('confirm'), { text: ['done'] }])
  const session = await newSession(world)
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('confirm', true)] })
  await world.clock.leap(6 * dayMs)
  await approve(world, session, waiting.confirm ?? '')
  await world.clock.leap(2 * dayMs)
  expect((await action(world, waiting.confirm ?? '')).status).toBe('executed')
  expect(await logOf(world, session)).toContain('turn.completed')
})

it('expires sessions and actions that fell due while no process ran', async () => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage({ now: clock.now })
  const first = await openWorld({ clock, storage, scripts: [calls('confirm')] })
  const [quiet, pausing] = [await newSession(first), await newSession(first)]
  const { waiting } = await pausedTurn(first, pausing, { input: 'go', tools: [functionTool('confirm', true)] })
  await clock.advance(5000)
  await first.runtime.drain(0)
  await clock.leap(30 * dayMs)
  const next = await openWorld({ clock, storage })
  await clock.advance(pollMs)
  expect(await statusOf(next, quiet)).toBe('completed')
  expect(await statusOf(next, pausing)).toBe('completed')
  expect((await action(next, waiting.confirm ?? '')).status).toBe('expired')
})

it('expires an action that a caller created', async () => {
  const world = await open([])
  const body = { tool: 'pay', arguments: { amount: 1 }, risk_level: 'high', expires_in: 10 } as const
  const { id } = await world.useCases['actions.create'](callOf({}, {}, body))
  await world.clock.advance(10_000 + pollMs)
  expect((await action(world, id)).status).toBe('expired')
  const late = world.useCases['actions.approve'](callOf({ action_id: id }, {}, {}))
  await expect(late).rejects.toMatchObject({ code: 'action_already_resolved' })
})

it('shows the deadline of the wait that an action is in, which begins anew with each of them', async () => {
  const clock = new VirtualClock()
  const form = { round: 1, resume: 'r', server: 'notes', server_url: 'https://notes.example', message: 'Which?' }
  const input = { ...form, mode: 'form' as const, schema: { type: 'object' }, url: null, secret_fields: [] }
  const world = await openWorld({
    ...{ clock, scripts: [calls('post')] },
    runTool: async () => ({ ok: false, code: 'input_required', message: 'Which?', input }),
  })
  const session = await newSession(world)
  const tools = [httpTool('post', { needsApproval: true, expires_in: 60 })]
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
  const id = waiting.post ?? ''
  await clock.advance(50_000)
  await approve(world, session, id, [])
  const { expires_at, status } = await action(world, id)
  expect([status, Date.parse(expires_at)]).toEqual(['awaiting_input', clock.now() + 60_000])
  await clock.advance(60_000 - pollMs)
  expect((await action(world, id)).status).toBe('awaiting_input')
  await clock.advance(2 * pollMs)
  expect((await action(world, id)).status).toBe('expired')
})
