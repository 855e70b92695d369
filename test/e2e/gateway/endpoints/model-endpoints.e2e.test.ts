import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { wavHeader } from '#gateway/providers/voice/wav.ts'
import { modelEndpoints, otherModelOperations } from '#specs/data/model-endpoints.ts'
import { groupOf, isReading } from '#specs/reach/key-scopes.ts'
import { patience } from '#test/e2e/patience.ts'
import { World } from '#test/e2e/world.ts'
import type { Upstream } from '#test/gateway/call/scripted-upstream.ts'
import { RealtimeConnection, userSays } from '#test/gateway/realtime/realtime-socket.ts'
import { pngOf } from '#test/gateway/vision/vision-world.ts'
import { openAnsweringUpstream, said } from './answering-upstream.ts'

type Sent = readonly [path: string, body: object | (() => FormData)]

const model = 'model-1'
const messages = (content: string) => [{ role: 'user', content }]
const contents = (text: string) => [{ role: 'user', parts: [{ text }] }]
const gemini = (method: string) => `/v1beta/models/${model}:${method}`
const png = new Blob([new Uint8Array(pngOf(8, 8))], { type: 'image/png' })
const shown = `data:image/png;base64,${pngOf(8, 8).toString('base64')}`
const wav = new Blob([new Uint8Array(Buffer.concat([wavHeader(48_000, 24_000), Buffer.alloc(48_000)]))], {
  type: 'audio/wav',
})
const form = (fields: Readonly<Record<string, string>>, file: Blob, field: string, name: string) => (): FormData => {
  const made = new FormData()
  for (const [key, value] of Object.entries({ model, ...fields })) made.append(key, value)
  made.append(field, file, name)
  return made
}

/** A request of each operation with a text. */
const requests: Readonly<Record<string, (text: string) => Sent>> = {
  'chat_completions.create': (text) => ['/v1/chat/completions', { model, messages: messages(text) }],
  'ai_chat.create': (text) => ['/api/ai/chat', { model, messages: messages(text) }],
  'responses.create': (text) => ['/v1/responses', { model, input: text, store: false }],
  'responses.compact': (text) => ['/v1/responses/compact', { model, input: text }],
  'messages.create': (text) => ['/v1/messages', { model, max_tokens: 99, messages: messages(text) }],
  'gemini.generate': (text) => [gemini('generateContent'), { contents: contents(text) }],
  'gemini.stream': (text) => [`${gemini('streamGenerateContent')}?alt=sse`, { contents: contents(text) }],
  'vision.analyze': (prompt) => ['/v1/vision', { model, prompt, images: [shown] }],
  'vision.describe': (prompt) => ['/v1/vision/describe', { model, prompt, images: [shown] }],
  'vision.ocr': (prompt) => ['/v1/vision/ocr', { model, prompt, images: [shown] }],
  'vision.classify': (prompt) => ['/v1/vision/classify', { model, prompt, images: [shown] }],
  'embeddings.create': (input) => ['/v1/embeddings', { model, input }],
  'gemini.embed': (text) => [gemini('embedContent'), { content: { parts: [{ text }] } }],
  'gemini.embed_batch': (text) => [
    gemini('batchEmbedContents'),
    { requests: [{ model: `models/${model}`, content: { parts: [{ text }] } }] },
  ],
  'completions.create': (prompt) => ['/v1/completions', { model, prompt }],
  'rerank.create': (query) => ['/v1/rerank', { model, query, documents: ['one'] }],
  'moderations.create': (input) => ['/v1/moderations', { model, input }],
  'images.generate': (prompt) => ['/v1/images/generations', { model, prompt }],
  'images.edit': (prompt) => ['/v1/images/edits', form({ prompt }, png, 'image', 'a.png')],
  'images.vary': () => ['/v1/images/variations', form({}, png, 'image', 'a.png')],
  'speech.speak': (input) => ['/v1/audio/speech', { model, input, voice: 'alloy' }],
  'transcriptions.transcribe': (prompt) => ['/v1/audio/transcriptions', form({ prompt }, wav, 'file', 'a.wav')],
  'transcriptions.translate': (prompt) => ['/v1/audio/translations', form({ prompt }, wav, 'file', 'a.wav')],
}

/** Operations whose requests have no text of their caller. */
const textless = new Set(['images.vary', 'vision.describe', 'vision.ocr', 'vision.classify'])

/** Operations that are driven by a socket or a session. */
const driven = ['actor.callModel', 'realtime.connect']

it('every operation that calls models is declared, and each declared one is called here', () => {
  const calling = Object.values(operations).filter(
    (each) => groupOf(each) === 'models' && !isReading(each) && each.method === 'POST',
  )
  const undeclared = calling
    .map(({ id }) => id)
    .filter((id) => modelEndpoints[id] === undefined && !otherModelOperations.has(id))
  expect(undeclared).toEqual([])
  expect([...Object.keys(requests), ...driven].toSorted()).toEqual(Object.keys(modelEndpoints).toSorted())
})

describe('the features of the gateway', () => {
  let upstream: Upstream
  let world: World
  beforeAll(async () => {
    upstream = await openAnsweringUpstream()
    world = await World.start({
      tools: [{ host: new URL(upstream.url).host }],
      env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: `${upstream.url}/v1` },
    })
    const rules = [
      { name: 'eu', when: { models: [model], tags: ['eu'] }, model: 'model-2' },
      { name: 'any', when: { tags: ['any'] }, model: 'model-2' },
      { name: 'compare', when: { models: [model], tags: ['compare'] }, shadow_model: 'model-3' },
      { name: 'agents', when: { models: ['model-4'] }, model: 'model-2', shadow_model: 'model-3' },
    ]
    const made = await Promise.all([
      world.api.post('/v1/routing-policy', { rules }, { method: 'PATCH' }),
      world.api.post('/v1/cache-policy', { mode: 'on_request' }, { method: 'PATCH' }),
      world.api.post('/v1/guardrails', {
        name: 'hunters',
        checks: [{ type: 'words', words: ['falcon'], action: 'block', on: 'input' }],
      }),
      world.api.post('/v1/guardrails', {
        name: 'birds',
        checks: [{ type: 'words', words: ['kestrel'], action: 'redact', on: 'output' }],
      }),
      world.api.post('/v1/guardrails', {
        name: 'strict',
        checks: [{ type: 'words', words: ['kestrel'], action: 'block', on: 'output' }],
      }),
    ])
    for (const { status, body } of made) expect(status, JSON.stringify(body)).toBeLessThan(300)
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })
  beforeEach(() => {
    upstream.received.length = 0
  })

  const send = async ([path, body]: Sent, headers: Readonly<Record<string, string>> = {}) => {
    const authorization = `Bearer ${world.secretKey}`
    const isForm = typeof body === 'function'
    const answer = await fetch(`${world.url}${path}`, {
      method: 'POST',
      headers: { ...headers, authorization, ...(!isForm && { 'content-type': 'application/json' }) },
      body: isForm ? body() : JSON.stringify(body),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  /** The models that were called, in order. */
  const called = () =>
    upstream.received.map(({ body }) => body.model ?? /name="model"\r\n\r\n(\S+)/.exec(String(body.form))?.[1])
  const endpoints = Object.entries(requests).map(([id, request]) => ({ id, request, endpoint: modelEndpoints[id] }))

  it.each(endpoints)('rules of the routing policy apply to $id, and x-route says so', async ({ request, endpoint }) => {
    const named = await send(request('Hi'), { 'x-route-tags': 'eu' })
    expect([named.status, named.headers.get('x-route'), called()], named.text).toEqual([200, 'rule=eu', ['model-2']])
    const any = await send(request('Hi'), { 'x-route-tags': 'any' })
    expect(any.headers.get('x-route')).toBe(endpoint?.rules === 'any' ? 'rule=any' : null)
    const plain = await send(request('Hi'))
    expect([plain.headers.get('x-route'), called().at(-1)]).toEqual([null, model])
    expect(plain.headers.get('x-provider')).toBe('openai')
    expect(plain.headers.get('x-billing-mode')).toBe('managed')
  })

  it.each(endpoints)('a shadow gets copies of $id only where it is declared', async ({ request, endpoint }) => {
    const { headers } = await send(request('Hi'), { 'x-route-tags': 'compare' })
    expect(headers.get('x-route')).toBe(endpoint?.shadows === true ? 'shadow=compare' : null)
    if (endpoint?.shadows === true) await vi.waitFor(() => expect(called()).toEqual([model, 'model-3']), patience)
  })

  it.each(endpoints)('guardrails check what $id takes and gives', async ({ id, request, endpoint }) => {
    if (!textless.has(id)) {
      const blocked = await send(request('a falcon'), { 'x-guardrails': 'hunters' })
      expect([blocked.status, called()], blocked.text).toEqual([400, []])
      expect(blocked.text).toMatch(/hunters/)
    }
    const passed = await send(request('Hi'), { 'x-guardrails': 'hunters' })
    expect([passed.status, passed.headers.get('x-guardrails')]).toEqual([200, expect.stringMatching(/^hunters;/)])
    const redacted = await send(request('Hi'), { 'x-guardrails': 'birds' })
    expect([redacted.status, redacted.text.includes('kestrel')], redacted.text).toEqual([200, false])
    const isShown = /\[REDACTED\]/.test(redacted.text) || redacted.headers.get('x-guardrails') === 'birds;redacted'
    expect(isShown).toBe(endpoint?.guarded === 'both')
    const refused = await send(request('Hi'), { 'x-guardrails': 'strict' })
    expect(refused.text).not.toContain('kestrel')
  })

  it.each(endpoints)(
    'answers of $id are stored for later calls only where it is declared',
    async ({ id, request, endpoint }) => {
      const headers = { 'x-cache': 'exact' }
      const first = await send(request(`Cache ${id}`), headers)
      const expected = endpoint?.cached === true ? ['miss', 'hit'] : [null, null]
      expect([first.status, first.headers.get('x-cache')], first.text).toEqual([200, expected[0]])
      await vi.waitFor(async () => {
        expect((await send(request(`Cache ${id}`), headers)).headers.get('x-cache')).toBe(expected[1])
      }, patience)
      // by the model that a rule names, not the requested one
      const routed = await send(request(`Cache ${id}`), { ...headers, 'x-route-tags': 'eu' })
      expect([routed.headers.get('x-cache'), called().at(-1)]).toEqual([expected[0], 'model-2'])
    },
  )

  it.each(endpoints)('an Idempotency-Key makes one call of two of $id', async ({ id, request }) => {
    const headers = { 'idempotency-key': `key-${id}` }
    const first = await send(request('Hi'), headers)
    const again = await send(request('Hi'), headers)
    expect([first.status, again.status, called()], again.text).toEqual([200, 200, [model]])
  })

  it('the limits of a key apply to every operation, to turns as well: 429 with Retry-After, and nothing is sent', async () => {
    const dashboard = await world.dashboard()
    const providers = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}/providers`
    const given = { name: 'Rack', baseUrl: `${upstream.url}/v1`, format: 'openai', requestsPerMinute: 1 }
    const made = await dashboard.post(providers, { ...given, models: [{ name: 'One', modelId: model }] })
    expect(made, JSON.stringify(made.body)).toMatchObject({
      status: 201,
      body: { provider: { requests_per_minute: 1 } },
    })
    const path = `${providers}/${made.body.provider.id}`
    const chat: Sent = ['/v1/chat/completions', { model, messages: messages('Hi') }]
    expect((await send(chat)).headers.get('x-provider')).toBe(`custom:${made.body.provider.id}`)
    upstream.received.length = 0
    for (const { id, request } of endpoints) {
      const refused = await send(request('Hi'))
      expect([refused.status, Number(refused.headers.get('retry-after')) > 30], `${id} ${refused.text}`).toEqual([
        429,
        true,
      ])
    }
    const turn = await world.api.turn(await world.api.createSession(), { input: 'Hi', model })
    expect(JSON.stringify(await turn.all())).toContain('rate_limit_exceeded')
    expect(called()).toEqual([])
    await dashboard.post(path, { requestsPerMinute: null }, { method: 'PATCH' })
    for (const { id, request } of endpoints) expect((await send(request('Hi'))).status, id).toBe(200)
    expect(called()).toHaveLength(endpoints.length)
    await dashboard.get(path, { method: 'DELETE' })
  })

  it('rules apply to turns and runs, whose usage and copies say which model served', async () => {
    const turn = await world.api.turn(await world.api.createSession(), { input: 'Hi', model: 'model-4' })
    const frames = await turn.all()
    expect(JSON.stringify(frames)).toContain(said)
    await vi.waitFor(() => expect(called()).toEqual(['model-2', 'model-3']), patience)
    await vi.waitFor(async () => {
      const { body } = await world.api.get('/v1/usage/events')
      expect(body.data).toEqual(
        expect.arrayContaining([expect.objectContaining({ operation: 'session.turn', model: 'model-2' })]),
      )
    }, patience)
  })

  it('rules apply to the responses of realtime sessions over a chat model', async () => {
    const client = new RealtimeConnection(`${world.url}/v1/realtime?model=model-4`, { key: world.secretKey })
    await client.exchange(
      { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } },
      'session.updated',
    )
    client.send(userSays('Hi'))
    await client.exchange({ type: 'response.create' }, 'response.done')
    client.close()
    expect(called()).toEqual(['model-2'])
  })
})
