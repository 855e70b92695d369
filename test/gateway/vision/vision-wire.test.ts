import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Call } from '#actors/call/call.ts'
import { visionUseCases } from '#gateway/apis/vision/vision-use-cases.ts'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import { vision } from '#specs/resources/gateway/vision.ts'
import { formServer } from '../apis/form-server.ts'
import { costOf } from '../call/cost-of.ts'
import { type Answer, cut, refusal, stalled, trickled, whole } from '../call/scripted-upstream.ts'
import { anthropic, google, openAi } from '../call/wire-samples.ts'
import { type ChatWorld, caller, openChatWorld } from '../chat/chat-world.ts'
import { heic } from '../simulated/image-bytes.ts'
import { pngOf } from './vision-world.ts'

/* Vision over the real chat, with servers that implement each provider. */

let chat: ChatWorld
let send: ReturnType<typeof formServer>
let useCases: ReturnType<typeof visionUseCases>

beforeAll(async () => {
  chat = await openChatWorld()
  const { first, routes, routeTo } = chat
  routes.set('gpt-4o-mini', [routeTo(first, { model: 'gpt-4o-mini', provider: 'openai' })])
  routes.set('claude-haiku-4-5', [
    routeTo(first, { model: 'claude-haiku-4-5', provider: 'anthropic', format: 'anthropic' }),
  ])
  routes.set('gemini-2.5-flash', [routeTo(first, { model: 'gemini-2.5-flash', provider: 'google', format: 'google' })])
  useCases = visionUseCases({
    chat: chat.chats,
    routes: { resolve: (_, model) => routes.get(model) ?? [] },
    guard: { check: (url) => new URL(url), request: () => Promise.reject(new Error('nothing is fetched')) },
  })
  send = formServer(vision, useCases)
})
afterAll(() => chat.close())

const base64 = pngOf(8, 8).toString('base64')
const dataUrl = `data:image/png;base64,${base64}`
const answers =
  (document: object): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  }

const families = [
  {
    model: 'gpt-4o-mini',
    sample: openAi,
    answer: {
      id: 'x',
      object: 'chat.completion',
      model: 'gpt-4o-mini-2024-07-18',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Red.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    },
    declared: [
      { type: 'text', text: 'Colour?' },
      { type: 'image_url', image_url: { url: dataUrl } },
    ],
    partsIn: (body: object) => objectOf(arrayOf(objectOf(body).messages)[0]).content,
  },
  {
    model: 'claude-haiku-4-5',
    sample: anthropic,
    answer: {
      id: 'x',
      type: 'message',
      role: 'assistant',
      model: 'claude-haiku-4-5-20251001',
      content: [{ type: 'text', text: 'Red.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 100, output_tokens: 10 },
    },
    declared: [
      { type: 'text', text: 'Colour?' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
    ],
    partsIn: (body: object) => objectOf(arrayOf(objectOf(body).messages)[0]).content,
  },
  {
    model: 'gemini-2.5-flash',
    sample: google,
    answer: {
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Red.' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
      modelVersion: 'gemini-2.5-flash',
    },
    declared: [{ text: 'Colour?' }, { inlineData: { mimeType: 'image/png', data: base64 } }],
    partsIn: (body: object) => objectOf(arrayOf(objectOf(body).contents)[0]).parts,
  },
] as const

const frames = (text: string) => text.split('\n\n').filter((frame) => frame !== '')
const dataOf = (frame = '') => JSON.parse(frame.replace(/^data: /, ''))

describe.each(families)('vision with $sample.id', ({ model, sample, answer, declared, partsIn }) => {
  const request = (more: object = {}) => send('/v1/vision', { model, image_url: dataUrl, prompt: 'Colour?', ...more })

  it('sends the format of the provider, and the answer is metered and recorded', async () => {
    const usage = { inputTokens: 100, outputTokens: 10, cachedTokens: 0, reasoningTokens: 0 }
    const cost = Number(costOf(model, usage))
    expect(cost).toBeGreaterThan(0)
    chat.first.script(answers(answer))
    chat.recorded.length = 0
    const { status, json, headers } = await request()
    expect([status, json]).toMatchObject([
      200,
      {
        analysis: 'Red.',
        provider: sample.id,
        usage: { promptTokens: 100, completionTokens: 10, totalTokens: 110 },
        cost: { providerCostUsd: cost, serviceChargeUsd: cost, markupPercentage: 0 },
      },
    ])
    expect(headers['x-ratelimit-remaining-requests']).toBe('7')
    expect(partsIn(chat.first.received[0]?.body ?? {})).toEqual(declared)
    expect(chat.recorded).toMatchObject([{ operation: 'vision.analyze', need: 'vision', status: 200, streamed: false }])
  })

  it('streams an answer that arrives in small pieces', async () => {
    chat.first.script(trickled(sample.text, 23, 1))
    const { text } = await request({ stream: true })
    const all = frames(text)
    expect(all.at(-1)).toBe('data: [DONE]')
    const deltas = all.slice(0, -2).map((frame) => textOf(dataOf(frame).delta))
    expect(deltas.join('')).toBe('Hello wörld 🌍')
    expect(dataOf(all.at(-2))).toMatchObject({ done: true, provider: sample.id, usage: { totalTokens: 27 } })
  })

  it.each([
    ['cut', cut(sample.beginning)],
    ['malformed', whole(sample.malformed)],
  ])('with a stream that is %s ends with an error and no end mark', async (_, broken) => {
    chat.first.script(broken)
    const { text } = await request({ stream: true })
    expect(dataOf(frames(text).at(-1))).toMatchObject({ error: expect.stringMatching(/^provider_/) })
    expect(text).not.toContain('[DONE]')
  })

  it('is retried when the provider is busy, and otherwise returns the refusal', async () => {
    chat.first.script(refusal(429, sample.rateLimit, { 'retry-after': '0' }), answers(answer))
    expect((await request()).status).toBe(200)
    chat.first.script(refusal(429, sample.rateLimit, { 'retry-after': '60' }))
    const busy = await request()
    expect([busy.status, busy.json, busy.headers['retry-after']]).toMatchObject([
      429,
      { error: 'provider_rate_limited' },
      '60',
    ])
    chat.first.script(refusal(500, { message: 'oh' }))
    expect((await request()).json).toMatchObject({ error: expect.stringMatching(/^provider_/) })
    expect(chat.first.received.length).toBeGreaterThan(1)
    chat.world.now += 600_000
  })

  it.each([false, true])('cancels the provider when the caller disconnects (streamed: %s)', async (stream) => {
    chat.first.script(stalled(stream ? sample.beginning : ''))
    const gone = new AbortController()
    const running = useCases['vision.analyze'](callWith({ model, image_url: dataUrl, stream }, gone.signal))
    const settled = running.then(
      () => 'answered',
      () => 'refused',
    )
    while (chat.first.received.length === 0) await new Promise((resolve) => setImmediate(resolve))
    if (stream) expect(await settled).toBe('answered')
    gone.abort()
    // Nothing else closes it within the time of this test.
    await chat.first.received[0]?.closed
    expect(await settled).toBe(stream ? 'answered' : 'refused')
  })
})

it('HEIC is sent to the provider that accepts it', async () => {
  chat.first.script(answers(families[2].answer))
  const image = { base64: heic(8, 8).toString('base64'), mime_type: 'image/heic' }
  const { json } = await send('/v1/vision/describe', { model: 'gemini-2.5-flash', images: [image] })
  expect(json).toMatchObject({ description: 'Red.' })
  expect(JSON.stringify(chat.first.received[0]?.body)).toContain('"mimeType":"image/heic"')
})

const callWith = (body: Parameters<(typeof useCases)['vision.analyze']>[0]['body'], signal: AbortSignal) =>
  ({
    principal: { kind: 'secret_key', project: 'prj_1', keyId: 'key_1' },
    scope: caller.scope,
    params: {},
    query: {},
    body,
    requestId: 'req_1',
    remoteAddress: '',
    idempotency: null,
    after: null,
    accept: '',
    files: [],
    signal,
  }) satisfies Call<unknown, unknown, typeof body>
