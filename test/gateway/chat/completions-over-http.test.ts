import type { ServerResponse } from 'node:http'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnyUseCases } from '#actors/call/use-cases.ts'
import { chatCompletionsUseCases } from '#gateway/apis/chat-completions/chat-completion-use-cases.ts'
import { ChatMemory } from '#gateway/remembering/chat-memory.ts'
import { IdempotentRequests } from '#records/idempotent.ts'
import { systemClock } from '#runtime/clock.ts'
import { Ticker } from '#runtime/ticker.ts'
import { errors } from '#specs/errors/errors.ts'
import { chatCompletions } from '#specs/resources/gateway/chat-completions.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { head } from '#test/transport/http/raw-client.ts'
import { serving } from '#test/transport/http/serving.ts'
import { BodyMemory } from '#transport/api/body/body-memory.ts'
import { Dispatcher } from '#transport/api/dispatcher.ts'
import { endpointsOf } from '#transport/api/endpoint.ts'
import { SseStreams } from '#transport/streams/sse.ts'
import { StreamLimit } from '#transport/streams/stream-limit.ts'
import { type Answer, cut, refusal, stalled, trickled, whole } from '../call/scripted-upstream.ts'
import {
  type ChatWorld,
  caller,
  delta,
  framesOf,
  goodAnswer,
  goodStream,
  hello,
  openChatWorld,
  usageChunk,
} from './chat-world.ts'

const log = pino({ level: 'silent' })

const dispatcherOver = ({ chats, keepAlive }: Pick<ChatWorld, 'chats' | 'keepAlive'>): Dispatcher => {
  const useCases: AnyUseCases = {
    ...chatCompletionsUseCases({
      chats,
      keepAlive,
      prompts: () => {
        throw new Error('there are no prompts')
      },
      memory: new ChatMemory({ service: () => new ScriptedMemory(), now: () => 0 }),
    }),
  }
  const box = { seal: (text: string) => text, open: (text: string) => text }
  const { records } = openMemoryStorage()
  return new Dispatcher({
    endpoints: endpointsOf(Object.values(chatCompletions), useCases),
    authenticator: { authenticate: () => caller.principal },
    tenants: { admit: () => {}, admitUser: () => {}, check: () => {}, remains: async () => {} },
    origins: { allows: () => true },
    idempotent: new IdempotentRequests({ records, box, clock: systemClock, log }),
    streams: new SseStreams(new Ticker(1000), { openStreams: 0, eventsSent: 0 }, log),
    streamLimit: new StreamLimit(),
    ticker: new Ticker(1000),
    bodies: new BodyMemory(),
    publicOrigin: null,
    clientAddress: ({ remoteAddress }) => remoteAddress,
    log,
    observe: () => {},
    pages: () => false,
    upgrade: () => Promise.reject(new Error('no upgrades here')),
  })
}

const json: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(goodAnswer))
}

describe.each(['uws', 'node'] as const)('chat completions over %s', (adapter) => {
  const { serve, client } = serving(adapter)
  let world: ChatWorld
  const open = async (chat = world) => {
    const dispatcher = dispatcherOver(chat)
    return serve((request, response) => dispatcher.request(request, response))
  }

  beforeEach(async () => {
    world = await openChatWorld()
  })
  afterEach(() => world.close())

  const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  it('return the bytes of the provider and headers that name it', async () => {
    const { url } = await open()
    world.first.script(json)
    const response = await post(url, hello)
    expect(await response.text()).toBe(JSON.stringify(goodAnswer))
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-provider': 'groq',
      'x-ratelimit-remaining-requests': '7',
      'x-request-id': expect.stringMatching(/^req_/),
    })
  })

  it('contain a memory object when memory found nothing', async () => {
    const { url } = await open()
    world.first.script(json)
    const response = await post(url, { ...hello, memory: { userId: 'ada' } })
    expect(await response.json()).toMatchObject({ ...goodAnswer, memory: { retrieved: [], write_status: 'pending' } })
    expect(response.headers.get('x-service-memory-retrieved')).toBe('0')
    expect(world.first.received[0]?.body).not.toHaveProperty('memory')
  })

  it('return the stored answer for a repeated Idempotency-Key', async () => {
    const { url } = await open()
    world.first.script(json)
    const headers = { 'idempotency-key': 'once' }
    const first = await (await post(url, hello, headers)).json()
    const again = await post(url, hello, headers)
    expect([await again.json(), again.headers.get('idempotent-replayed')]).toEqual([first, 'true'])
    expect(world.first.received).toHaveLength(1)
  })

  const streamed = { ...hello, stream: true }
  const once = { 'idempotency-key': 'once' }

  it('stream the recorded answer for a repeated Idempotency-Key without calling a provider', async () => {
    const { url } = await open()
    world.first.script(trickled(goodStream, 23, 2))
    const first = await post(url, streamed, once)
    const text = await first.text()
    expect(text).toContain('data: [DONE]')
    const again = await post(url, streamed, once)
    expect(await again.text()).toBe(text)
    expect(Object.fromEntries(again.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'idempotent-replayed': 'true',
      'x-provider': 'groq',
    })
    expect(world.first.received).toHaveLength(1)
    expect(world.recorded).toHaveLength(1)
    const other = await post(url, { ...streamed, temperature: 1 }, once)
    expect([other.status, await other.json()]).toMatchObject([409, { error: { code: 'idempotency_key_reused' } }])
  })

  it('continue with an Idempotency-Key after the caller disconnects, and are in progress until the end', async () => {
    const { url, port } = await open()
    const upstream = Promise.withResolvers<ServerResponse>()
    world.first.script((response, received) => {
      stalled(framesOf(delta({ role: 'assistant', content: 'Hel' })))(response, received)
      upstream.resolve(response)
    })
    const raw = await client(port)
    const body = JSON.stringify(streamed)
    const lines = ['content-type: application/json', 'idempotency-key: once', `content-length: ${body.length}`]
    raw.write(head('POST', '/v1/chat/completions', ...lines) + body)
    await raw.until('"content":"Hel"')
    raw.socket.destroy()
    const meanwhile = await post(url, streamed, once)
    const refused = { error: { code: 'idempotency_in_progress' } }
    expect([meanwhile.status, await meanwhile.json()]).toMatchObject([409, refused])
    ;(await upstream.promise).end(framesOf(delta({ content: 'lo' }), delta({}, 'stop'), '[DONE]'))
    const again = await post(url, streamed, once)
    const text = await again.text()
    expect([text.includes('"Hel"'), text.includes('"lo"'), text.endsWith('data: [DONE]\n\n')]).toEqual([
      true,
      true,
      true,
    ])
    expect(world.first.received).toHaveLength(1)
  })

  it('replay a broken stream as broken for a repeated Idempotency-Key', async () => {
    const { url } = await open()
    world.first.script(cut(framesOf(delta({ role: 'assistant', content: 'Hel' }))))
    const read = async () => {
      const { body } = await post(url, streamed, once)
      let text = ''
      try {
        for await (const part of body ?? []) text += Buffer.from(part).toString()
        return { text, broke: false }
      } catch {
        return { text, broke: true }
      }
    }
    const first = await read()
    expect(first).toMatchObject({ broke: true, text: expect.stringContaining('provider_stream_broken') })
    expect(await read()).toEqual(first)
    expect(world.first.received).toHaveLength(1)
  })

  it('release an Idempotency-Key when the stream was refused before its beginning without a charge', async () => {
    const { url } = await open()
    world.first.script(...Array.from({ length: 3 }, () => refusal(500, { message: 'Oops.' })), whole(goodStream))
    const refused = await post(url, streamed, once)
    expect(refused.status).toBe(502)
    expect((await post(url, streamed, once)).status).toBe(200)
  })

  it('stream the frames of the provider to the end', async () => {
    const { url } = await open()
    world.first.script(trickled(goodStream, 23, 2))
    const response = await post(url, { ...hello, stream: true })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await response.text()).toBe(goodStream.replace(framesOf(usageChunk), ''))
  })

  it('answer with an error status when the provider refuses before the first frame', async () => {
    const { url } = await open()
    world.first.script(refusal(400, { message: 'Bad tool.', code: 'invalid_value', param: 'tools' }))
    const response = await post(url, { ...hello, stream: true })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', code: 'bad_request', param: 'tools' },
    })
  })

  it.each([
    [{ 'retry-after': '3600' }, '3600'],
    [{}, '1'],
  ])('send retry-after for a rate limit without an alternative: %o', async (said, shown) => {
    const { url } = await open()
    world.first.script(refusal(429, { message: 'Slow down.', code: 'rate_limit_exceeded' }, said))
    for (const stream of [false, true]) {
      const response = await post(url, { ...hello, stream })
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, shown])
      expect(await response.json()).toMatchObject({
        error: { type: 'rate_limit_error', code: 'provider_rate_limited' },
      })
    }
  })

  it('request uncompressed answers from providers', async () => {
    const { url } = await open()
    world.first.script(json)
    await post(url, hello)
    expect(world.first.received[0]?.headers['accept-encoding']).toBe('identity')
  })

  it('send a via header to providers', async () => {
    const { url } = await open()
    world.first.script(json)
    await post(url, hello)
    await post(url, hello, { via: '1.1 google, 1.1 troupe' })
    await post(url, hello)
    const passed = world.first.received.map(({ headers }) => headers.via)
    expect(passed).toEqual(['1.1 troupe', '1.1 troupe, 1.1 troupe', '1.1 troupe'])
  })

  it.each([false, true])('detect a loop when the provider is this server itself (streamed: %s)', async (stream) => {
    const { url } = await open()
    world.routes.set('model-1', [world.routeTo({ url })])
    const response = await post(url, { ...hello, stream })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', code: 'request_loop', message: errors.request_loop.message },
    })
    expect(world.recorded.map(({ error, attempts }) => [error, attempts])).toEqual(
      Array.from({ length: 4 }, () => ['request_loop', 1]),
    )
  })

  it('name the invalid field', async () => {
    const { url } = await open()
    const response = await post(url, { ...hello, temperature: 3 })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_field', param: 'temperature' } })
  })

  it('end a broken stream with an error frame and a cut connection', async () => {
    const { port } = await open()
    const beginning = framesOf(delta({ role: 'assistant', content: 'Hel' }))
    world.first.script(cut(beginning))
    const raw = await client(port)
    const body = JSON.stringify({ ...hello, stream: true })
    const lines = ['content-type: application/json', `content-length: ${body.length}`]
    raw.write(head('POST', '/v1/chat/completions', ...lines) + body)
    const received = await raw.closed
    expect(received).toContain('"content":"Hel"')
    expect(received).toContain('data: {"error":{"type":"provider_error","code":"provider_stream_broken"')
    expect(received).not.toContain('[DONE]')
    expect(received.endsWith('0\r\n\r\n')).toBe(false)
  })

  it('send keep-alive comments in a silent stream, also before its first frame', async () => {
    const quiet = await openChatWorld({ keepAliveMs: 80 })
    const { port } = await open(quiet)
    const frame = framesOf(delta({ role: 'assistant', content: 'Hel' }))
    let upstream: ServerResponse | null = null
    quiet.first.script((response) => {
      upstream = response
      stalled('')(response, { path: '', headers: {}, body: {}, closed: Promise.resolve(0) })
    })
    const raw = await client(port)
    const body = JSON.stringify({ ...hello, stream: true })
    const lines = ['content-type: application/json', `content-length: ${body.length}`]
    raw.write(head('POST', '/v1/chat/completions', ...lines) + body)
    await raw.until(': keep-alive\n\n')
    const write = (text: string) => upstream?.write(text)
    write(frame)
    await raw.until('"content":"Hel"')
    const before = raw.received.split(': keep-alive').length
    await vi.waitFor(() => expect(raw.received.split(': keep-alive').length).toBeGreaterThan(before), {
      timeout: 30_000,
    })
    write(goodStream)
    expect(await raw.until('[DONE]')).toContain('HTTP/1.1 200')
    await quiet.close()
  })

  it.each([
    ['waits', false],
    ['reads a stream', true],
  ])('cancel the provider request when a caller disconnects who %s', async (_, stream) => {
    const { port } = await open()
    world.first.script(stream ? stalled(framesOf(delta({ role: 'assistant', content: 'Hel' }))) : () => {})
    const raw = await client(port)
    const body = JSON.stringify({ ...hello, stream })
    const lines = ['content-type: application/json', `content-length: ${body.length}`]
    raw.write(head('POST', '/v1/chat/completions', ...lines) + body)
    if (stream) await raw.until('"content":"Hel"')
    await vi.waitFor(() => expect(world.first.received).toHaveLength(1), { timeout: 30_000 })
    raw.socket.destroy()
    // Nothing else closes it within the time of this test.
    await world.first.received[0]?.closed
    await expect.poll(() => world.recorded).toMatchObject([{ status: 499, error: 'cancelled' }])
  })

  it('read no more from a provider than a slow caller accepts', async () => {
    const slow = await openChatWorld()
    const { port } = await open(slow)
    const part = framesOf(...Array.from({ length: 100 }, () => delta({ role: 'assistant', content: 'x'.repeat(1000) })))
    let sentBytes = 0
    let isStuck = false
    slow.first.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = () => {
        isStuck = false
        while (sentBytes < 200 * 1024 * 1024) {
          sentBytes += part.length
          if (!response.write(part)) {
            isStuck = true
            response.once('drain', more)
            return
          }
        }
      }
      more()
    })
    const raw = await client(port)
    const body = JSON.stringify({ ...hello, stream: true })
    const lines = ['content-type: application/json', `content-length: ${body.length}`]
    raw.write(head('POST', '/v1/chat/completions', ...lines) + body)
    await raw.until('"content":"xxx')
    raw.socket.pause()
    // Waits until nothing moves: by then only the buffers of the sockets are full.
    let last = -1
    await vi.waitFor(
      () => {
        const before = last
        last = sentBytes
        expect([isStuck, sentBytes]).toEqual([true, before])
      },
      { timeout: 20_000, interval: 300 },
    )
    expect(sentBytes).toBeLessThan(40 * 1024 * 1024)
    const stuckAt = sentBytes
    raw.socket.resume()
    await vi.waitFor(() => expect(sentBytes).toBeGreaterThan(stuckAt + 4 * 1024 * 1024), { timeout: 20_000 })
    raw.socket.destroy()
    await slow.first.received[0]?.closed
    await slow.close()
  })

  it('stream to 20 concurrent callers', async () => {
    const { url } = await open()
    world.first.script(whole(goodStream))
    const texts = await Promise.all(
      Array.from({ length: 20 }, async () => (await post(url, { ...hello, stream: true })).text()),
    )
    expect(new Set(texts)).toEqual(new Set([goodStream.replace(framesOf(usageChunk), '')]))
  })
})
