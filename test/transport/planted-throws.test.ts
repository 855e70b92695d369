import { describe, expect, it } from 'vitest'
import type { ByteSink } from '#actors/call/call.ts'
import type { AnyUseCase } from '#actors/call/use-cases.ts'
import type { EventSink } from '#runtime/messages/event-stream.ts'
import { keyOrClient } from '#specs/access.ts'
import { answersBytes, answersEvents, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations, type Operation } from '#specs/dsl/declare.ts'
import { object, optional, string } from '#specs/dsl/schema.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { ApiParts } from '#transport/api/dispatcher.ts'
import type { WebSocketPeer } from '#transport/http/http-port.ts'
import { principals, serve } from './api/serving.ts'
import { clientFrame, head } from './http/raw-client.ts'
import { serving } from './http/serving.ts'

const thing = object({ name: optional(string()) })

const things = defineOperations('things', {
  get: { summary: '', method: 'GET', path: '/v1/things', access: keyOrClient, answer: isJsonResponse(thing) },
  make: {
    summary: '',
    method: 'POST',
    path: '/v1/things',
    access: keyOrClient,
    body: thing,
    answer: isJsonResponse(thing),
  },
  follow: {
    summary: '',
    method: 'GET',
    path: '/v1/things/stream',
    access: keyOrClient,
    answer: answersEvents({}, { title: 'ThingEvent' }),
  },
  bytes: {
    summary: '',
    method: 'GET',
    path: '/v1/things/bytes',
    access: keyOrClient,
    answer: answersBytes('text/plain'),
  },
})

const declared: readonly Operation[] = Object.values(things)

const planted = (): never => {
  throw new Error('planted')
}

/** A value that JSON cannot represent. */
const unreadable: AnyUseCase = async () => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  return circle
}

const streaming =
  (start: (sink: EventSink) => void): AnyUseCase =>
  async () => ({
    replayed: false,
    stream: {
      start: (sink: EventSink) => {
        start(sink)
        return { resume: () => {}, stop: () => {} }
      },
    },
  })

/** Nested deeper than JSON can be written. */
const deep = (): JsonObject => {
  let payload: JsonObject = {}
  for (let depth = 0; depth < 100_000; depth++) payload = { payload }
  return payload
}

const unreadablePayload = (sink: EventSink): void => {
  sink.push([{ event_type: 'thing', sequence: 1, payload: deep() }])
}

const pushing =
  (start: (sink: ByteSink) => void): AnyUseCase =>
  async () => ({
    contentType: 'text/plain',
    bytes: {
      start: (sink: ByteSink) => {
        start(sink)
        return { resume: () => {}, stop: () => {} }
      },
    },
  })

const failingParts: AnyUseCase = async () => ({
  contentType: 'text/plain',
  bytes: (async function* () {
    yield 'first'
    planted()
  })(),
})

interface Plan {
  readonly useCase?: AnyUseCase
  readonly parts?: Partial<ApiParts>
  /** Bytes of the request. */
  readonly sent: string
}

const get = (path: string, ...lines: string[]): string => head('GET', path, ...lines)
const post = (body: string): string =>
  `${head('POST', '/v1/things', 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`)}${body}`

const answerable: Readonly<Record<string, Plan>> = {
  'an Origin that no header can carry': { sent: get('/v1/things', 'origin: a\x7f') },
  'an Origin that no header can carry, at a refusal': { sent: get('/v1/nothing', 'origin: a\x7f') },
  'an Origin that no header can carry, at a preflight': {
    sent: head('OPTIONS', '/v1/things', 'origin: a\x7f', 'access-control-request-method: GET'),
  },
  'the pages': {
    sent: get('/nowhere'),
    parts: { pages: planted },
  },
  'authentication, at once': { sent: get('/v1/things'), parts: { authenticator: { authenticate: planted } } },
  'authentication, later': {
    sent: get('/v1/things'),
    parts: { authenticator: { authenticate: () => Promise.reject(new Error('planted')) } },
  },
  'the check of origins': {
    sent: get('/v1/things', 'origin: https://a.example'),
    parts: { origins: { allows: planted } },
  },
  'the admission of tenants': {
    sent: post('{}'),
    parts: { tenants: { admit: planted, admitUser: planted, check: planted, remains: async () => {} } },
  },
  'a body that is no JSON': { sent: post('{') },
  'a body of a million brackets': { sent: post('['.repeat(1_000_000)) },
  'a use-case, at once': { sent: get('/v1/things'), useCase: planted },
  'a use-case, later': { sent: get('/v1/things'), useCase: () => Promise.reject(new Error('planted')) },
  'a use-case that throws nothing': { sent: get('/v1/things'), useCase: () => Promise.reject(undefined) },
  'an error that cannot be shown': {
    sent: get('/v1/things'),
    useCase: () => Promise.reject(Object.defineProperty(new Error('x'), 'stack', { get: planted })),
  },
  'an answer that is no JSON': { sent: get('/v1/things'), useCase: unreadable },
  'an answer with a header that cannot be sent': {
    sent: get('/v1/things/bytes'),
    useCase: async () => ({ contentType: 'text/\u0001', bytes: '' }),
  },
  'the record of an answer': { sent: get('/v1/things'), parts: { observe: planted } },
}

const streamed: Readonly<Record<string, Plan>> = {
  'a stream that does not start': { sent: get('/v1/things/stream'), useCase: streaming(planted) },
  'an event that cannot be written': { sent: get('/v1/things/stream'), useCase: streaming(unreadablePayload) },
  'an event that cannot be written, later': {
    sent: get('/v1/things/stream'),
    useCase: streaming((sink) => setImmediate(() => unreadablePayload(sink))),
  },
  'a body that does not start': { sent: get('/v1/things/bytes'), useCase: pushing(planted) },
  'a body that breaks': { sent: get('/v1/things/bytes'), useCase: failingParts },
}

const socketPlans: Readonly<Record<string, (peer: WebSocketPeer) => void>> = {
  'a socket that is taken': planted,
  'a message of a socket': (peer) => peer.onMessage(planted),
  'the close of a socket': (peer) => {
    peer.onClose(planted)
    peer.onMessage(() => peer.close(1000, 'done'))
  },
}

const handshake = head(
  'GET',
  '/socket',
  'upgrade: websocket',
  'connection: Upgrade',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
)

describe.each(['uws', 'node'] as const)('an exception on the %s server', (adapter) => {
  const { serve: listen, client } = serving(adapter)

  const open = async ({ useCase, parts }: Omit<Plan, 'sent'>, upgrade?: Parameters<typeof listen>[1]) => {
    const useCases = Object.fromEntries(declared.map(({ id }) => [id, useCase ?? (async () => ({ name: 'sound' }))]))
    const authenticator = { authenticate: () => principals.secret_key }
    const { dispatcher } = serve(declared, useCases, { parts: { authenticator, pages: () => false, ...parts } })
    return listen((request, response) => {
      if (request.path === '/sound') response.send(200, [], 'still here')
      else dispatcher.request(request, response)
    }, upgrade)
  }

  const isThere = async (url: string): Promise<void> => {
    // the work that a planted throw has scheduled is done by then
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(await (await fetch(`${url}/sound`)).text()).toBe('still here')
  }

  it.each(Object.entries(answerable))('caused by %s is answered, and affects nothing else', async (_, plan) => {
    const { port, url } = await open(plan)
    const raw = await client(port)
    raw.write(plan.sent)
    expect(await raw.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 [2-5]\d\d /)
    expect(raw.received).not.toContain('planted')
    await isThere(url)
  })

  it.each(Object.entries(streamed))('caused by %s ends that response, and nothing else', async (_, plan) => {
    const { port, url } = await open(plan)
    const raw = await client(port)
    raw.write(plan.sent)
    expect(await raw.closed).not.toContain('\r\n0\r\n\r\n')
    await isThere(url)
  })

  it.each(Object.entries(socketPlans))('caused by %s ends that socket, and nothing else', async (_, accept) => {
    const { port, url } = await open({}, () => Promise.resolve({ accept }))
    const raw = await client(port)
    raw.write(handshake)
    await raw.until('\r\n\r\n').catch(() => {})
    if (!raw.socket.destroyed) raw.write(clientFrame(0x81, 'hello'))
    await raw.closed
    await isThere(url)
  })

  it.each([
    ['an upgrade, at once', planted],
    ['an upgrade, later', () => Promise.reject(new Error('planted'))],
    [
      'a refusal that cannot be sent',
      async () => ({ refuse: { status: 404, headers: [['x', '\u0001'] as const], body: '' } }),
    ],
  ])('caused by %s is answered, and affects nothing else', async (_, upgrade) => {
    const { port, url } = await open({}, upgrade)
    const raw = await client(port)
    raw.write(handshake)
    expect(await raw.until('\r\n\r\n')).toContain('HTTP/1.1 500')
    await isThere(url)
  })
})
