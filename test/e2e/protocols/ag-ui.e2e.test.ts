import type { AgentSubscriber, HttpAgent, Message, RunAgentInput } from '@ag-ui/client'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { answerTo } from '../gateway/simulated-answer.ts'
import { patience } from '../patience.ts'
import { PageWorld, shows } from './page.ts'

const client: typeof import('@ag-ui/client') = (await npmPackages('ag-ui'))('@ag-ui/client')
let page: PageWorld
beforeAll(async () => {
  // the client writes each error that it throws
  vi.spyOn(console, 'error').mockImplementation(() => {})
  page = await PageWorld.start()
})
afterAll(() => page.stop())

interface AgentOptions {
  readonly token?: string
  readonly threadId?: string
  readonly approver?: 'end_user' | 'operator'
  readonly messages?: Message[]
  readonly query?: string
}

/** The client cancels a cut connection without catching that this fails. */
const fetchQuietly = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, init)
  const { body } = response
  const getReader = () => {
    const reader = body?.getReader()
    return { read: () => reader?.read(), cancel: async () => reader?.cancel().catch(() => {}) }
  }
  return Object.defineProperty(response, 'body', { value: { getReader } })
}

/** A plain `HttpAgent`, with the outcomes and errors of its runs. */
const agentOn = async ({ token, approver = 'end_user', query = '', ...options }: AgentOptions = {}) => {
  const key = token ?? (await page.token())
  const agent = new client.HttpAgent({
    url: `${page.world.url}/v1/agents/${page.agents[approver]}/ag-ui${query}`,
    headers: { authorization: `Bearer ${key}` },
    fetch: fetchQuietly,
    ...(options.threadId !== undefined && { threadId: options.threadId }),
    ...(options.messages !== undefined && { initialMessages: options.messages }),
  })
  const outcomes: unknown[] = []
  const subscriber: AgentSubscriber = {
    onRunFinishedEvent: ({ event }) => void outcomes.push(event.outcome ?? null),
    onRunErrorEvent: ({ event }) => void outcomes.push({ error: event.code }),
  }
  agent.subscribe(subscriber)
  const say = (content: string, id: string = crypto.randomUUID()) => {
    agent.addMessage({ id, role: 'user', content })
    return agent
  }
  return { agent, outcomes, say }
}

const textsOf = (messages: readonly Message[]) =>
  messages.map((message) => [message.role, 'content' in message ? message.content : undefined])
const callsOf = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
const sessionOf = ({ state }: HttpAgent): string => state.session_id
const refund = 'Please use issue_refund for order 1042'
const pageFunction = { name: 'get_page', description: 'The page that is shown.', parameters: { type: 'object' } }

it('streams turns into the messages of a plain HttpAgent, whose thread becomes a session of the agent', async () => {
  const { agent, outcomes, say } = await agentOn()
  const { result } = await say('reply exactly: Hello there.').runAgent()
  await say('reply exactly: Again.').runAgent()
  expect(textsOf(agent.messages)).toEqual([
    ['user', 'reply exactly: Hello there.'],
    ['assistant', 'Hello there.'],
    ['user', 'reply exactly: Again.'],
    ['assistant', 'Again.'],
  ])
  expect([outcomes, result]).toMatchObject([[{ type: 'success' }, { type: 'success' }], { turn_number: 1 }])
  const { body } = await page.world.api.get(`/v1/sessions/${sessionOf(agent)}`)
  expect(body).toMatchObject({ turn_count: 2, external_user_id: 'ada', agent_id: page.agents.end_user })
})

it('shows the model the images of a message, and a reloaded page those that its session has', async () => {
  const { agent } = await agentOn()
  const source = { type: 'data', value: png(640, 480).toString('base64'), mimeType: 'image/png' }
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image', source },
  ]
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content })
  await agent.runAgent()
  expect(textsOf(agent.messages)[1]).toEqual(['assistant', expect.stringContaining('PNG of 640 × 480 pixels')])
  const { agent: loaded } = await agentOn({ threadId: agent.threadId })
  await loaded.runAgent()
  const [[, shown] = []] = textsOf(loaded.messages)
  const image = { type: 'image', source: { type: 'file', value: expect.any(String), mimeType: 'image/png' } }
  expect(shown).toEqual([content[0], image])
  const id = String(Object(shown)[1].source.value)
  const headers = { authorization: `Bearer ${await page.token()}` }
  const answer = await fetch(`${page.world.url}/v1/sessions/${sessionOf(agent)}/images/${id}`, { headers })
  expect(Buffer.from(await answer.arrayBuffer()).toString('base64')).toBe(source.value)
})

it('shows a reloaded page all messages, also by the id of the session, and leaves its state as it is', async () => {
  const { agent, say } = await agentOn()
  await say('reply exactly: One.').runAgent()
  await say(refund).runAgent()
  const { agent: loaded, outcomes } = await agentOn({ threadId: agent.threadId })
  loaded.setState({ theme: 'dark' })
  await loaded.runAgent()
  expect(textsOf(loaded.messages)).toEqual(textsOf(agent.messages))
  expect(callsOf(loaded.messages)).toEqual(callsOf(agent.messages))
  expect([loaded.state, outcomes]).toMatchObject([
    { theme: 'dark', session_id: sessionOf(agent) },
    [{ type: 'interrupt' }],
  ])
  const { agent: byId } = await agentOn({ threadId: sessionOf(agent) })
  await byId.runAgent()
  expect(byId.messages).toEqual(loaded.messages)
  const { agent: empty, outcomes: none } = await agentOn()
  await empty.runAgent()
  expect([empty.messages, none]).toEqual([[], [{ type: 'success' }]])
})

it('approves an interrupt by resume, and runs the tool once', async () => {
  const { agent, outcomes, say } = await agentOn()
  const before = page.tool.calls.length
  await say(refund).runAgent()
  const [{ id = '', toolCallId, responseSchema } = {}] = agent.pendingInterrupts
  expect([toolCallId, responseSchema?.required]).toEqual([id, ['approved']])
  await agent.runAgent({ resume: [{ interruptId: id, status: 'resolved', payload: { approved: true } }] })
  expect(outcomes).toMatchObject([{ type: 'interrupt' }, { type: 'success' }])
  expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect([agent.pendingInterrupts, page.tool.calls.length]).toEqual([[], before + 1])
  // the same request again shows the same messages
  await agent.runAgent({ resume: [{ interruptId: id, status: 'resolved', payload: { approved: true } }] })
  expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(page.tool.calls.length).toBe(before + 1)
})

it('rejects by a payload or by cancelling, which ends the turn; a new message may come with it', async () => {
  const before = page.tool.calls.length
  for (const entry of [
    { status: 'resolved' as const, payload: { approved: false } },
    { status: 'cancelled' as const },
  ]) {
    const { agent, outcomes, say } = await agentOn()
    await say(refund).runAgent()
    const [{ id: interruptId = '' } = {}] = agent.pendingInterrupts
    await agent.runAgent({ resume: [{ interruptId, ...entry }] })
    expect(outcomes).toMatchObject([{ type: 'interrupt' }, { type: 'success' }])
    expect(agent.messages.at(-1)).toMatchObject({ role: 'tool', content: 'The call was rejected.' })
  }
  const { agent, say } = await agentOn()
  await say(refund).runAgent()
  const [{ id: interruptId = '' } = {}] = agent.pendingInterrupts
  await say('reply exactly: Fine.').runAgent({ resume: [{ interruptId, status: 'cancelled' }] })
  expect(textsOf(agent.messages).at(-1)).toEqual(['assistant', 'Fine.'])
  expect(page.tool.calls.length).toBe(before)
})

it('leaves to the operator what only the operator decides', async () => {
  const { agent, say } = await agentOn({ approver: 'operator' })
  await say(refund).runAgent()
  const [{ id: interruptId = '', metadata, responseSchema } = {}] = agent.pendingInterrupts
  expect([metadata, responseSchema]).toEqual([{ approver: 'operator' }, undefined])
  const refused = agent.runAgent({ resume: [{ interruptId, status: 'resolved', payload: { approved: true } }] })
  await expect(refused).rejects.toMatchObject({ status: 403, payload: { error: { param: 'resume[0].interruptId' } } })
  await (await page.world.api.approve(sessionOf(agent), interruptId)).all()
  await agent.runAgent({ resume: [{ interruptId, status: 'cancelled' }] })
  expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
})

it.each(['token', 'secret key', "agent's key"])('runs a function of the page with a %s', async (credential) => {
  const keys = { token: page.token(), 'secret key': page.world.secretKey, "agent's key": page.agentKey() }
  const token = await Object.entries(keys).find(([name]) => name === credential)?.[1]
  const { agent, outcomes, say } = await agentOn(token === undefined ? {} : { token })
  await say('Please use get_page').runAgent({ tools: [pageFunction] })
  const [call] = callsOf(agent.messages)
  expect([call?.function.name, outcomes]).toMatchObject([
    'get_page',
    [{ type: 'success', pendingToolCallIds: [call?.id] }],
  ])
  agent.addMessage({ id: 'output', role: 'tool', toolCallId: call?.id ?? '', content: 'A title' })
  await agent.runAgent({ tools: [pageFunction] })
  expect(textsOf(agent.messages).at(-1)).toEqual(['assistant', expect.stringContaining('A title')])
  expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(outcomes.at(-1)).toEqual({ type: 'success' })
})

it('takes an approval and the output of a function of the page for calls of one answer', async () => {
  const { agent, outcomes, say } = await agentOn()
  const before = page.tool.calls.length
  await say('Please use all tools for order 1042').runAgent({ tools: [pageFunction] })
  const call = callsOf(agent.messages).find(({ function: { name } }) => name === 'get_page')
  const [{ id: interruptId = '' } = {}] = agent.pendingInterrupts
  agent.addMessage({ id: 'output', role: 'tool', toolCallId: call?.id ?? '', content: 'A title' })
  await agent.runAgent({
    tools: [pageFunction],
    resume: [{ interruptId, status: 'resolved', payload: { approved: true } }],
  })
  expect(textsOf(agent.messages).at(-1)).toEqual(['assistant', expect.stringContaining('A title')])
  expect(agent.messages.filter(({ role }) => role === 'tool').length).toBe(2)
  expect([outcomes.at(-1), page.tool.calls.length]).toEqual([{ type: 'success' }, before + 1])
})

it('shows what the model reasons as a message before its answer, once, to a page that runs again and to one that is loaded', async () => {
  const { agent, say } = await agentOn()
  await say('think please, and reply exactly: Done.').runAgent()
  const shown = [
    ['user', 'think please, and reply exactly: Done.'],
    ['reasoning', expect.stringMatching(/^The user writes: think please, and reply exactly: Done\.\s*$/)],
    ['assistant', 'Done.'],
  ]
  expect(textsOf(agent.messages)).toEqual(shown)
  const { agent: loaded } = await agentOn({ threadId: agent.threadId })
  await Promise.all([agent.runAgent(), loaded.runAgent()])
  expect([textsOf(agent.messages), textsOf(loaded.messages)]).toEqual([shown, shown])
  const { agent: later } = await agentOn({ threadId: agent.threadId })
  await say('reply exactly: More.').runAgent()
  await later.runAgent()
  expect(textsOf(later.messages)).toEqual([...shown, ['user', 'reply exactly: More.'], ['assistant', 'More.']])
})

it('shows the text of a turn once over kill -9, to a page that runs again and to one that is loaded', async () => {
  const { agent, say } = await agentOn()
  const running = expect(say('think please, slow please').runAgent()).rejects.toThrow()
  await shows(() => expect(String(textsOf(agent.messages).at(-1)?.[1]).split(' ').length).toBeGreaterThan(8))
  await page.world.crash()
  await running
  await page.world.restart()
  agent.url = `${page.world.url}/v1/agents/${page.agents.end_user}/ag-ui`
  const { agent: loaded } = await agentOn({ threadId: agent.threadId })
  await Promise.all([agent.runAgent(), loaded.runAgent()])
  for (const each of [agent, loaded])
    expect(textsOf(each.messages)).toEqual([
      ['user', 'think please, slow please'],
      ['reasoning', expect.stringMatching(/^The user writes: think please, slow please\s*$/)],
      ['assistant', answerTo('think please, slow please')],
    ])
})

it('begins one turn for a message that is sent again, and repeats one that failed', async () => {
  const { agent, outcomes, say } = await agentOn()
  await say('reply exactly: Once.', 'm1').runAgent()
  agent.setMessages(agent.messages.slice(0, 1))
  await agent.runAgent()
  expect(textsOf(agent.messages).at(-1)).toEqual(['assistant', 'Once.'])
  const turns = async () => (await page.world.api.get(`/v1/sessions/${sessionOf(agent)}`)).body.turn_count
  expect(await turns()).toBe(1)
  await say('fail please').runAgent()
  await agent.runAgent()
  expect(outcomes.slice(2)).toEqual([{ error: 'provider_error' }, { error: 'provider_error' }])
  expect(await turns()).toBe(3)
})

it('keeps a turn going when a page aborts its run, and cancels it where the page wants that', async () => {
  const { agent, say } = await agentOn()
  const running = say('slow please').runAgent()
  await shows(() => expect(textsOf(agent.messages).at(-1)?.[0]).toBe('assistant'))
  agent.abortRun()
  await running
  await agent.runAgent()
  expect(textsOf(agent.messages).at(-1)).toEqual(['assistant', answerTo('slow please')])
  const { agent: stopped, outcomes, say: sayTo } = await agentOn({ query: '?on_abort=cancel' })
  const stopping = sayTo('slow please').runAgent()
  await shows(() => expect(textsOf(stopped.messages).at(-1)?.[0]).toBe('assistant'))
  stopped.abortRun()
  await stopping
  const messages = async () => (await page.world.api.get(`/v1/sessions/${sessionOf(stopped)}/messages`)).body.data
  await expect.poll(async () => (await messages()).at(-1)?.status, patience).toBe('failed')
  await stopped.runAgent()
  expect(outcomes.at(-1)).toEqual({ type: 'cancelled' })
})

it('hides sessions of other users, agents and tenants, and names the place of what it refuses', async () => {
  const { agent, say } = await agentOn()
  await say('reply exactly: Mine.').runAgent()
  const run = async (
    token: string,
    body: Partial<RunAgentInput> | object,
    approver: 'end_user' | 'operator' = 'end_user',
  ) => {
    const path = `/v1/agents/${page.agents[approver]}/ag-ui`
    const input = { threadId: sessionOf(agent), runId: 'r', messages: [], ...body }
    const { status, body: answer } = await page.world.as(token).post(path, input)
    return [status, answer?.error?.code, answer?.error?.param]
  }
  const eve = await page.token(undefined, 'eve')
  expect(await run(eve, {})).toEqual([404, 'not_found', 'threadId'])
  expect(await run(await page.token(), {}, 'operator')).toEqual([404, 'not_found', 'threadId'])
  expect(await run(page.world.secretKey, { threadId: 'ses_01kb0000000000000000000000' })).toEqual([
    404,
    'not_found',
    'threadId',
  ])
  // the same thread of another user is another session
  const { agent: other } = await agentOn({ token: eve, threadId: agent.threadId })
  await other.runAgent()
  expect([other.messages, sessionOf(other) === sessionOf(agent)]).toEqual([[], false])
  expect(await run(await page.agentKey('public'), { threadId: 'guessed' })).toEqual([422, 'invalid_field', 'threadId'])
  expect(await run(await page.token(['sessions:approve']), {})).toEqual([403, 'insufficient_scope', null])
  const ada = await page.token()
  const last = (message: object) => run(ada, { messages: [{ id: 'm', ...message }] })
  expect(await last({ role: 'user', content: '' })).toEqual([422, 'invalid_field', 'messages[0].content'])
  expect(await last({ role: 'user', content: [{ type: 'image', source: {} }] })).toEqual([
    422,
    'invalid_field',
    'messages[0].content[0]',
  ])
  expect(await last({ role: 'tool', content: 'x' })).toEqual([422, 'invalid_field', 'messages[0].toolCallId'])
  expect(await run(ada, { resume: [{ interruptId: '__proto__', status: 'resolved' }] })).toEqual([
    404,
    'not_found',
    'resume[0].interruptId',
  ])
  const edited = { interruptId: 'act_1', status: 'resolved', payload: { approved: true, editedArgs: {} } }
  expect(await run(ada, { resume: [edited] })).toEqual([422, 'invalid_field', 'resume[0].payload.editedArgs'])
  expect(await run(ada, { tools: [{ name: 'a b' }] })).toEqual([422, 'invalid_field', 'tools[0].name'])
})
