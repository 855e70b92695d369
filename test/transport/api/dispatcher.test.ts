import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Call } from '#actors/call/call.ts'
import type { AnyUseCase, AnyUseCases } from '#actors/call/use-cases.ts'
import type { EventSink } from '#runtime/messages/event-stream.ts'
import { keyOrClient, publicAccess, secretKeyOnly } from '#specs/access.ts'
import { answersEvents, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations, type Operation } from '#specs/dsl/declare.ts'
import { object, optional, string } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { principals, serve } from './serving.ts'

const body = object({ name: optional(string()) })
const thing = object({ name: optional(string()) })

const things = defineOperations('things', {
  get: {
    summary: '',
    method: 'GET',
    path: '/v1/things/{thing_id}',
    access: keyOrClient,
    answer: isJsonResponse(thing),
  },
  create: {
    summary: '',
    method: 'POST',
    path: '/v1/things',
    access: secretKeyOnly,
    body,
    answer: isJsonResponse(thing, { status: 201 }),
  },
  repeat: {
    summary: '',
    method: 'POST',
    path: '/v1/things/repeat',
    access: secretKeyOnly,
    attributed: true,
    body,
    answer: isJsonResponse(thing),
  },
  mint: {
    summary: '',
    method: 'POST',
    path: '/v1/things/keys',
    access: secretKeyOnly,
    answer: isJsonResponse(object({ key: string() }), { status: 201, secret: true }),
  },
  run: {
    summary: '',
    method: 'POST',
    path: '/v1/things/{thing_id}/run',
    access: secretKeyOnly,
    body,
    answer: answersEvents({}, { title: 'ThingEvent' }),
  },
  follow: {
    summary: '',
    method: 'GET',
    path: '/v1/things/{thing_id}/stream',
    access: secretKeyOnly,
    answer: answersEvents({}, { title: 'ThingEvent', resumable: true }),
  },
  login: {
    summary: '',
    method: 'POST',
    path: '/api/auth/enter',
    access: publicAccess,
    body,
    answer: isJsonResponse(thing),
  },
})

const declared: readonly Operation[] = Object.values(things)
const as = principals.secret_key
const answers: AnyUseCase = async (call) => ({ name: JSON.stringify(call.params) })

const open = (useCases: AnyUseCases, options: Parameters<typeof serve>[2] = {}) =>
  serve(declared, { ...Object.fromEntries(declared.map(({ id }) => [id, answers])), ...useCases }, options)

describe('errors', () => {
  it.each([
    {
      error: new StoreUnavailable('mongodb://secret-host refused'),
      status: 503,
      code: 'store_unavailable',
      retry: '1',
    },
    {
      error: new ServiceError('rate_limit_exceeded', { retryAfterS: 2.4 }),
      status: 429,
      code: 'rate_limit_exceeded',
      retry: '3',
    },
    { error: new TypeError('x is not a function at secret.ts'), status: 500, code: 'internal_error', retry: undefined },
  ])('of code $code show their status and nothing of their cause', async ({ error, status, code, retry }) => {
    const { send } = open({ 'things.get': () => Promise.reject(error) })
    const received = await send({ target: '/v1/things/1', as })
    expect(received.status).toBe(status)
    expect(received.json).toMatchObject({ error: { code, param: null, request_id: received.headers['x-request-id'] } })
    expect(received.text).not.toContain('secret')
    expect(received.headers['retry-after']).toBe(retry)
  })

  it.each([
    ['invalid_transition', 'false', {}],
    ['invalid_transition', undefined, { retryAfterS: 5 }],
    ['memory_ops_quota_exceeded', 'false', { retryAfterS: 5 }],
    ['idempotency_in_progress', undefined, {}],
    ['turn_in_progress', undefined, {}],
    ['rate_limit_exceeded', undefined, {}],
  ] as const)(
    'of code %s let SDKs repeat the request, except where a header forbids it: %s with %j',
    async (code, repeated, details) => {
      const { send } = open({ 'things.get': () => Promise.reject(new ServiceError(code, details)) })
      expect((await send({ target: '/v1/things/1', as })).headers['x-should-retry']).toBe(repeated)
    },
  )

  it.each([
    ['nothing', undefined, 'thing_id'],
    ['its id', 'id', 'thing_id'],
    ['a field', 'agent_id', 'agent_id'],
  ])('of code not_found about %s name the path parameter or the field', async (_, param, shown) => {
    const error = new ServiceError('not_found', param === undefined ? {} : { param })
    const { send } = open({ 'things.get': () => Promise.reject(error) })
    const { status, json } = await send({ target: '/v1/things/1', as })
    expect({ status, json }).toMatchObject({ status: 404, json: { error: { code: 'not_found', param: shown } } })
  })

  it('name the authentication scheme', async () => {
    const { headers } = await open({}).send({ target: '/v1/things/1' })
    expect(headers['www-authenticate']).toBe('Bearer')
  })

  it('are 404 for unknown paths, including wrongly encoded ones, and say so', async () => {
    const { send, observed } = open({})
    const message = expect.stringContaining('No operation has this path.')
    expect(await send({ target: '/v1/nothing', as })).toMatchObject({ status: 404, json: { error: { message } } })
    expect(await send({ target: '/v1/things/%zz', as })).toMatchObject({ status: 404 })
    expect(observed).toEqual(['none 404', 'none 404'])
  })
})

describe('paths', () => {
  it('have their parameters decoded', async () => {
    const { json } = await open({}).send({ target: '/v1/things/a%2Fb%20c', as })
    expect(json).toEqual({ name: '{"thing_id":"a/b c"}' })
  })

  it('answer HEAD like GET', async () => {
    expect(await open({}).send({ method: 'HEAD', target: '/v1/things/1', as })).toMatchObject({ status: 200 })
  })

  it('open no stream for HEAD, and do not list HEAD as allowed', async () => {
    const { status, headers } = await open({}).send({ method: 'HEAD', target: '/v1/things/1/stream', as })
    expect([status, headers.allow]).toEqual([405, 'GET, OPTIONS'])
    const options = await open({}).send({ method: 'OPTIONS', target: '/v1/things/1', as })
    expect(options.headers.allow).toContain('HEAD')
  })
})

describe('CORS', () => {
  const origin = 'https://app.example'
  const preflight = { origin, 'access-control-request-method': 'GET' }

  it('lets origins of the project read responses of client-token routes', async () => {
    const { send } = open({}, { origins: [origin] })
    const { headers } = await send({ target: '/v1/things/1', as: principals.client_token, headers: { origin } })
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' })
  })

  it('does not let other origins read responses', async () => {
    const { send } = open({}, { origins: [] })
    const { headers } = await send({ target: '/v1/things/1', as: principals.client_token, headers: { origin } })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })

  it('lets a page in the allowed domains of an agent key read responses, whatever the project allows', async () => {
    const { send } = open({}, { origins: [] })
    const key = { ...principals.agent_key, allowedDomains: ['app.example'] }
    const { headers } = await send({ target: '/v1/things/1', as: key, headers: { origin } })
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin })
    const { headers: others } = await send({ target: '/v1/things/1', as: principals.agent_key, headers: { origin } })
    expect(others).not.toHaveProperty('access-control-allow-origin')
  })

  it('lets a page read the error of a failed authentication', async () => {
    const { headers, status } = await open({}).send({ target: '/v1/things/1', headers: { origin } })
    expect(status).toBe(401)
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin })
  })

  it('answers preflight requests on client-token routes only', async () => {
    const { send } = open({})
    const answered = await send({ method: 'OPTIONS', target: '/v1/things/1', headers: preflight })
    expect(answered).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': origin } })
    const secret = { ...preflight, 'access-control-request-method': 'POST' }
    const refused = await send({ method: 'OPTIONS', target: '/v1/things', headers: secret })
    expect(refused.status).toBe(405)
    expect(refused.headers).not.toHaveProperty('access-control-allow-origin')
  })
})

describe('cross-site requests', () => {
  it.each([
    { headers: {}, status: 200 },
    { headers: { 'sec-fetch-site': 'same-origin', origin: 'https://agents.example' }, status: 200 },
    { headers: { origin: 'https://agents.example' }, status: 200 },
    { headers: { origin: 'http://localhost:8080', host: 'localhost:8080' }, status: 200 },
    { headers: { origin: 'https://agents.example', host: 'inner:8080' }, status: 200 },
    { headers: { origin: 'https://agents.example.evil' }, status: 403 },
    { headers: { origin: 'null' }, status: 403 },
    { headers: { 'sec-fetch-site': 'same-site' }, status: 403 },
  ])('are accepted or refused by their headers: %o', async ({ headers, status }) => {
    const received = await open({}).send({ method: 'POST', target: '/api/auth/enter', body: {}, headers })
    expect(received.status).toBe(status)
  })
})

describe('the client address of a call', () => {
  const addressSeen = async (options: Parameters<typeof serve>[2]) => {
    const { send } = open({ 'things.get': async ({ remoteAddress }) => ({ name: remoteAddress }) }, options)
    const headers = { 'x-forwarded-for': '1.2.3.4, 198.51.100.7' }
    return (await send({ target: '/v1/things/1', as, headers })).json
  }

  it('is that of the connection, whatever the request says', async () => {
    expect(await addressSeen({})).toEqual({ name: '127.0.0.1' })
  })

  it('is what a trusted proxy reports', async () => {
    expect(await addressSeen({ trustedProxies: { networks: ['127.0.0.0/8'] } })).toEqual({ name: '198.51.100.7' })
  })
})

describe('a body', () => {
  it('that is compressed is refused with Content-Encoding as param', async () => {
    const body = gzipSync('{"name":"a"}')
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const refusal = { code: 'unsupported_media_type', param: 'Content-Encoding' }
    const post = { method: 'POST', target: '/v1/things', as, headers }
    expect(await open({}).send({ ...post, body })).toMatchObject({ status: 415, json: { error: refusal } })
  })

  it('that names a coding but is not compressed is accepted', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect(
      await open({}).send({ method: 'POST', target: '/v1/things', as, headers, body: { name: 'a' } }),
    ).toMatchObject({
      status: 201,
    })
  })
})

describe('Idempotency-Key', () => {
  const post = { method: 'POST', target: '/v1/things', as, body: { name: 'a' }, headers: { 'idempotency-key': 'k1' } }
  const counting = () => {
    const seeds: (string | null | undefined)[] = []
    const useCase: AnyUseCase = async (call) => {
      seeds.push(call.idempotency?.seed)
      return { name: `made ${seeds.length}`, key: `csk_made_${seeds.length}` }
    }
    return {
      seeds,
      ...open({ 'things.create': useCase, 'things.repeat': useCase, 'things.mint': useCase }),
    }
  }

  it('returns the first response again, marked as replayed', async () => {
    const { send, seeds } = counting()
    const first = await send(post)
    const second = await send(post)
    expect(first.headers).not.toHaveProperty('idempotent-replayed')
    expect(second).toMatchObject({ status: 201, json: first.json, headers: { 'idempotent-replayed': 'true' } })
    expect(seeds).toEqual([expect.stringMatching(/^[0-9a-z]{26}$/)])
  })

  it('matches the same request under either path, in any order of its fields', async () => {
    const { send, seeds } = counting()
    await send({ ...post, body: '{"name":"a"}' })
    await send({ ...post, target: '/api/v1/things', body: '{ "name": "a" }' })
    expect(seeds).toHaveLength(1)
  })

  it('is refused with another body', async () => {
    const { send } = counting()
    await send(post)
    const second = await send({ ...post, body: { name: 'b' } })
    expect(second).toMatchObject({ status: 409, json: { error: { code: 'idempotency_key_reused' } } })
  })

  it('belongs to one project and one operation', async () => {
    const { send, seeds } = counting()
    await send(post)
    await send({ ...post, as: { ...as, project: 'prj_2' } })
    await send({ ...post, target: '/v1/things/keys', body: undefined })
    expect(seeds).toHaveLength(3)
  })

  it('belongs to the tenant and the user of the call', async () => {
    const { send } = counting()
    const request = (headers: Readonly<Record<string, string>>) =>
      send({ ...post, target: '/v1/things/repeat', headers: { ...post.headers, ...headers } })
    const callers = [
      {},
      { 'x-tenant-id': 'ten_1' },
      { 'x-tenant-id': 'ten_2' },
      { 'x-tenant-id': 'ten_1', 'x-external-user-id': 'ada' },
      { 'x-external-user-id': 'ada' },
    ]
    for (const [at, caller] of callers.entries()) {
      expect(await request(caller)).toMatchObject({ status: 200, json: { name: `made ${at + 1}` } })
    }
    for (const [at, caller] of callers.entries()) {
      const again = { json: { name: `made ${at + 1}` }, headers: { 'idempotent-replayed': 'true' } }
      expect(await request(caller)).toMatchObject(again)
    }
  })

  it('of an operation that returns a secret keeps a sealed answer only, and creates no second secret', async () => {
    const { send, records, kind, seeds } = counting()
    const first = await send({ ...post, target: '/v1/things/keys' })
    const second = await send({ ...post, target: '/v1/things/keys' })
    expect(second).toMatchObject({ status: 409, json: { error: { code: 'idempotency_secret_shown' } } })
    expect(seeds).toHaveLength(1)
    expect(first.headers['cache-control']).toBe('no-store')
    const { projectScope } = await import('#storage/scope.ts')
    const [row] = await records.list(kind, projectScope('prj_1'), { limit: 1 })
    expect(row?.data).toMatchObject({ answer: expect.stringMatching(/^sealed:/) })
  })

  it.each(['', 'x'.repeat(256), 'a\u007fb'])('is refused if it is invalid', async (key) => {
    const received = await counting().send({ ...post, headers: { 'idempotency-key': key } })
    expect(received).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_header', param: 'Idempotency-Key' } },
    })
  })
})

describe('streams', () => {
  const seen: Call<unknown, unknown, unknown>[] = []
  const event = { sequence: 7, event_type: 'output_text.delta', payload: { delta: 'a' } }
  const streaming: AnyUseCase = async (call) => {
    seen.push(call)
    const start = (sink: EventSink) => {
      sink.push([event])
      sink.end('done')
      return { resume: () => {}, stop: () => {} }
    }
    return { replayed: call.idempotency !== null, stream: { start } }
  }
  const { send } = open({ 'things.run': streaming, 'things.follow': streaming })
  const run = { method: 'POST', target: '/v1/things/1/run', as, body: {} }

  it('frame the text event under its long name', async () => {
    const { text, headers } = await send(run)
    expect(text).toBe('event: response.output_text.delta\nid: 7\ndata: {"delta":"a"}\n\n')
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-request-id': expect.any(String),
    })
  })

  it.each([
    { target: '/v1/things/1/run?event_names=short', headers: {} },
    { target: '/v1/things/1/run', headers: { 'x-event-names': 'short' } },
  ])('use the short event name on request by %o', async (more) => {
    expect((await send({ ...run, ...more })).text).toContain('event: output_text.delta\n')
  })

  it('refuse unknown event names before any work begins', async () => {
    const before = seen.length
    const received = await send({ ...run, headers: { 'x-event-names': 'shrt' } })
    expect(received).toMatchObject({ status: 400, json: { error: { code: 'invalid_header', param: 'X-Event-Names' } } })
    expect(seen).toHaveLength(before)
  })

  it('leave the idempotency key to the actor and report a replay', async () => {
    const { headers } = await send({ ...run, headers: { 'idempotency-key': 'k' } })
    expect(seen.at(-1)?.idempotency).toMatchObject({ cause: expect.any(String), seed: null })
    expect(headers['idempotent-replayed']).toBe('true')
  })

  it.each([
    { target: '?after=5', headers: {}, after: 5 },
    { target: '', headers: { 'last-event-id': '6' }, after: 6 },
    { target: '?after=5', headers: { 'last-event-id': '9' }, after: 9 },
    { target: '', headers: {}, after: null },
  ])('continue after $after', async ({ target, headers, after }) => {
    await send({ target: `/v1/things/1/stream${target}`, as, headers })
    expect(seen.at(-1)?.after).toBe(after)
  })

  it.each(['-1', 'evt_1', '1.5', '9'.repeat(16)])('refuse to continue after %s', async (id) => {
    const received = await send({ target: '/v1/things/1/stream', as, headers: { 'last-event-id': id } })
    expect(received).toMatchObject({ status: 400, json: { error: { code: 'invalid_header', param: 'Last-Event-ID' } } })
  })
})
