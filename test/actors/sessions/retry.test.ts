import { afterEach, describe, expect, it } from 'vitest'
import { ModelError } from '#gateway/call/provider-port.ts'
import { calls, functionTool, httpTool, keyed, lastPayload } from './approving.ts'
import { callOf, collect, newSession, openWorld, type Script, turn, type World } from './harness.ts'

const worlds: World[] = []
const open = async (...scripts: readonly Script[]): Promise<World> => {
  const world = await openWorld({ scripts })
  worlds.push(world)
  return world
}
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const fails = new ModelError('provider_error', 'The provider failed.')
const lastMessages = ({ provider }: World) =>
  provider.requests.at(-1)?.messages.map(({ role, content }) => [role, content])

describe('a retry of a failed turn', () => {
  it('makes the model call again with the same input, without what the first had begun', async () => {
    const world = await open({ text: ['Half an ans'], fails }, { text: ['Whole.'] })
    const session = await newSession(world)
    await turn(world, session, { input: 'question' })
    const events = await turn(world, session, { retry_of: 1 })
    expect(events[0]?.payload).toMatchObject({ turn_number: 2, input_text: 'question', retry_of: 1 })
    expect(lastPayload(events, 'turn.completed')).toMatchObject({ output: 'Whole.' })
    expect(lastMessages(world)).toEqual([['user', 'question']])
  })

  it('keeps the calls that were made, with their outputs: no tool runs twice', async () => {
    let ran = 0
    const world = await openWorld({
      scripts: [calls('pay'), { text: ['It is pa'], fails }, { text: ['It is paid.'] }],
      runTool: async () => ({ ok: true, output: `paid ${++ran}` }),
    })
    worlds.push(world)
    const session = await newSession(world)
    await turn(world, session, { input: 'pay', tools: [httpTool('pay')] })
    await turn(world, session, { retry_of: 1, tools: [httpTool('pay')] })
    expect(lastMessages(world)).toEqual([
      ['user', 'pay'],
      ['assistant', ''],
      ['tool', 'paid 1'],
    ])
    expect(ran).toBe(1)
  })

  it('may fail and be retried, and the next turn reads one question and one answer', async () => {
    const world = await open({ text: ['a'], fails }, { text: ['b'], fails }, { text: ['c'] }, { text: ['d'] })
    const session = await newSession(world)
    await turn(world, session, { input: 'question' })
    await turn(world, session, { retry_of: 1 })
    await turn(world, session, { retry_of: 2 })
    await turn(world, session, { input: 'next' })
    expect(lastMessages(world)).toEqual([
      ['user', 'question'],
      ['assistant', 'c'],
      ['user', 'next'],
    ])
  })

  it('repeats a turn that only brought outputs', async () => {
    const world = await open(calls('ask'), { fails }, { text: ['done'] })
    const session = await newSession(world)
    const events = await turn(world, session, { input: 'go', tools: [functionTool('ask')], pause_on_tool_calls: false })
    const action_id = String(events.find(({ event_type }) => event_type === 'tool_call.started')?.payload.action_id)
    await turn(world, session, { tool_results: [{ action_id, output: 'yes' }] })
    await turn(world, session, { retry_of: 2 })
    expect(lastMessages(world)).toEqual([
      ['user', 'go'],
      ['assistant', ''],
      ['tool', 'yes'],
    ])
  })

  it('happens once: a second one is refused, and one with the same key is the first', async () => {
    const world = await open({ fails }, { text: ['Whole.'] })
    const session = await newSession(world)
    await turn(world, session, { input: 'question' })
    const call = callOf({ session_id: session }, {}, { retry_of: 1 })
    const answers = await Promise.all([1, 2].map(() => world.useCases['sessions.turns'](keyed(call, 'once'))))
    const streams = await Promise.all(answers.map(({ stream }) => collect(stream)))
    expect(streams.map((events) => lastPayload(events, 'turn.completed')?.output)).toEqual(['Whole.', 'Whole.'])
    const again = await world.useCases['sessions.turns'](keyed(call, 'once'))
    expect(again.replayed).toBe(true)
    await expect(turn(world, session, { retry_of: 1 })).rejects.toMatchObject({
      code: 'invalid_transition',
      details: { param: 'retry_of' },
    })
    expect(world.provider.requests).toHaveLength(2)
  })

  it('is refused for a turn that did not fail, that is in progress, or that there is not', async () => {
    const gate = Promise.withResolvers<void>()
    const world = await open({ text: ['fine'] }, { fails }, { text: [gate.promise, 'slow'] })
    const session = await newSession(world)
    const retry = (retry_of: number) => turn(world, session, { retry_of })
    await expect(retry(1)).rejects.toMatchObject({ code: 'not_found' })
    await turn(world, session, { input: 'question' })
    await expect(retry(1)).rejects.toMatchObject({ code: 'invalid_transition' })
    await turn(world, session, { input: 'another' })
    await expect(retry(99)).rejects.toMatchObject({ code: 'not_found' })
    const running = await world.useCases['sessions.turns'](callOf({ session_id: session }, {}, { retry_of: 2 }))
    await expect(retry(3)).rejects.toMatchObject({ code: 'invalid_transition' })
    await expect(retry(2)).rejects.toMatchObject({ code: 'turn_in_progress' })
    gate.resolve()
    await collect(running.stream)
  })

  it('takes neither an input nor outputs', async () => {
    const world = await open({ fails })
    const session = await newSession(world)
    await turn(world, session, { input: 'question' })
    for (const more of [{ input: '' }, { tool_results: [] }])
      await expect(turn(world, session, { retry_of: 1, ...more })).rejects.toMatchObject({ code: 'invalid_field' })
  })

  it('shows as one message that names the turn', async () => {
    const world = await open({ text: ['Half'], fails }, { text: ['Whole.'] })
    const session = await newSession(world)
    await turn(world, session, { input: 'question' })
    await turn(world, session, { retry_of: 1 })
    const page = await world.useCases['sessions.messages'](callOf({ session_id: session }, { limit: 50 }, undefined))
    expect(page.data).toMatchObject([
      { id: 'msg_1_user' },
      { id: 'msg_1_assistant', status: 'failed', error: { code: 'provider_error' } },
      { id: 'msg_2_assistant', status: 'completed', retry_of: 1 },
    ])
  })
})
