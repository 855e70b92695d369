import { afterEach, describe, expect, it } from 'vitest'
import { ModelError } from '#gateway/call/provider-port.ts'
import { action, httpTool } from './approving.ts'
import { callOf, collect, newSession, openWorld, turn, typesOf, type World } from './harness.ts'

const worlds: World[] = []
const open = async (...args: Parameters<typeof openWorld>): Promise<World> => {
  const world = await openWorld(...args)
  worlds.push(world)
  return world
}

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } } as const
const approval = { ...weather, needsApproval: true } as const
const weatherCall = { calls: [{ name: 'weather', arguments: '{"city":"Lagos"}' }] }

it('streams a turn whose output equals its deltas', async () => {
  const world = await open({ scripts: [{ text: ['Hello', ', ', 'you'] }] })
  const session = await newSession(world)
  const events = await turn(world, session, { input: 'hi' })
  expect(typesOf(events)).toEqual(['turn.started', 'output_text.delta', 'turn.completed'])
  expect(events.at(-1)?.payload).toMatchObject({ turn_number: 1, output: 'Hello, you', usage: { total_tokens: 15 } })
  expect(events.map((event) => event.sequence)).toEqual([1, 2, 3])
})

it.each([{}, { tool_results: [] }])('is refused when it begins with nothing: %j', async (body) => {
  const world = await open({ scripts: [] })
  await expect(turn(world, await newSession(world), body)).rejects.toMatchObject({
    code: 'missing_field',
    details: { param: 'input' },
  })
})

it('gives the model the whole conversation in the next turn', async () => {
  const world = await open({ scripts: [{ text: ['one'] }, { text: ['two'] }] })
  const session = await newSession(world)
  await turn(world, session, { input: 'first' })
  await turn(world, session, { input: 'second', instructions: 'Be brief.' })
  expect(world.provider.requests[1]?.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'first' },
    { role: 'assistant', content: 'one', toolCalls: [] },
    { role: 'user', content: 'second' },
  ])
})

it('pauses for an approval, resumes with the tool result and completes', async () => {
  const world = await open({ scripts: [{ text: ['Let me see. '], ...weatherCall }, { text: ['Sunny.'] }] })
  const session = await newSession(world)
  const paused = await turn(world, session, { input: 'weather?', tools: [approval] })
  expect(typesOf(paused)).toEqual(['turn.started', 'output_text.delta', 'tool_call.started', 'turn.paused'])
  const params = { session_id: session }
  expect((await world.useCases['sessions.get'](callOf(params, {}, undefined))).status).toBe('paused')
  const action_id = String(paused.at(-1)?.payload.action_id)
  const body = { action_id, tool_results: [{ action_id, output: '31 degrees' }] }
  const { stream } = await world.useCases['sessions.approve'](callOf(params, {}, body))
  const resumed = await collect(stream)
  expect(typesOf(resumed)).toEqual(['turn.resumed', 'output_text.delta', 'turn.completed'])
  expect(resumed.at(-1)?.payload).toMatchObject({ output: 'Let me see. Sunny.' })
  expect(world.provider.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: '31 degrees' })
})

it('completes the session when a call is rejected, and accepts a further turn', async () => {
  const world = await open({ scripts: [weatherCall, { text: ['fine'] }] })
  const session = await newSession(world)
  const paused = await turn(world, session, { input: 'weather?', tools: [approval] })
  const action_id = String(paused.at(-1)?.payload.action_id)
  const call = callOf({ session_id: session }, {}, { action_id })
  expect(await world.useCases['sessions.reject'](call)).toMatchObject({ resolution: 'rejected', status: 'completed' })
  await expect(world.useCases['sessions.reject'](call)).rejects.toMatchObject({ code: 'action_already_resolved' })
  expect(typesOf(await turn(world, session, { input: 'go on' }))).toContain('turn.completed')
})

it('hands function calls to the caller without a pause, and accepts their results with the next turn', async () => {
  const world = await open({ scripts: [weatherCall, { text: ['hot'] }] })
  const session = await newSession(world)
  const events = await turn(world, session, { input: 'weather?', tools: [weather] })
  const [call] = Object(events.at(-1)?.payload.tool_calls)
  expect(call).toMatchObject({ tool: 'weather', arguments: { city: 'Lagos' } })
  await turn(world, session, { tool_results: [{ action_id: call.action_id, output: '40' }] })
  expect(world.provider.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: '40' })
})

it('refuses a second turn while one is running, and ends the running one on cancel', async () => {
  const never = new Promise<void>(() => {})
  const world = await open({ scripts: [{ text: ['partly', never] }] })
  const session = await newSession(world)
  const params = { session_id: session }
  const first = await world.useCases['sessions.turns'](callOf(params, {}, { input: 'hi' }))
  const collected = collect(first.stream)
  await expect(turn(world, session, { input: 'again' })).rejects.toMatchObject({ code: 'turn_in_progress' })
  await world.useCases['sessions.cancel'](callOf(params, {}, {}))
  const last = (await collected).at(-1)
  expect(last).toMatchObject({ event_type: 'turn.failed', payload: { error: { code: 'cancelled' } } })
})

it('ends a turn as failed when the model fails', async () => {
  const world = await open({ scripts: [{ text: ['some'], fails: new ModelError('provider_stream_broken', 'cut') }] })
  const events = await turn(world, await newSession(world), { input: 'hi' })
  expect(typesOf(events)).toEqual(['turn.started', 'output_text.delta', 'turn.failed'])
  expect(events.at(-1)?.payload).toMatchObject({ output: { text: 'some', error: { code: 'provider_stream_broken' } } })
})

it('stops after sixteen model calls', async () => {
  const http = { type: 'http', name: 'loop', url: 'http://127.0.0.1:9/' } as const
  const scripts = Array.from({ length: 20 }, () => ({ calls: [{ name: 'loop', arguments: '{}' }] }))
  const world = await open({ scripts })
  const events = await turn(world, await newSession(world), { input: 'loop', tools: [http] })
  expect(world.provider.requests).toHaveLength(16)
  expect(events.at(-1)?.payload).toMatchObject({ error: { code: 'too_many_steps' } })
})

it('lets a new process finish a turn that was paused', async () => {
  const world = await open({ scripts: [weatherCall] })
  const session = await newSession(world)
  const paused = await turn(world, session, { input: 'weather?', tools: [approval] })
  const next = await open({ storage: world.storage, scripts: [{ text: ['Sunny.'] }] })
  const action_id = String(paused.at(-1)?.payload.action_id)
  const body = { action_id, tool_results: [{ action_id, output: '31' }] }
  const { stream } = await next.useCases['sessions.approve'](callOf({ session_id: session }, {}, body))
  expect(typesOf(await collect(stream))).toEqual(['turn.resumed', 'output_text.delta', 'turn.completed'])
})

it('removes a deleted session from reads and lists', async () => {
  const world = await open({ scripts: [{ text: ['one'] }] })
  const session = await newSession(world)
  await turn(world, session, { input: 'hi' })
  const call = callOf({ session_id: session }, {}, undefined)
  expect(await world.useCases['sessions.delete'](call)).toEqual({ id: session, deleted: true })
  await expect(world.useCases['sessions.get'](call)).rejects.toMatchObject({ code: 'not_found' })
  const list = await world.useCases['sessions.list'](callOf({}, { page: 1, limit: 20 }, undefined))
  expect(list.pagination.total).toBe(0)
})

it('returns the opaque data of a call to its provider, and shows it to no client', async () => {
  const calls = [{ name: 'weather', arguments: '{}', opaque: 'signed-by-provider' }]
  const world = await open({ scripts: [{ calls }, { text: ['fine'] }] })
  const session = await newSession(world)
  const paused = await turn(world, session, { input: 'weather?', tools: [approval] })
  const action_id = String(paused.at(-1)?.payload.action_id)
  const next = await open({ storage: world.storage, scripts: [{ text: ['Sunny.'] }] })
  const body = { action_id, tool_results: [{ action_id, output: '31' }] }
  await collect((await next.useCases['sessions.approve'](callOf({ session_id: session }, {}, body))).stream)
  const assistant = next.provider.requests[0]?.messages.find((message) => message.role === 'assistant')
  expect(assistant).toMatchObject({ toolCalls: [{ opaque: 'signed-by-provider' }] })
  const shown = await next.useCases['sessions.events'](
    callOf({ session_id: session }, { page: 1, limit: 20 }, undefined),
  )
  expect(JSON.stringify(shown)).not.toContain('signed-by-provider')
})

describe('a turn whose model writes arguments that nest 20,000 deep', () => {
  const deep = `{"city":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const deepCall = { calls: [{ name: 'weather', arguments: deep }] }

  it('is completed for a tool of the caller, which gets what was written', async () => {
    const world = await open({ scripts: [deepCall] })
    const events = await turn(world, await newSession(world), { input: 'weather?', tools: [weather] })
    expect(typesOf(events)).toEqual(['turn.started', 'tool_call.started', 'turn.completed'])
    expect(events.at(-1)?.payload.tool_calls).toMatchObject([{ tool: 'weather', arguments: deep }])
  })

  it('is completed by a tool that the server runs, which gets what was written', async () => {
    const given: unknown[] = []
    const runTool = async (call: { readonly arguments: unknown }) => {
      given.push(call.arguments)
      return { ok: true, output: 'hot' } as const
    }
    const world = await open({ scripts: [deepCall, { text: ['Hot.'] }], runTool })
    const events = await turn(world, await newSession(world), { input: 'weather?', tools: [httpTool('weather')] })
    expect(events.at(-1)).toMatchObject({ event_type: 'turn.completed', payload: { output: 'Hot.' } })
    expect(given).toEqual([deep])
  })

  it('waits for a person like any other, who sees what was written', async () => {
    const world = await open({ scripts: [deepCall] })
    const events = await turn(world, await newSession(world), { input: 'weather?', tools: [approval] })
    const { action_id, arguments: shown } = events.at(-1)?.payload ?? {}
    expect(shown).toBe(deep)
    expect(await action(world, String(action_id))).toMatchObject({
      status: 'pending_approval',
      arguments: { text: deep },
    })
  })

  it('gives tools arguments of 64 levels as the values that they are', async () => {
    const nested = `${'{"a":'.repeat(64)}1${'}'.repeat(64)}`
    const world = await open({ scripts: [{ calls: [{ name: 'weather', arguments: nested }] }] })
    const events = await turn(world, await newSession(world), { input: 'weather?', tools: [weather] })
    expect(events.at(-1)?.payload.tool_calls).toMatchObject([{ arguments: JSON.parse(nested) }])
  })
})
