import { connect as connectSocket } from 'node:net'
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { speechOf } from '#gateway/simulated/speech.ts'
import { realtimeSocket } from '#specs/resources/gateway/realtime.ts'
import { PageWorld } from '#test/e2e/protocols/page.ts'
import { noteCalled } from '#test/support/called-operations.ts'

describe('official clients of the Realtime API', () => {
  let page: PageWorld
  const closing: { close(): void }[] = []
  beforeAll(async () => {
    page = await PageWorld.start()
  })
  afterAll(async () => {
    for (const each of closing) each.close()
    await page.stop()
  })

  /** A session of the agents SDK, over WebSocket. */
  const sessionOf = async (model: string, agent: RealtimeAgent, apiKey: string) => {
    const url = `${page.world.url.replace('http', 'ws')}/v1/realtime?model=${model}`
    const transport = new OpenAIRealtimeWebSocket({ url, useInsecureApiKey: true })
    const session = new RealtimeSession(agent, { transport, model, config: { outputModalities: ['text'] } })
    await session.connect({ apiKey, url })
    closing.push(session)
    return session
  }
  // the response that calls a function ends as well, without a text
  const nextText = (session: RealtimeSession): Promise<string> =>
    new Promise((resolve) => session.on('agent_end', (...[, , output]) => output !== '' && resolve(output)))

  it('answers the official openai package', async () => {
    const client = new OpenAI({ apiKey: page.world.secretKey, baseURL: `${page.world.url}/v1` })
    const { value } = await client.realtime.clientSecrets.create({
      session: { type: 'realtime', model: 'simulated-1' },
    })
    const withSecret = new OpenAI({ apiKey: value, baseURL: client.baseURL })
    // the package opens wss only: the test takes the TLS away
    const createConnection: typeof connectSocket = () => connectSocket({ port: page.world.port, host: '127.0.0.1' })
    const realtime = new OpenAIRealtimeWS({ model: 'simulated-1', options: { createConnection } }, withSecret)
    closing.push(realtime)
    const failed = new Promise<never>((_, reject) => {
      realtime.on('error', reject)
      realtime.socket.on('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)))
      realtime.on('response.done', ({ response: { status, status_details } }) => {
        if (status !== 'completed') reject(new Error(`${status}: ${JSON.stringify(status_details)}`))
      })
    })
    // the socket closes after the test
    failed.catch(() => {})
    await Promise.race([failed, new Promise<void>((resolve) => realtime.on('session.created', () => resolve()))])
    noteCalled([realtimeSocket.id])
    realtime.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } })
    const content = [{ type: 'input_text', text: 'reply exactly: Hello.' } as const]
    realtime.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
    const text = new Promise<string>((resolve) =>
      realtime.on('response.output_text.done', (done) => resolve(done.text)),
    )
    realtime.send({ type: 'response.create' })
    expect(await Promise.race([failed, text])).toBe('Hello.')
  })

  it('lets a RealtimeSession of the agents SDK converse and run its functions', async () => {
    const calls: unknown[] = []
    const parameters = { type: 'object' as const, properties: {}, required: [], additionalProperties: true as const }
    const weather = tool({
      ...{ name: 'get_weather', description: 'Weather', parameters, strict: false as const },
      execute: (input: unknown) => {
        calls.push(input)
        return 'clear sky'
      },
    })
    const agent = new RealtimeAgent({ name: 'a', instructions: 'Be brief.', tools: [weather] })
    const session = await sessionOf('simulated-1', agent, page.world.secretKey)
    const errors: unknown[] = []
    session.on('error', (error) => void errors.push(error))
    const answered = new Promise<void>((resolve) => session.on('agent_tool_end', () => resolve()))
    session.sendMessage('Please use get_weather')
    await answered
    const text = await nextText(session)
    expect([calls.length, text.includes('clear sky'), errors]).toEqual([1, true, []])
  })

  it('hears the audio of a RealtimeSession, and speaks', async () => {
    const agent = new RealtimeAgent({ name: 'a' })
    const url = `${page.world.url.replace('http', 'ws')}/v1/realtime?model=simulated-1`
    const transport = new OpenAIRealtimeWebSocket({ url, useInsecureApiKey: true })
    const session = new RealtimeSession(agent, { transport, model: 'simulated-1' })
    closing.push(session)
    await session.connect({ apiKey: page.world.secretKey, url })
    const spoken = new Promise<number>((resolve) => session.once('audio', ({ data }) => resolve(data.byteLength)))
    const { audio } = speechOf('hello there', 'pcm', 1) ?? { audio: Buffer.alloc(0) }
    const samples = Buffer.concat([audio, Buffer.alloc(96_000)])
    session.sendAudio(samples.buffer.slice(samples.byteOffset, samples.byteOffset + samples.length))
    expect(await spoken).toBeGreaterThan(0)
  })

  it('lets a RealtimeSession approve a tool that the server runs for its agent', async () => {
    const session = await sessionOf(page.agents.end_user, new RealtimeAgent({ name: 'a' }), await page.token())
    const before = page.tool.calls.length
    const requested = new Promise<Parameters<RealtimeSession['approve']>[0]>((resolve) =>
      session.on('tool_approval_requested', (...[, , request]) => resolve(request.approvalItem)),
    )
    session.sendMessage('Please use issue_refund for order 1042')
    await session.approve(await requested)
    await page.tool.called(before + 1)
    expect(page.tool.calls.length).toBe(before + 1)
  })
})
