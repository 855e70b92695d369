import { describe, expect, it } from 'vitest'
import type { Call } from '#actors/call/call.ts'
import type { AnyUseCase } from '#actors/call/use-cases.ts'
import { publicAccess, secretKeyOnly } from '#specs/access.ts'
import { answersBytes, answersEither, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations, type Operation } from '#specs/dsl/declare.ts'
import { countedList, cursorPage, namedList } from '#specs/dsl/lists.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { array, boolean, integer, nullable, number, object, oneOf, optional, string } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { principals, type Sent, serve } from './serving.ts'

/** Declarations with the features of other route families: each difference is a field of the declaration. */

const web = defineOperations('web', {
  fetch: {
    summary: 'Fetch a page',
    method: 'POST',
    path: '/api/v1/web/fetch',
    access: secretKeyOnly,
    envelope: 'web',
    body: object({
      url: string(),
      maxBytes: optional(integer({ min: 1, max: 5_242_880, clamp: 'both' })),
      timeoutMs: optional(integer({ min: 1000, max: 30_000, clamp: 'both' })),
    }),
    answer: isJsonResponse(object({ url: string() }), { status: 202 }),
  },
  job: {
    summary: 'Read a job',
    method: 'GET',
    path: '/api/v1/web/browse/{jobId}',
    access: secretKeyOnly,
    envelope: 'web',
    answer: isJsonResponse(object({ id: string() })),
  },
})

const vision = defineOperations('vision', {
  analyze: {
    summary: 'Look at an image',
    method: 'POST',
    path: '/api/ai/vision',
    alsoAt: ['/v1/vision'],
    access: secretKeyOnly,
    envelope: 'flat',
    unknownFields: 'ignore',
    maxBodyBytes: 30 * 1024 * 1024,
    body: object({ image_url: optional(string()), max_tokens: optional(number()), stream: optional(boolean()) }),
    files: { fields: ['file', 'files[]'], orJson: true },
    answer: answersEither(isJsonResponse(object({ analysis: string() })), answersBytes('text/event-stream')),
  },
})

const audio = defineOperations('audio', {
  speech: {
    summary: 'Speak',
    method: 'POST',
    path: '/v1/audio/speech',
    access: secretKeyOnly,
    envelope: 'flat',
    sdkEnvelopes: ['openai'],
    body: object({ input: string({ maxLength: 4096 }), speed: optional(number({ min: 0.25, max: 4 })) }),
    answer: answersBytes('audio/mpeg'),
  },
  transcribe: {
    summary: 'Write down',
    method: 'POST',
    path: '/v1/audio/transcriptions',
    access: secretKeyOnly,
    envelope: 'flat',
    body: object({ model: string(), diarize: optional(boolean()) }),
    files: { fields: ['file'], orJson: false },
    answer: isJsonResponse(object({ text: string() })),
  },
})

const customProviders = defineOperations('custom_providers', {
  create: {
    summary: 'Register a server',
    method: 'POST',
    path: '/api/projects/{project_id}/providers',
    access: secretKeyOnly,
    envelope: 'custom_providers',
    body: object({ name: string(), baseUrl: string(), format: oneOf('openai', 'anthropic') }),
    answer: isJsonResponse(object({ provider: object({ id: string(), base_url: string() }) }), { status: 201 }),
  },
})

const memory = defineOperations('memory', {
  write: {
    summary: 'Remember',
    method: 'POST',
    path: '/v1/memory/write',
    access: secretKeyOnly,
    envelope: 'memory',
    body: object({ userId: string(), content: string() }),
    answer: isJsonResponse(object({ id: string() }), { status: 201 }),
  },
  get: {
    summary: 'Read a memory',
    method: 'GET',
    path: '/v1/memory/{memory_id}',
    access: secretKeyOnly,
    envelope: 'memory',
    answer: isJsonResponse(object({ id: string() })),
  },
})

const catalog = defineOperations('catalog', {
  list: {
    summary: 'Models for everybody',
    method: 'GET',
    path: '/api/models',
    access: publicAccess,
    query: { capability: optional(array(string())), type: optional(oneOf('chat', 'vision')) },
    answer: isJsonResponse(countedList(object({ id: string() }))),
    headers: [['cache-control', 'public, s-maxage=3600']],
  },
})

const versions = defineResource('agent_versions', {
  path: '/v1/agents/{agent_id}/versions',
  key: 'version',
  idPrefix: 'agv',
  title: 'AgentVersion',
  fields: { version: string(), status: oneOf('draft', 'published', 'retired'), notes: nullable(string()) },
  writable: ['version', 'notes'],
  access: secretKeyOnly,
  operations: { create: {}, get: {}, update: {}, put: {}, delete: { answersRow: true } },
  machine: 'agent_version',
  transitions: { publish: { summary: 'Publish', event: 'publish' } },
})

const lists = { cursor: cursorPage(object({ id: string() })), named: namedList('models', object({ id: string() })) }

const declared: readonly Operation[] = [web, vision, audio, customProviders, memory, catalog, versions].flatMap(
  (each) => Object.values<Operation>(each),
)

/** Serves the operations above with one use case for all. */
const serving = (useCase: AnyUseCase) => {
  const { send } = serve(declared, Object.fromEntries(declared.map(({ id }) => [id, useCase])))
  return (target: string, sent: Omit<Sent, 'target'> = {}) =>
    send({ target, method: sent.body === undefined ? 'GET' : 'POST', as: principals.secret_key, ...sent })
}

const echo: AnyUseCase = async (call: Call<unknown, unknown, unknown>) => call.body ?? call.query
const failing =
  (error: Error): AnyUseCase =>
  () =>
    Promise.reject(error)

const row = { id: `agv_${'0'.repeat(26)}`, version: '1.0.0', status: 'draft', notes: null }

describe('error envelopes', () => {
  const refused = serving(failing(new ServiceError('not_found', { param: 'thing', extra: { used: 1, limit: 1 } })))

  it('of the web family are flat with details', async () => {
    const { status, json } = await refused('/api/v1/web/fetch', { body: { url: 'x' } })
    expect(status).toBe(404)
    expect(json).toMatchObject({
      error: 'not_found',
      message: expect.any(String),
      details: { param: 'thing', used: 1 },
    })
  })

  it('of the web and memory name the path parameter of what does not exist', async () => {
    const missing = serving(failing(new ServiceError('not_found', { param: 'id' })))
    expect((await missing('/api/v1/web/browse/job_1')).json).toMatchObject({ details: { param: 'jobId' } })
    expect((await missing('/v1/memory/mem_1')).json).toMatchObject({ error: { param: 'memory_id' } })
  })

  it('of vision and voice are flat, and use bad_request for malformed requests', async () => {
    expect(await refused('/v1/audio/speech', { body: { input: 'x', speed: 9 } })).toMatchObject({
      status: 400,
      json: { error: 'bad_request', message: expect.stringContaining('speed'), param: 'speed' },
    })
    expect(await refused('/v1/audio/speech', { body: { input: 'x' } })).toMatchObject({
      status: 404,
      json: { error: 'not_found', used: 1 },
    })
  })

  it.each([
    [{ 'x-stainless-lang': 'js' }, { error: { code: 'invalid_field', param: 'speed', message: expect.any(String) } }],
    [{ 'user-agent': 'OpenAI/Go 3.9.0' }, { error: { code: 'invalid_field', param: 'speed' } }],
    [{ 'user-agent': 'async-openai/0.30' }, { error: { code: 'invalid_field', param: 'speed' } }],
    [{ 'openai-organization': 'org_1' }, { error: { code: 'invalid_field', param: 'speed' } }],
    [{ 'openai-project': 'proj_1' }, { error: { code: 'invalid_field', param: 'speed' } }],
    [{ 'user-agent': 'curl/8.14' }, { error: 'bad_request', param: 'speed' }],
    [
      { 'x-stainless-lang': 'js', 'anthropic-version': '2023-06-01' },
      { error: 'bad_request', param: 'speed' },
    ],
  ])('of voice use the OpenAI envelope for OpenAI SDKs only: %j', async (headers, json) => {
    const answer = await refused('/v1/audio/speech', { headers, body: { input: 'x', speed: 9 } })
    expect(answer).toMatchObject({ status: 400, json })
  })

  it('of custom providers are one sentence that names the field', async () => {
    const target = '/api/projects/prj_1/providers'
    const { status, json } = await refused(target, { body: { name: 'x', baseUrl: 'y' } })
    expect(status).toBe(400)
    expect(json).toEqual({ error: expect.stringContaining('format') })
  })

  it('of memory contain quotas next to the error', async () => {
    const { json } = await refused('/v1/memory/write', { body: { userId: 'u', content: 'c' } })
    expect(json).toMatchObject({ error: { code: 'not_found', param: 'thing' }, used: 1, limit: 1 })
  })
})

describe('requests', () => {
  it('have numbers clamped to their limits if the declaration says so', async () => {
    const { json, status } = await serving(echo)('/api/v1/web/fetch', {
      body: { url: 'x', maxBytes: 99_999_999, timeoutMs: 5 },
    })
    expect(status).toBe(202)
    expect(json).toEqual({ url: 'x', maxBytes: 5_242_880, timeoutMs: 1000 })
  })

  it.each(['/api/ai/vision', '/v1/vision', '/api/v1/vision'])('reach one operation at %s', async (target) => {
    const body = { image_url: 'x', unknown_field_of_a_newer_client: 1 }
    const { status, json } = await serving(async () => ({ json: { analysis: 'a cat' } }))(target, { body })
    expect(status).toBe(200)
    expect(json).toEqual({ analysis: 'a cat' })
  })

  const form = [
    '--b7\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper\r\n',
    '--b7\r\ncontent-disposition: form-data; name="diarize"\r\n\r\ntrue\r\n',
    '--b7\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\n\r\n--b\r\n',
    '--b7--\r\n',
  ].join('')
  const multipart = { 'content-type': 'multipart/form-data; boundary=b7' }

  it('can contain files and typed fields in a form', async () => {
    const calls: Call<unknown, unknown, unknown>[] = []
    const send = serving(async (call) => {
      calls.push(call)
      return { text: 'hello' }
    })
    const { status } = await send('/v1/audio/transcriptions', { headers: multipart, body: Buffer.from(form) })
    expect(status).toBe(200)
    expect(calls[0]?.body).toEqual({ model: 'whisper', diarize: true })
    const [file] = calls[0]?.files ?? []
    expect(file).toMatchObject({ field: 'file', filename: 'a.mp3', contentType: 'audio/mpeg' })
    expect(Buffer.from(file?.bytes ?? []).toString()).toBe('\r\n--b')
  })

  it('are refused as JSON if a form is required', async () => {
    const { status, json } = await serving(echo)('/v1/audio/transcriptions', { body: { model: 'x' } })
    expect(status).toBe(415)
    expect(json).toMatchObject({ error: 'unsupported_media_type' })
  })

  it('are refused with a file under an unknown name', async () => {
    const body = Buffer.from(form.replace('name="file"', 'name="other"'))
    expect(await serving(echo)('/v1/audio/transcriptions', { headers: multipart, body })).toMatchObject({
      status: 400,
      json: { param: 'other' },
    })
  })

  it('can repeat a list parameter, separate its items by commas, or both', async () => {
    const { json } = await serving(echo)('/api/models?capability=tools,vision&capability=code&type=chat', {
      as: 'nobody',
    })
    expect(json).toEqual({ capability: ['tools', 'vision', 'code'], type: 'chat' })
  })
})

describe('responses', () => {
  it('have the headers of the declaration', async () => {
    const { headers } = await serving(echo)('/api/models', { as: 'nobody' })
    expect(headers['cache-control']).toBe('public, s-maxage=3600')
  })

  it('can be bytes with their own type and headers', async () => {
    const speech: AnyUseCase = async () => ({ contentType: 'audio/mpeg', bytes: 'ID3', headers: [['x-provider', 'p']] })
    const { headers, text } = await serving(speech)('/v1/audio/speech', { body: { input: 'x' } })
    expect(text).toBe('ID3')
    expect(headers).toMatchObject({ 'content-type': 'audio/mpeg', 'x-provider': 'p' })
  })

  it('can be bytes in parts, and are aborted if their source fails', async () => {
    async function* parts() {
      yield 'one '
      yield 'two'
    }
    async function* broken() {
      yield 'one '
      throw new Error('upstream is gone')
    }
    const speak = (bytes: AsyncIterable<string>) =>
      serving(async () => ({ contentType: 'audio/mpeg', bytes }))('/v1/audio/speech', { body: { input: 'x' } })
    expect((await speak(parts())).text).toBe('one two')
    expect((await speak(broken())).text).toBe('one <broken off>')
  })

  it('are what the use case chose if there are several kinds', async () => {
    const frames = 'data: {"delta":"a"}\n\ndata: [DONE]\n\n'
    const chosen: AnyUseCase = async () => ({ bytes: { contentType: 'text/event-stream', bytes: frames } })
    const { headers, text } = await serving(chosen)('/v1/vision', { body: { stream: true } })
    expect(headers['content-type']).toBe('text/event-stream')
    expect(text).toBe(frames)
  })
})

describe('resources', () => {
  const base = '/v1/agents/agt_1/versions'
  const at: Call<unknown, unknown, unknown>[] = []
  const send = serving(async (call) => {
    at.push(call)
    return row
  })

  it.each([
    { method: 'POST', target: base, body: { version: '1.0.0' }, status: 201 },
    { method: 'PUT', target: `${base}/1.0.0`, body: { version: '1.0.0', notes: null }, status: 201 },
    { method: 'PATCH', target: `${base}/1.0.0`, body: {}, status: 200 },
    { method: 'DELETE', target: `${base}/1.0.0`, status: 200 },
    { method: 'POST', target: `${base}/1.0.0/publish`, status: 200 },
  ])('respond to $method $target with $status and the row', async ({ target, status, ...sent }) => {
    expect(await send(target, sent)).toMatchObject({ status, json: row })
  })

  it('can be named by a key that callers choose', async () => {
    await send(`${base}/1.0.0%2Bbuild`)
    expect(at.at(-1)?.params).toEqual({ agent_id: 'agt_1', version: '1.0.0+build' })
  })

  it('are listed in the envelope of their family', () => {
    expect(Object.keys(lists.cursor.json.properties ?? {})).toEqual(['data', 'next_cursor'])
    expect(Object.keys(lists.named.json.properties ?? {})).toEqual(['models'])
  })
})
