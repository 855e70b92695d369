import { afterEach, describe, expect, it } from 'vitest'
import {
  action,
  approval,
  approve,
  calls,
  functionTool,
  httpTool,
  keyed,
  lastPayload,
  pausedTurn,
  reject,
  statusOf,
} from './approving.ts'
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

const both = calls('a', 'b')

describe('a turn that pauses on tool calls', () => {
  it('waits for every call if no tool is marked', async () => {
    const world = await open({ scripts: [both] })
    const tools = [functionTool('a'), functionTool('b')]
    const { events, waiting } = await pausedTurn(world, await newSession(world), {
      input: 'go',
      tools,
      pause_on_tool_calls: true,
    })
    expect(Object.keys(waiting)).toEqual(['a', 'b'])
    expect(typesOf(events)).toEqual([
      'turn.started',
      'tool_call.started',
      'tool_call.started',
      'turn.paused',
      'turn.paused',
    ])
    expect(lastPayload(events, 'turn.paused')).toEqual({
      reason: 'approval_required',
      action_id: waiting.b,
      tool: 'b',
      arguments: { of: 'b' },
      run_by: 'caller',
    })
  })

  it.each([true, undefined])(
    'waits only for the marked call if one is marked (pause_on_tool_calls %s)',
    async (pause) => {
      const world = await open({ scripts: [both] })
      const session = await newSession(world)
      const { waiting } = await pausedTurn(world, session, {
        input: 'go',
        tools: [functionTool('a'), functionTool('b', true)],
        ...(pause !== undefined && { pause_on_tool_calls: pause }),
      })
      expect(Object.keys(waiting)).toEqual(['b'])
      expect(await statusOf(world, session)).toBe('paused')
    },
  )
})

it('waits for no call if pause_on_tool_calls is false, marked or not', async () => {
  const world = await open({ scripts: [both] })
  const session = await newSession(world)
  const tools = [functionTool('a', true), functionTool('b')]
  const events = await turn(world, session, { input: 'go', tools, pause_on_tool_calls: false })
  expect(typesOf(events)).not.toContain('turn.paused')
  expect(lastPayload(events, 'turn.completed')?.tool_calls).toHaveLength(2)
  expect(await statusOf(world, session)).toBe('active')
})

it('waits for no call if no tool is marked and pause_on_tool_calls is absent', async () => {
  const world = await open({ scripts: [calls('a')] })
  const events = await turn(world, await newSession(world), { input: 'go', tools: [functionTool('a')] })
  expect(typesOf(events)).toEqual(['turn.started', 'tool_call.started', 'turn.completed'])
})

describe('several calls of one answer', () => {
  const tools = [functionTool('a', true), functionTool('b', true)]

  it('are approved one by one: the first approval shows what still waits, the last resumes the turn', async () => {
    const world = await open({ scripts: [both, { text: ['done'] }] })
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
    const { a = '', b = '' } = waiting
    const first = await approve(world, session, a)
    expect(typesOf(first)).toEqual(['turn.resumed', 'turn.paused'])
    expect(first.map((event) => event.payload.action_id)).toEqual([a, b])
    expect(await statusOf(world, session)).toBe('paused')
    const second = await approve(world, session, b)
    expect(typesOf(second)).toEqual(['turn.resumed', 'output_text.delta', 'turn.completed'])
    expect(world.provider.requests[1]?.messages.slice(-2)).toEqual([
      { role: 'tool', callId: a, name: 'a', content: `output of ${a}` },
      { role: 'tool', callId: b, name: 'b', content: `output of ${b}` },
    ])
  })

  it('are approved together by one approval with all outputs', async () => {
    const world = await open({ scripts: [both, { text: ['done'] }] })
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
    const { a = '', b = '' } = waiting
    const events = await approve(world, session, a, [
      { action_id: b, output: 'two' },
      { action_id: a, output: 'one' },
    ])
    expect(typesOf(events).filter((type) => type === 'turn.resumed')).toHaveLength(2)
    expect(typesOf(events).at(-1)).toBe('turn.completed')
    expect(world.provider.requests[1]?.messages.slice(-2).map((message) => message.content)).toEqual(['one', 'two'])
  })

  it('run at once if they need no approval, while another one waits', async () => {
    const ran: string[] = []
    const world = await open({
      scripts: [both, { text: ['done'] }],
      runTool: async ({ actionId }) => {
        ran.push(actionId)
        return { ok: true, output: 'sent' }
      },
    })
    const session = await newSession(world)
    const mixed = [functionTool('a', true), httpTool('b')]
    const { events, waiting } = await pausedTurn(world, session, { input: 'go', tools: mixed })
    expect(ran).toHaveLength(1)
    expect(typesOf(events).slice(-2)).toEqual(['turn.paused', 'tool_call.completed'])
    await approve(world, session, waiting.a ?? '')
    expect(world.provider.requests[1]?.messages.at(-1)).toMatchObject({ name: 'b', content: 'sent' })
  })

  it('wait for the caller to run one without approval, once the other is resolved', async () => {
    const world = await open({ scripts: [both, { text: ['done'] }] })
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, {
      input: 'go',
      tools: [functionTool('a', true), functionTool('b')],
    })
    const resumed = await approve(world, session, waiting.a ?? '')
    const [owed] = Object(lastPayload(resumed, 'turn.completed')?.tool_calls)
    expect(owed).toMatchObject({ tool: 'b' })
    await turn(world, session, { tool_results: [{ action_id: owed.action_id, output: 'mine' }] })
    expect(world.provider.requests[1]?.messages.slice(-2).map((message) => message.content)).toEqual([
      `output of ${waiting.a}`,
      'mine',
    ])
  })

  it('are all rejected if one is rejected', async () => {
    const world = await open({ scripts: [both] })
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
    const { a = '', b = '' } = waiting
    await reject(world, session, a)
    await world.host.load(session).then((resident) => resident?.outbox)
    expect([(await action(world, a)).status, (await action(world, b)).status]).toEqual(['rejected', 'rejected'])
    await expect(approve(world, session, b)).rejects.toMatchObject({ code: 'action_already_resolved' })
    const log = await world.storage.commits.events(session, 0, 100)
    expect(typesOf(log).slice(-2)).toEqual(['turn.resumed', 'turn.completed'])
    expect(log.at(-2)?.payload).toEqual({ action_id: a, resolution: 'rejected', reason: 'rejected' })
  })
})

describe('a tool that the server runs', () => {
  const sends = (ran: string[]): Parameters<typeof openWorld>[0] => ({
    scripts: [calls('send'), { text: ['done'] }],
    runTool: async ({ idempotencyKey }) => {
      ran.push(idempotencyKey)
      return { ok: true, output: 'sent' }
    },
  })

  it('runs once it is approved, without an output from the caller', async () => {
    const ran: string[] = []
    const world = await open(sends(ran))
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, {
      input: 'go',
      tools: [httpTool('send', { needsApproval: true })],
    })
    expect(ran).toEqual([])
    const { stream } = await world.useCases['sessions.approve'](approval(session, waiting.send ?? ''))
    const events = await collect(stream)
    expect(typesOf(events)).toEqual(['turn.resumed', 'tool_call.completed', 'output_text.delta', 'turn.completed'])
    expect(ran).toHaveLength(1)
    expect(await action(world, waiting.send ?? '')).toMatchObject({ status: 'executed', result: 'sent' })
  })

  it('runs once if it is approved several times concurrently', async () => {
    const ran: string[] = []
    const world = await open(sends(ran))
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, {
      input: 'go',
      tools: [httpTool('send', { needsApproval: true })],
    })
    const call = callOf({ action_id: waiting.send ?? '' }, {}, {})
    const answers = await Promise.allSettled([
      approve(world, session, waiting.send ?? '', []),
      approve(world, session, waiting.send ?? '', []),
      world.useCases['actions.approve'](call),
    ])
    expect(answers.some((answer) => answer.status === 'fulfilled')).toBe(true)
    await expect.poll(async () => (await action(world, waiting.send ?? '')).status).toBe('executed')
    expect(ran).toHaveLength(1)
  })

  it('is aborted through its signal when the turn is cancelled, and its late answer changes nothing', async () => {
    const signals: AbortSignal[] = []
    const answered = Promise.withResolvers<{ ok: true; output: string }>()
    const called = Promise.withResolvers<void>()
    const world = await open({
      scripts: [calls('send')],
      runTool: ({ signal }) => {
        signals.push(signal)
        called.resolve()
        return answered.promise
      },
    })
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, {
      input: 'go',
      tools: [httpTool('send', { needsApproval: true })],
    })
    const { stream } = await world.useCases['sessions.approve'](approval(session, waiting.send ?? ''))
    await called.promise
    await world.useCases['sessions.cancel'](callOf({ session_id: session }, {}, {}))
    await world.host.load(session).then((resident) => resident?.outbox)
    expect(signals[0]?.aborted).toBe(true)
    answered.resolve({ ok: true, output: 'too late' })
    expect(typesOf(await collect(stream))).toEqual(['turn.resumed', 'turn.failed'])
    expect(await action(world, waiting.send ?? '')).toMatchObject({
      status: 'failed',
      result: null,
      error: { code: 'cancelled' },
    })
  })
})

it('an approval of the action resumes the session, and is visible to followers of the session', async () => {
  const world = await open({ scripts: [calls('a'), { text: ['done'] }] })
  const session = await newSession(world)
  const { events, waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('a', true)] })
  const after = events.at(-1)?.sequence ?? 0
  const follow = { ...callOf({ session_id: session }, {}, undefined), after }
  const { stream } = await world.useCases['sessions.stream'](follow)
  const seen: string[] = []
  const ended = new Promise<void>((resolve) => {
    stream.start({
      push: (more) => {
        seen.push(...typesOf(more))
        if (seen.includes('turn.completed')) resolve()
        return true
      },
      end: () => resolve(),
    })
  })
  const action_id = waiting.a ?? ''
  const body = { note: 'fine', tool_results: [{ action_id, output: '31' }] }
  const approved = await world.useCases['actions.approve'](callOf({ action_id }, {}, body))
  expect(approved).toMatchObject({ status: 'executed', result: '31', note: 'fine' })
  await ended
  expect(seen).toEqual(['turn.resumed', 'output_text.delta', 'turn.completed'])
})

it('an approval of an action approves other calls whose outputs it has, and refuses those that the server executes', async () => {
  const world = await open({ scripts: [calls('a', 'b', 'send'), { text: ['done'] }] })
  const session = await newSession(world)
  const tools = [functionTool('a', true), functionTool('b', true), httpTool('send', { needsApproval: true })]
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools })
  const { a = '', b = '', send = '' } = waiting
  const approving = (...ids: readonly string[]) =>
    world.useCases['actions.approve'](
      callOf({ action_id: a }, {}, { tool_results: ids.map((id) => ({ action_id: id, output: `of ${id}` })) }),
    )
  await expect(approving(a, send)).rejects.toMatchObject({ code: 'invalid_field', details: { param: 'tool_results' } })
  expect((await action(world, a)).status).toBe('pending_approval')
  for (let n = 0; n < 2; n++)
    expect(await approving(a, b)).toMatchObject({ id: a, status: 'executed', result: `of ${a}` })
  expect(await action(world, b)).toMatchObject({ status: 'executed', result: `of ${b}` })
})

it('a rejection answers with the status that the session has, also when it is repeated', async () => {
  const form = { round: 1, resume: 'r', server: 'notes', server_url: 'https://notes.example', message: 'Which?' }
  const input = { ...form, mode: 'form' as const, schema: { type: 'object' }, url: null, secret_fields: [] }
  let round = 0
  const world = await open({
    scripts: [calls('post')],
    runTool: async () => ({
      ...{ ok: false, code: 'input_required', message: 'Which?' },
      input: { ...input, round: ++round },
    }),
  })
  const session = await newSession(world)
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [httpTool('post')] })
  const call = keyed(callOf({ session_id: session }, {}, { action_id: waiting.post ?? '' }), 'k1')
  await world.useCases['sessions.reject'](call)
  await expect.poll(() => statusOf(world, session)).toBe('paused')
  expect(await world.useCases['sessions.reject'](call)).toMatchObject({ resolution: 'rejected', status: 'paused' })
})

it('a rejection of the action completes the session, and the model receives the reason in the next turn', async () => {
  const world = await open({ scripts: [calls('a'), { text: ['I see.'] }] })
  const session = await newSession(world)
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('a', true)] })
  const rejected = callOf({ action_id: waiting.a ?? '' }, {}, { reason: 'no' })
  expect(await world.useCases['actions.reject'](rejected)).toMatchObject({ status: 'rejected', note: 'no' })
  expect(await statusOf(world, session)).toBe('completed')
  expect(await world.useCases['actions.reject'](rejected)).toMatchObject({ status: 'rejected' })
  await turn(world, session, { input: 'go on' })
  const heard = '{"error":{"code":"rejected","message":"A person rejected this call: no"}}'
  expect(world.provider.requests[1]?.messages).toContainEqual(expect.objectContaining({ role: 'tool', content: heard }))
})

it('a waiting action is rejected when its turn is cancelled, and gone when its session is deleted', async () => {
  const world = await open({ scripts: [calls('a'), calls('a')] })
  const paused = async () => {
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('a', true)] })
    return { params: { session_id: session }, waiting: waiting.a ?? '' }
  }
  const cancelled = await paused()
  await world.useCases['sessions.cancel'](callOf(cancelled.params, {}, {}))
  await expect.poll(async () => (await action(world, cancelled.waiting)).status).toBe('rejected')
  const deleted = await paused()
  await world.useCases['sessions.delete'](callOf(deleted.params, {}, undefined))
  await expect
    .poll(() => action(world, deleted.waiting).catch((error: unknown) => error))
    .toMatchObject({ code: 'not_found' })
})
