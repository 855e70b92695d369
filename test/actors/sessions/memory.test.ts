import { describe, expect, it } from 'vitest'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { calls, functionTool } from './approving.ts'
import { callOf, openWorld, type Script, turn, type World } from './harness.ts'

const open = async (scripts: readonly Script[]) => {
  const memory = new ScriptedMemory()
  const world = await openWorld({ scripts, memory })
  return { memory, world }
}

const sessionOf = async (world: World, user: string | undefined): Promise<string> => {
  const body = { metadata: {}, ...(user !== undefined && { external_user_id: user }) }
  return (await world.useCases['sessions.create'](callOf({}, {}, body))).id
}

const remembering = { input: 'Where do I live?', memory: true }

describe('the memory of a session', () => {
  it('is given to the model as a system message, and its write is sent with the answer', async () => {
    const { memory, world } = await open([{ text: ['In ', 'Oslo.'] }])
    memory.known = ['The user lives in Oslo.']
    const session = await sessionOf(world, 'ada')
    const events = await turn(world, session, { ...remembering, instructions: 'Be brief.' })
    expect(world.provider.requests[0]?.instructions).toEqual(['Be brief.', expect.stringContaining('lives in Oslo')])
    expect(memory.recalls).toMatchObject([
      { at: { project: 'prj_a', user: 'ada', session }, request: { query: 'Where do I live?' } },
    ])
    expect(events.at(-1)?.payload.memory).toMatchObject({
      retrieved: [{ id: 'mem_0', content: 'The user lives in Oslo.' }],
      write_status: 'pending',
      write_request_id: expect.stringContaining('receipt of'),
    })
    await expect
      .poll(() => memory.sent)
      .toEqual([
        {
          user: 'ada',
          id: expect.any(String),
          input: {
            exchange: { user: 'Where do I live?', assistant: 'In Oslo.', recalled: ['The user lives in Oslo.'] },
            source: 'session',
          },
        },
      ])
  })

  it('is written once per turn with the last answer, if tools are called in between', async () => {
    const { memory, world } = await open([calls('look'), { text: ['Done.'] }])
    const session = await sessionOf(world, 'ada')
    const tool = { ...functionTool('look'), type: 'function' as const }
    const started = await turn(world, session, { ...remembering, tools: [tool], pause_on_tool_calls: false })
    expect(memory.sent).toEqual([])
    const [call] = started.filter(({ event_type }) => event_type === 'tool_call.started')
    const tool_results = [{ action_id: String(call?.payload.action_id), output: 'seen' }]
    await turn(world, session, { tool_results, memory: true })
    await expect.poll(() => memory.sent.length).toBe(1)
  })

  it.each([
    ['no memory field', {}],
    ['false', { memory: false }],
  ])('is neither read nor written with %s', async (_, field) => {
    const { memory, world } = await open([{ text: ['Hi.'] }])
    const events = await turn(world, await sessionOf(world, 'ada'), { input: 'hi', ...field })
    expect([events.at(-1)?.payload.memory, memory.recalls]).toEqual([undefined, []])
  })

  it('does not affect the turn when it fails', async () => {
    const { memory, world } = await open([{ text: ['Hi.'] }])
    memory.failed = 'memory_ops_quota_exceeded'
    const events = await turn(world, await sessionOf(world, 'ada'), remembering)
    expect(events.at(-1)).toMatchObject({ event_type: 'turn.completed', payload: { memory: { retrieved: [] } } })
  })

  it.each([
    ['a session without a user', undefined, true, 'missing_field', 'external_user_id'],
    ['another user', 'ada', { userId: 'bob' }, 'invalid_field', 'memory.userId'],
  ] as const)('is refused for %s', async (_, user, memory, code, param) => {
    const { world } = await open([])
    const session = await sessionOf(world, user)
    await expect(turn(world, session, { input: 'hi', memory })).rejects.toMatchObject({ code, details: { param } })
  })

  it('with the scope of a session ends with the session', async () => {
    const { memory, world } = await open([{ text: ['Hi.'] }])
    const session = await sessionOf(world, 'ada')
    await turn(world, session, { input: 'hi', memory: { scope: 'session' } })
    expect(memory.recalls).toMatchObject([{ at: { scope: null, session } }])
    await world.useCases['sessions.delete'](callOf({ session_id: session }, {}, undefined))
    await expect.poll(() => memory.ended).toEqual([session])
  })

  it('is written in full and recalled the same when the conversation is shortened and loaded again', async () => {
    const long = 'word '.repeat(200)
    const scripts = Array.from({ length: 8 }, (_, index): Script => ({ text: [`answer ${index}`] }))
    const memory = new ScriptedMemory()
    memory.known = ['The user lives in Oslo.']
    const messagesOf = (world: World) => world.provider.requests.map(({ messages }) => messages)
    const world = await openWorld({ scripts, window: 2000, memory })
    const session = await sessionOf(world, 'ada')
    for (let index = 0; index < 8; index++) await turn(world, session, { input: `${index} ${long}`, memory: true })
    expect(messagesOf(world).at(-1)?.length).toBeLessThan(13)
    await expect.poll(() => memory.sent.length).toBe(8)
    expect(memory.sent.map(({ input }) => input)).toMatchObject(
      scripts.map((_, index) => ({ exchange: { user: `${index} ${long}`, assistant: `answer ${index}` } })),
    )
    const before = messagesOf(world).at(-1) ?? []
    const { storage } = world
    await world.runtime.drain(0)
    const again = await openWorld({ scripts: [{ text: ['Still.'] }], storage, memory })
    await turn(again, session, { input: 'and now?', memory: true })
    expect(messagesOf(again)[0]?.slice(0, before.length)).toEqual(before)
    expect(again.provider.requests[0]?.instructions?.join()).toContain('lives in Oslo')
  })
})
