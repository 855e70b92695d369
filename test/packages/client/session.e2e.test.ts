import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { api } from '#client/api/index.ts'
import { type PendingAction, pageFunctions, Troupe, textOf, webSocket } from '#client/index.ts'
import type { Session } from '#client/session.ts'
import { startToolServer, type ToolServer } from '#test/e2e/tool-server.ts'
import { World } from '#test/e2e/world.ts'

let world: World
let tool: ToolServer
beforeAll(async () => {
  tool = await startToolServer()
  world = await World.start({ tools: [tool] })
})
afterAll(async () => {
  await world.stop()
  await tool.close()
})

const client = (options: Partial<ConstructorParameters<typeof Troupe>[0]> = {}) =>
  new Troupe({ baseUrl: world.url, key: world.secretKey, ...options })

/** The first call that waits. */
const waiting = (session: Session): Promise<PendingAction> =>
  new Promise((resolve) => {
    const look = () => {
      const [approval] = session.getSnapshot().approvals
      if (approval === undefined) return
      stop()
      resolve(approval)
    }
    const stop = session.subscribe(look)
    look()
  })

const shown = (session: Session) =>
  session.getSnapshot().messages.map(({ role, status, parts }) => [role, status, textOf({ parts })])

describe.each([
  { over: 'server-sent events', transport: undefined },
  { over: 'a WebSocket', transport: webSocket },
])('a session over $over', ({ transport }) => {
  it('shows a message at once, and settles when the log has its turn', async () => {
    const session = client({ transport }).sessions.open()
    const sent = session.send('reply exactly: Hello there.')
    expect(shown(session)).toEqual([['user', 'sending', 'reply exactly: Hello there.']])
    const [{ id: before } = {}] = session.getSnapshot().messages
    expect(await sent).toMatchObject({ turn: 1, status: 'completed', text: 'Hello there.', error: null })
    expect(shown(session)).toEqual([
      ['user', 'completed', 'reply exactly: Hello there.'],
      ['assistant', 'completed', 'Hello there.'],
    ])
    expect(session.getSnapshot().messages[0]?.id).toBe(before)
  })

  it('takes back a message that the server refuses, and says why', async () => {
    const session = client({ transport }).sessions.open()
    await expect(session.send('hello', { model: 'of/nowhere' })).rejects.toMatchObject({ code: 'model_not_found' })
    expect(session.getSnapshot()).toMatchObject({ messages: [], error: { code: 'model_not_found', param: 'model' } })
  })

  it('runs a gated tool once when it is approved, and settles by the log', async () => {
    const session = client({ transport }).sessions.open()
    const calls = tool.calls.length
    const tools = [{ type: 'http', name: 'issue_refund', url: tool.url, needsApproval: true }]
    const sent = session.send('Please use issue_refund', { tools })
    const approval = await waiting(session)
    expect(approval).toMatchObject({ tool: 'issue_refund', reason: 'approval_required' })
    expect(session.getSnapshot().run).toEqual({ status: 'paused', turn: 1 })
    expect(await session.approve(approval.action_id)).toBe('approved')
    expect(await sent).toMatchObject({ status: 'completed' })
    expect(tool.calls.length - calls).toBe(1)
    const parts = session.getSnapshot().messages.at(-1)?.parts
    expect(parts?.[0]).toMatchObject({ type: 'tool', tool: 'issue_refund', status: 'completed' })
    expect(session.getSnapshot().approvals).toEqual([])
  })

  it('says how a call was resolved, also to who decides too late', async () => {
    const session = client({ transport }).sessions.open()
    const sent = session.send('Please use pay', {
      tools: [{ type: 'http', name: 'pay', url: tool.url, needsApproval: true }],
    })
    const { action_id } = await waiting(session)
    expect(await session.reject(action_id)).toBe('rejected')
    expect(await session.approve(action_id)).toBe('rejected')
    expect(await sent).toMatchObject({ status: 'completed' })
  })

  it('runs a function of the page once, though two clients have it', async () => {
    let runs = 0
    const functions = pageFunctions({
      get_city: { run: (args: object) => ({ city: `Porto ${++runs}`, args }) },
      other: { run: () => 'never' },
    })
    const session = client({ transport }).sessions.open(null, { functions })
    const sent = session.send('Please use get_city')
    await expect.poll(() => session.id).not.toBeNull()
    const twin = client({ transport }).sessions.open(session.id, { functions })
    const stopTwin = twin.subscribe(() => {})
    expect(await sent).toMatchObject({ status: 'completed' })
    stopTwin()
    expect(runs).toBe(1)
    expect(session.getSnapshot().messages.at(-1)?.parts[0]).toMatchObject({ tool: 'get_city', status: 'completed' })
  })

  it('stops a turn, and forks what there is', async () => {
    const session = client({ transport }).sessions.open()
    await session.send('reply exactly: one')
    const sent = session.send('slow please')
    await expect.poll(() => textOf(session.getSnapshot().messages.at(-1) ?? { parts: [] })).not.toBe('')
    await session.stop()
    expect(await sent).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    await session.stop()
    const copy = await session.fork(1)
    expect(copy.id).not.toBe(session.id)
    expect(await copy.send('reply exactly: three')).toMatchObject({ turn: 2, text: 'three' })
    expect(shown(copy).map(([, , text]) => text)).toEqual([
      'reply exactly: one',
      'one',
      'reply exactly: three',
      'three',
    ])
  })

  it('repeats a turn that failed, without its message a second time, live as after a reload', async () => {
    const session = client({ transport }).sessions.open()
    expect(await session.send('fail please')).toMatchObject({ turn: 1, status: 'failed' })
    expect(await session.retry()).toMatchObject({ turn: 2, status: 'failed' })
    const live = shown(session)
    expect(live.map(([role, status]) => `${role} ${status}`)).toEqual([
      'user completed',
      'assistant failed',
      'assistant failed',
    ])
    const again = client({ transport }).sessions.open(session.id)
    const stop = again.subscribe(() => {})
    await expect.poll(() => shown(again)).toEqual(live)
    stop()
    await expect(session.retry(1)).rejects.toMatchObject({ code: 'invalid_transition' })
  })

  it('shows what the model reasons before it answers, of an agent that shows it, live as after a reload', async () => {
    const { agents } = api(client())
    const partsOf = async (show_reasoning: boolean) => {
      const agent = await agents.create({ name: 'Shop', config: { model: 'simulated-1', show_reasoning } })
      const session = client({ transport }).sessions.open(null, { create: { agent_id: agent.id } })
      await session.send('think please, and reply exactly: Done.')
      const again = client({ transport }).sessions.open(session.id)
      const stop = again.subscribe(() => {})
      const live = session.getSnapshot().messages.map(({ parts }) => parts)
      await expect.poll(() => again.getSnapshot().messages.map(({ parts }) => parts)).toEqual(live)
      stop()
      return live.at(-1)
    }
    const text = { type: 'text', text: 'Done.' }
    expect(await partsOf(true)).toEqual([{ type: 'reasoning', text: expect.stringContaining('think please') }, text])
    expect(await partsOf(false)).toEqual([text])
  })

  it('keeps the identity of every message but the one that changes', async () => {
    const session = client({ transport }).sessions.open()
    await session.send('reply exactly: one')
    const first = session.getSnapshot().messages
    await session.send('reply exactly: two')
    const second = session.getSnapshot().messages
    expect(second.slice(0, 2).every((message, at) => message === first[at])).toBe(true)
    expect(second).toHaveLength(4)
  })

  it('yields typed events from any place of the log', async () => {
    const session = client({ transport }).sessions.open()
    await session.send('reply exactly: one')
    const seen: string[] = []
    for await (const event of session.events({ after: 1 })) {
      seen.push(event.event === 'turn.completed' ? event.data.output : event.event)
      if (event.event === 'turn.completed') break
    }
    expect(seen).toEqual(['output_text.delta', 'one'])
  })

  it('ends for good with a sentence when the session is deleted', async () => {
    const session = client({ transport }).sessions.open()
    await session.send('reply exactly: one')
    const stop = session.subscribe(() => {})
    await expect.poll(() => session.getSnapshot().connection).toBe('live')
    await world.api.fetch(`/v1/sessions/${session.id}`, undefined, { method: 'DELETE' })
    await expect.poll(() => session.getSnapshot().connection).toBe('ended')
    expect(session.getSnapshot().error).toMatchObject({ code: 'not_found' })
    stop()
  })
})
