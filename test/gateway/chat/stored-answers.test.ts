import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheHeaders, CachePolicy } from '#gateway/call/reuse.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'
import { refusal } from '../call/scripted-upstream.ts'
import {
  type Came,
  type ChatOptions,
  type ChatWorld,
  caller,
  delta,
  framesOf,
  goodAnswer,
  goodStream,
  hello,
  json,
  openChatWorld,
  usageChunk,
} from './chat-world.ts'

const exact: CachePolicy = { mode: 'exact', ttlMs: 60_000, threshold: 0.95, anyTemperature: false, judge: null }
let world: ChatWorld

beforeEach(async () => {
  world = await openChatWorld({ caching: true })
  world.world.caching = exact
  world.first.script(json(goodAnswer))
})
afterEach(() => world.close())

const headerOf = ({ whole, summary }: Came, name: string) =>
  (whole ?? summary)?.headers.find((header) => header[0] === name)?.[1]
const cacheOf = (came: Came) => headerOf(came, 'x-cache')
const called = () => world.first.received.length
const by = (more: object): ChatOptions => ({ caller: { ...caller, ...more } })
const saying = (content: unknown, more: WireObject = {}): ChatOptions => ({
  body: { ...hello, messages: [{ role: 'user', content }], ...more },
})
/** Requests in turn, and says which were answered from the cache. */
const inTurn = async (...requests: readonly ChatOptions[]) => {
  const found = []
  for (const request of requests) found.push(cacheOf(await world.request(request)))
  return found
}

it('an equal request gets the stored answer, which costs nothing, is recorded with what it saved, and calls no provider', async () => {
  world.routes.set('gpt-4o-mini', [world.routeTo(world.first, { model: 'gpt-4o-mini', provider: 'openai' })])
  const request = { body: { ...hello, model: 'gpt-4o-mini', metadata: { a: 'b' } } }
  const first = await world.request(request)
  world.world.now += 12_400
  const again = await world.request({ body: { messages: hello.messages, user: 'x', model: 'gpt-4o-mini' } })
  expect([cacheOf(first), cacheOf(again), headerOf(again, 'age'), called()]).toEqual(['miss', 'hit', '12', 1])
  expect(again.whole?.completion.choices).toEqual(goodAnswer.choices)
  const usd = first.whole?.costUsd ?? ''
  expect(Number(usd)).toBeGreaterThan(0)
  expect(again.whole?.costUsd).toBe('0')
  expect(again.whole?.completion.usage).toEqual({ ...goodAnswer.usage, cost_usd: 0 })
  expect(headerOf(again, 'x-cost-usd')).toBe('0')
  expect(world.recorded[0]?.reuse).toMatchObject({ status: 'miss', savedUsd: null })
  expect(world.recorded[1]).toMatchObject({
    ...{ reuse: { status: 'hit', savedUsd: usd }, costUsd: '0', attempts: 0, status: 200 },
    units: { tokens: { inputTokens: 0, outputTokens: 0 } },
  })
  expect([world.admissions[1]?.maxUsd(), world.admissions[1]?.tokens?.(), world.settled]).toEqual([
    '0',
    { max: 0 },
    [usd, '0'],
  ])
})

it('streams and whole answers serve each other, in the form that was requested', async () => {
  world.first.script((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(goodStream))
  const first = await world.request({ stream: true })
  const whole = await world.request()
  const streamed = await world.request({ stream: true, body: { ...hello, stream_options: { include_usage: true } } })
  expect([cacheOf(first), cacheOf(whole), cacheOf(streamed), called()]).toEqual(['miss', 'hit', 'hit', 1])
  const text = 'Hello wörld 🌍 "error": {"usage":{}}'
  expect(whole.whole?.completion).toMatchObject({ choices: [{ message: { content: text }, finish_reason: 'stop' }] })
  expect(streamed.chunks.map(({ choices }) => choices)).toMatchObject([
    [{ delta: { role: 'assistant', content: text } }],
    [{ finish_reason: 'stop' }],
    [],
  ])
  expect(streamed.chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 5, cost_usd: 0 })
})

it('a project without a policy gets no header and nothing is stored', async () => {
  world.world.caching = null
  expect(await inTurn({}, {})).toEqual([undefined, undefined])
  world.world.caching = exact
  expect(await inTurn({})).toEqual(['miss'])
})

it.each<[string, WireObject]>([
  ['another model', { model: 'model-2' }],
  [
    'another system prompt',
    {
      messages: [
        { role: 'system', content: 'x' },
        { role: 'user', content: 'Hello' },
      ],
    },
  ],
  ['another message', { messages: [{ role: 'user', content: 'Hello ' }] }],
  [
    'memories before the message',
    { messages: [{ role: 'system', content: 'Knows: Ann' }, ...[{ role: 'user', content: 'Hello' }]] },
  ],
  [
    'an image',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hello' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          ],
        },
      ],
    },
  ],
  [
    'a file',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hello' },
            { type: 'file', file: { file_data: 'data:text/plain;base64,AA==' } },
          ],
        },
      ],
    },
  ],
  ['a tool', { tools: [{ type: 'function', function: { name: 'act' } }] }],
  ['another limit', { max_tokens: 9 }],
  ['another format', { response_format: { type: 'json_object' } }],
  ['a seed', { seed: 1 }],
  ['a nested list', { messages: [{ role: 'user', content: [['Hello']] }] }],
])('a request with %s gets no stored answer of another', async (_, change) => {
  world.routes.set('model-2', [world.routeTo(world.first)])
  await world.request()
  const before = called()
  expect(await inTurn({ body: { ...hello, ...change } })).toEqual(['miss'])
  expect(called()).toBe(before + 1)
})

it('lists that differ only in their nesting are different', async () => {
  const body = (stop: unknown) => ({ body: { ...hello, stop } })
  expect(await inTurn(body([['a'], 'b']), body([['a', 'b']]), body(['a', ['b']]))).toEqual(['miss', 'miss', 'miss'])
})

it('images and files that are stored elsewhere are not answered from the cache, since they may change', async () => {
  const image = (url: string) => saying([{ type: 'image_url', image_url: { url } }])
  // a provider that fetches by itself
  world.routes.set('model-1', [world.routeTo(world.first, { source: 'simulated' })])
  const file = saying([{ type: 'file', file: { file_id: 'file-1' } }])
  expect(await inTurn(image('https://a.example/x.png'), image('https://a.example/x.png'), file, file)).toEqual([
    ...['bypass', 'bypass', 'bypass', 'bypass'],
  ])
  expect(await inTurn(image('data:image/png;base64,AA=='), image('data:image/png;base64,AA=='))).toEqual([
    'miss',
    'hit',
  ])
})

describe('answers of others', () => {
  it('are not given to another tenant or project, or to another user of memories', async () => {
    const remembered = (user: string) => ({ reuse: { user } })
    expect(
      await inTurn(
        ...[by({}), by({ tenant: 'ten_a' }), by({ tenant: 'ten_b' }), by({ project: 'prj_2' })],
        ...[remembered('ann'), remembered('bob'), remembered('ann'), by({ tenant: 'ten_a', externalUserId: 'x' })],
      ),
    ).toEqual(['miss', 'miss', 'miss', 'miss', 'miss', 'miss', 'hit', 'hit'])
  })

  it('are refused to a key that does not reach the model, or whose requests are used up', async () => {
    await world.request()
    const admission = world.world.admission
    world.world.admission = {
      admit: () => {
        throw new ServiceError('insufficient_scope', { param: 'model' })
      },
    }
    expect((await world.request()).error?.code).toBe('insufficient_scope')
    world.world.admission = admission
    expect(cacheOf(await world.request())).toBe('hit')
  })

  it('that a fallback gave are not stored for the model that failed', async () => {
    world.routes.set('model-2', [world.routeTo(world.second)])
    world.first.script(refusal(400, { code: 'context_length_exceeded', message: 'long' }))
    world.second.script(json(goodAnswer))
    const body = { ...hello, models: ['model-2'] }
    expect(await inTurn({ body }, { body })).toEqual(['miss', 'miss'])
    expect(await inTurn({ body: { ...hello, model: 'model-2' } })).toEqual(['miss'])
  })
})

it.each<[string, WireObject]>([
  ['was cut', { choices: [{ index: 0, message: { content: 'Hel' }, finish_reason: 'length' }] }],
  ['was filtered', { choices: [{ index: 0, message: { content: '' }, finish_reason: 'content_filter' }] }],
  [
    'calls a tool',
    {
      choices: [
        {
          index: 0,
          message: {
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
  ],
  [
    'calls a tool and says it stopped',
    {
      choices: [
        {
          index: 0,
          message: {
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          finish_reason: 'stop',
        },
      ],
    },
  ],
  ['is a refusal', { choices: [{ index: 0, message: { content: null, refusal: 'No' }, finish_reason: 'stop' }] }],
  [
    'has one choice of two that was cut',
    { choices: [...goodAnswer.choices, { index: 1, message: { content: 'H' }, finish_reason: 'length' }] },
  ],
  [
    'is longer than what is stored',
    { choices: [{ index: 0, message: { content: 'x'.repeat(300_000) }, finish_reason: 'stop' }] },
  ],
])('an answer that %s is not stored', async (_, change) => {
  world.first.script(json({ ...goodAnswer, ...change }))
  expect(await inTurn({}, {})).toEqual(['miss', 'miss'])
})

it('errors, broken streams and streams that their caller left are not stored', async () => {
  world.first.script(refusal(400, { message: 'no' }))
  expect((await world.request()).error?.code).toBe('bad_request')
  const cut = framesOf(delta({ role: 'assistant', content: 'Hel' }), delta({ content: 'lo' }))
  world.first.script((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(cut))
  expect((await world.request({ stream: true })).error?.code).toBe('provider_stream_broken')
  world.first.script((response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(cut))
  const left = world.request({ stream: true })
  await left.begun
  left.cancel()
  world.first.script(json(goodAnswer))
  expect(await inTurn({}, {})).toEqual(['miss', 'hit'])
})

it('a stream is stored without the parts of an attempt that failed before it', async () => {
  world.first.script(
    (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"id":"x"'),
    (response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(framesOf(delta({ role: 'assistant', content: 'Good' }), delta({}, 'stop'), usageChunk, '[DONE]')),
  )
  await world.request({ stream: true })
  expect((await world.request()).whole?.completion).toMatchObject({ choices: [{ message: { content: 'Good' } }] })
})

it('a stored answer has placeholders instead of personal data, and is restored for each caller', async () => {
  const policy = policyBy({ types: defaultTypes, input: true, toolArguments: true, restore: true, region: 'US' })
  world.world.redaction = { policyOf: () => policy, forLog: (text) => text }
  const answer = (text: string) => ({
    ...goodAnswer,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  })
  world.first.script(json(answer('Sent to [EMAIL_1].')))
  const wrote = async (address: string, stream: boolean) => world.request({ ...saying(`Write to ${address}`), stream })
  const ann = await wrote('ann@a.example', false)
  expect(ann.whole?.completion).toMatchObject({ choices: [{ message: { content: 'Sent to ann@a.example.' } }] })
  expect(world.stored()).not.toMatch(/ann@a\.example/)
  const bob = await wrote('bob@b.example', false)
  const cy = await wrote('cy@c.example', true)
  expect([cacheOf(bob), cacheOf(cy), called()]).toEqual(['hit', 'hit', 1])
  expect(bob.whole?.completion).toMatchObject({ choices: [{ message: { content: 'Sent to bob@b.example.' } }] })
  expect(JSON.stringify(cy.chunks)).toContain('Sent to cy@c.example.')
})

describe('a caller', () => {
  const sending = (headers: CacheHeaders) => by({ headers })

  it.each<[string, CacheHeaders, readonly string[]]>([
    ['no-store', { cacheControl: 'no-store' }, ['bypass', 'bypass', 'miss']],
    ['no-cache', { cacheControl: 'No-Cache' }, ['bypass', 'bypass', 'hit']],
    ['max-age=0', { cacheControl: 'max-age=0' }, ['miss', 'hit', 'hit']],
    ['max-age=5', { cacheControl: 'private, max-age=5' }, ['miss', 'hit', 'hit']],
    ['nonsense', { cacheControl: `max-age=abc, =,${'x'.repeat(10_000)}` }, ['miss', 'hit', 'hit']],
    ['X-Cache: off', { cacheMode: 'off' }, ['bypass', 'bypass', 'miss']],
    ['X-Cache: EXACT', { cacheMode: 'EXACT' }, ['miss', 'hit', 'hit']],
    ['X-Cache: other', { cacheMode: 'other' }, ['miss', 'hit', 'hit']],
  ])('that sends %s decides what is read and stored', async (_, headers, expected) => {
    expect(await inTurn(sending(headers), sending(headers), {})).toEqual(expected)
  })

  it('gets no answer that is older than max-age, but a new one, which is stored', async () => {
    await world.request()
    world.world.now += 10_000
    const young = sending({ cacheControl: 'max-age=5' })
    expect(await inTurn(young, young)).toEqual(['miss', 'hit'])
  })

  it('of a project with the mode on_request gets stored answers only where it names a mode', async () => {
    world.world.caching = { ...exact, mode: 'on_request' }
    const wanted = sending({ cacheMode: 'exact' })
    expect(await inTurn({}, {}, wanted, wanted, {})).toEqual(['bypass', 'bypass', 'miss', 'hit', 'bypass'])
  })

  it('that sets a temperature above 0 gets a new answer each time, unless the project permits it', async () => {
    const warm = { body: { ...hello, temperature: 0.7 } }
    const cold = { body: { ...hello, temperature: 0 } }
    expect(await inTurn(warm, warm, cold, cold)).toEqual(['bypass', 'bypass', 'miss', 'hit'])
    world.world.caching = { ...exact, anyTemperature: true }
    expect(await inTurn(warm, warm)).toEqual(['miss', 'hit'])
  })
})

it('web search, tools of the server, audio and requests of hostile size are called anew', async () => {
  const deep = Array.from({ length: 200 }).reduce<unknown>((inner) => ({ inner }), 'x')
  const bodies: readonly WireObject[] = [
    ...[{ web_search_options: {} }, { tools: [{ type: 'web_search' }] }, { modalities: ['text', 'audio'] }],
    ...[
      { messages: [{ role: 'user', content: 'x'.repeat(600_000) }] },
      { logit_bias: Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, 1])) },
    ],
  ]
  for (const body of bodies) expect(await inTurn({ body: { ...hello, ...body } })).toEqual(['bypass'])
  expect(await inTurn({ body: { ...hello, deep } }, { body: { ...hello, deep } })).toEqual(['miss', 'hit'])
})

it('a stored answer is given while its provider is down, and does not count as its success', async () => {
  await world.request()
  world.first.script(refusal(503, { message: 'down' }))
  for (let call = 0; call < 4; call++) {
    expect((await world.request({ body: { ...hello, seed: call } })).error?.code).toMatch(/^provider_/)
    expect(cacheOf(await world.request())).toBe('hit')
  }
})
