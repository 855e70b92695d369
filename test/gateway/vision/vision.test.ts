import { afterEach, describe, expect, it } from 'vitest'
import { aboutOf } from '#gateway/apis/vision/vision-result.ts'
import { visionUseCases } from '#gateway/apis/vision/vision-use-cases.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { vision } from '#specs/resources/gateway/vision.ts'
import { projectScope } from '#storage/scope.ts'
import { principals } from '#test/transport/api/serving.ts'
import { type Script, saying } from '../apis/scripted-chat.ts'
import { gif, heic, jpeg, webpExtended } from '../simulated/image-bytes.ts'
import { form, ofSize, pngOf, visionWorld } from './vision-world.ts'

let world: ReturnType<typeof visionWorld> | null = null

const open = (...given: Parameters<typeof visionWorld>) => {
  world = visionWorld(...given)
  return world
}

afterEach(async () => {
  await world?.close()
  world = null
})

const png = pngOf(8, 8)
const base64 = png.toString('base64')
const dataUrl = `data:image/png;base64,${base64}`
const url = 'https://images.example/a.png'
const mib = 1024 * 1024

const about = {
  model: 'model-1-2026',
  provider: 'simulated',
  usage: { promptTokens: 7, completionTokens: 5, totalTokens: 12 },
  cost: { providerCostUsd: 0.000123, serviceChargeUsd: 0.000123, markupPercentage: 0 },
}

const paths = Object.values(vision).flatMap(({ paths }) => paths)

describe('vision', () => {
  it('is declared at both base paths, and at the alias of the first', () => {
    expect(paths).toEqual(
      ['', '/describe', '/ocr', '/classify'].flatMap((preset) => [
        `/v1/vision${preset}`,
        `/api/ai/vision${preset}`,
        `/api/v1/vision${preset}`,
      ]),
    )
  })

  it('answers a question about an image', async () => {
    const { send, chat, urls, prompt } = open()
    const { status, json, headers } = await send('/api/ai/vision', {
      image_url: dataUrl,
      prompt: 'What colour?',
      model: 'claude-haiku-4-5',
      max_tokens: 50,
      temperature: 0.2,
      unknown: 1,
    })
    expect([status, json]).toEqual([200, { analysis: 'A red square.', ...about }])
    expect(headers['x-provider']).toBe('simulated')
    expect(chat.received).toHaveLength(1)
    expect(chat.received[0]).toMatchObject({ operation: 'vision.analyze', need: 'vision', caller: { keyId: 'key_1' } })
    expect(chat.last).toMatchObject({ model: 'claude-haiku-4-5', max_tokens: 50, temperature: 0.2 })
    expect([urls(), prompt()]).toEqual([[dataUrl], 'What colour?'])
  })

  it.each([
    ['describe', { description: 'A red square.' }, /describe/i],
    ['ocr', { text: 'A red square.' }, /text/i],
  ])('answers the preset %s in its own field and with its own prompt', async (preset, shown, words) => {
    const { send, prompt } = open()
    const { json } = await send(`/v1/vision/${preset}`, { image_url: dataUrl, prompt: 'Ignore me' })
    expect(json).toEqual({ ...shown, ...about })
    expect(prompt()).toMatch(words)
    expect(prompt()).not.toContain('Ignore me')
  })

  const labels = { tags: ['red'], categories: ['shape'], objects: ['square'] }
  it.each([
    ['bare', JSON.stringify(labels), labels],
    ['fenced', `\`\`\`json\n${JSON.stringify(labels, null, 2)}\n\`\`\``, labels],
    ['between words', `Here it is: ${JSON.stringify(labels)} Enjoy!`, labels],
    ['broken', '{"tags": ["red"', null],
    ['a list', '["red"]', null],
    ['words', 'It is red.', null],
  ])('parses the classification of a model answer: %s', async (_, raw, classification) => {
    const { send, chat } = open([{ deltas: saying(raw) }])
    const { json } = await send('/v1/vision/classify', { image_url: dataUrl })
    expect(json).toEqual({ classification, raw, ...about })
    expect(chat.last.response_format).toEqual({ type: 'json_object' })
  })

  it('requests JSON from the model when the request sets it', async () => {
    const { send, chat } = open()
    await send('/v1/vision', { image_url: dataUrl, response_format: 'json' })
    expect(chat.last.response_format).toEqual({ type: 'json_object' })
    expect(JSON.stringify(chat.last.messages)).toContain('JSON')
    await send('/v1/vision', { image_url: dataUrl, response_format: 'text' })
    expect(chat.last.response_format).toBeUndefined()
  })

  it('accepts images in every field and keeps their order', async () => {
    const { send, urls } = open()
    const other = pngOf(9, 9).toString('base64')
    const images = [url, { url: dataUrl }, { base64: other, mime_type: 'image/png' }, { url }]
    await send('/v1/vision', {
      image_base64: `${base64.slice(0, 40)}\n${base64.slice(40)}`,
      mime_type: 'image/png',
      images,
    })
    expect(urls()).toEqual([dataUrl, url, dataUrl, `data:image/png;base64,${other}`, url])
  })

  it.each([
    ['several fields named file', ['file', 'file']],
    ['one field files[] with several files', ['files[]', 'files[]']],
  ])('accepts a form with %s', async (_, [one = '', two = '']) => {
    const { send, urls, prompt, chat } = open()
    const fields = { prompt: 'Compare them', model: 'gemini-2.5-flash', max_tokens: '70', temperature: '0.5' }
    const sent = form(fields, [
      [one, png, 'image/png'],
      [two, jpeg(4, 4), 'application/octet-stream'],
    ])
    const { status, json } = await send('/api/ai/vision', sent.body, sent)
    expect([status, json]).toMatchObject([200, { analysis: 'A red square.' }])
    expect(urls()).toEqual([dataUrl, `data:image/jpeg;base64,${jpeg(4, 4).toString('base64')}`])
    expect(prompt()).toBe('Compare them')
    expect(chat.last).toMatchObject({ model: 'gemini-2.5-flash', max_tokens: 70, temperature: 0.5 })
  })

  it.each([
    ['known', '0.25', { providerCostUsd: 0.25, serviceChargeUsd: 0.25, markupPercentage: 0 }],
    ['nothing', '0', { providerCostUsd: 0, serviceChargeUsd: 0, markupPercentage: 0 }],
    ['unknown', null, { providerCostUsd: null, serviceChargeUsd: null, markupPercentage: 0 }],
  ])('reports the cost when it is %s', async (_, costUsd, cost) => {
    const { send } = open([{ deltas: saying('x'), costUsd }])
    expect((await send('/v1/vision', { image_url: dataUrl })).json).toMatchObject({ cost })
  })

  it.each([
    ['byok', '0.25', { providerCostUsd: 0.25, serviceChargeUsd: 0, markupPercentage: 0 }],
    ['custom', null, { providerCostUsd: null, serviceChargeUsd: 0, markupPercentage: 0 }],
  ] as const)('is free with a key of the customer: %s', (source, costUsd, cost) => {
    const route = { ...deadRoute, source }
    const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0 }
    expect(aboutOf({ route, model: 'm', usage, costUsd, finishReason: 'stop', headers: [] })).toMatchObject({ cost })
  })

  it('refuses public keys', async () => {
    const { send, chat } = open()
    const as = { ...principals.agent_key, keyType: 'public' as const }
    const { status, json } = await send('/v1/vision', { image_url: dataUrl }, { as })
    expect([status, json]).toMatchObject([403, { error: 'forbidden' }])
    expect(chat.received).toEqual([])
  })
})

describe('the vision model', () => {
  it.each([
    [['openai', 'anthropic'], 'gpt-4o-mini'],
    [['anthropic', 'google', 'simulated'], 'anthropic/claude-haiku-4-5'],
    [['google', 'simulated'], 'google/gemini-2.5-flash'],
    [['simulated'], 'simulated/simulated-1'],
  ])('for the providers %j defaults to %s', async (configured, model) => {
    const { send, chat } = open(undefined, configured)
    await send('/v1/vision', { image_url: dataUrl })
    expect(chat.last.model).toBe(model)
  })

  it.each([
    [{}, 'provider_not_configured', 400],
    [{ model: 'claude-haiku-4-5' }, 'provider_not_configured', 400],
    [{ model: 'nobody-1' }, 'model_not_found', 404],
  ])('for the body %j is refused without a provider', async (more, error, status) => {
    const { send, chat } = open(undefined, [])
    const answered = await send('/v1/vision', { image_url: dataUrl, ...more })
    expect([answered.status, answered.json]).toMatchObject([status, { error, param: 'model' }])
    expect(chat.received).toEqual([])
  })
})

describe('an image of a vision request', () => {
  const heicImage = heic(8, 8)
  const encoded = (bytes: Buffer, mime_type: string) => ({ base64: bytes.toString('base64'), mime_type })

  it.each([
    ['gpt-4o-mini', [png, jpeg(4, 4), gif(4, 4), webpExtended(4, 4)]],
    ['claude-haiku-4-5', [png, jpeg(4, 4), gif(4, 4), webpExtended(4, 4)]],
    ['gemini-2.5-flash', [png, jpeg(4, 4), gif(4, 4), webpExtended(4, 4), heicImage]],
  ])('in every format of its provider is accepted by %s', async (model, all) => {
    const { send } = open()
    const types = ['image/png', 'image/jpg', 'image/gif', 'image/webp', 'image/heif']
    const images = all.map((bytes, at) => encoded(bytes, types[at] ?? ''))
    expect((await send('/v1/vision', { model, images })).status).toBe(200)
  })

  it.each([
    ['gpt-4o-mini', 20 * mib],
    ['claude-haiku-4-5', 5 * mib],
    ['gemini-2.5-flash', 20 * mib],
  ])('is accepted by %s up to %i bytes and refused above', async (model, max) => {
    const { send, chat } = open()
    const fits = form({ model }, [['file', ofSize(png, max), 'image/png']])
    expect((await send('/v1/vision', fits.body, fits)).status).toBe(200)
    const over = form({ model }, [
      ['file', png, 'image/png'],
      ['file', ofSize(png, max + 1), 'image/png'],
    ])
    const { status, json } = await send('/v1/vision', over.body, over)
    expect([status, json]).toMatchObject([400, { error: 'image_too_large', param: 'files[1]' }])
    const inJson = { model, images: [encoded(ofSize(png, max + 1), 'image/png')] }
    expect((await send('/v1/vision', inJson)).json).toMatchObject({ error: 'image_too_large', param: 'images[0]' })
    expect(chat.received).toHaveLength(1)
  })

  const wrong: readonly (readonly [string, object, string, string])[] = [
    [
      'HEIC for the first family',
      { images: [url, encoded(heicImage, 'image/heic')] },
      'unsupported_format',
      'images[1]',
    ],
    [
      'HEIC for the second',
      { model: 'claude-haiku-4-5', images: [encoded(heicImage, 'image/heic')] },
      'unsupported_format',
      'images[0]',
    ],
    [
      'a type that no family takes',
      { image_base64: base64, mime_type: 'image/tiff' },
      'unsupported_format',
      'image_base64',
    ],
    [
      'a picture of another kind',
      { images: [encoded(Buffer.from(`BM${'x'.repeat(60)}`), 'image/png')] },
      'unsupported_format',
      'images[0]',
    ],
    [
      'data that is not an image',
      { images: [dataUrl, `data:image/png;base64,${btoa('hello world')}`] },
      'unsupported_format',
      'images[1]',
    ],
    ['a type that is not its own', { image_base64: base64, mime_type: 'image/jpeg' }, 'bad_request', 'image_base64'],
    [
      'a data: URL of another type than its own',
      { images: [`data:image/gif;base64,${base64}`] },
      'bad_request',
      'images[0]',
    ],
    ['base64 without a type', { image_base64: base64 }, 'bad_request', 'mime_type'],
    ['an item with base64 without a type', { images: [{ base64 }] }, 'bad_request', 'images[0].mime_type'],
    ['base64 with a prefix', { image_base64: dataUrl, mime_type: 'image/png' }, 'bad_request', 'image_base64'],
    ['no base64', { image_base64: 'not base64!', mime_type: 'image/png' }, 'bad_request', 'image_base64'],
    ['base64 of a wrong length', { image_base64: 'AAAAA', mime_type: 'image/png' }, 'bad_request', 'image_base64'],
    ['an address without TLS', { images: [url, 'http://images.example/a.png'] }, 'bad_request', 'images[1]'],
    ['an address of a private host', { image_url: 'https://10.0.0.1/a.png' }, 'bad_request', 'image_url'],
    ['an address with credentials', { image_url: 'https://a:b@images.example/a.png' }, 'bad_request', 'image_url'],
    ['no address', { image_url: 'https://' }, 'bad_request', 'image_url'],
    ['another scheme', { image_url: 'file:///etc/passwd' }, 'bad_request', 'image_url'],
    ['a data: URL without base64', { image_url: 'data:image/svg+xml,<svg/>' }, 'bad_request', 'image_url'],
    ['an empty data: URL', { image_url: 'data:image/png;base64,' }, 'bad_request', 'image_url'],
    ['an item with nothing', { images: [{}] }, 'bad_request', 'images[0]'],
    ['an item with both', { images: [{ url, base64, mime_type: 'image/png' }] }, 'bad_request', 'images[0]'],
    ['no image', { prompt: 'What is it?' }, 'bad_request', 'image_url'],
    ['an empty list', { images: [] }, 'bad_request', 'image_url'],
    ['too many', { images: Array.from({ length: 65 }, () => url) }, 'bad_request', 'images'],
    ['a wrong field', { image_url: url, stream: 'maybe' }, 'bad_request', 'stream'],
  ]
  it.each(wrong)('is refused before a provider is called: %s', async (_, body, error, param) => {
    const { send, chat } = open()
    const { status, json } = await send('/v1/vision/describe', body)
    expect([status, json]).toMatchObject([400, { error, param, message: expect.any(String) }])
    expect(chat.received).toEqual([])
  })

  it('in a form is refused when its type differs from its content', async () => {
    const { send } = open()
    const sent = form({}, [['file', png, 'image/webp']])
    expect((await send('/v1/vision', sent.body, sent)).json).toMatchObject({ error: 'bad_request', param: 'files[0]' })
  })
})

describe('a vision stream', () => {
  const frames = (text: string) => text.split('\n\n').filter((frame) => frame !== '')

  it('has deltas, then usage and cost, then an end mark', async () => {
    const { send } = open()
    const { status, text, headers } = await send('/v1/vision', { image_url: dataUrl, stream: true })
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(frames(text)).toEqual([
      'data: {"delta":"A red "}',
      'data: {"delta":"square."}',
      `data: ${JSON.stringify({ done: true, ...about })}`,
      'data: [DONE]',
    ])
  })

  it('is also available for a form', async () => {
    const { send } = open()
    const sent = form({ stream: 'true' }, [['file', png, 'image/png']])
    const { text } = await send('/v1/vision/ocr', sent.body, sent)
    expect(frames(text).at(-1)).toBe('data: [DONE]')
  })

  it('ends with an error and no end mark when it breaks', async () => {
    const broken: Script = { deltas: saying('A red '), error: new ServiceError('provider_stream_broken') }
    const { send } = open([broken])
    const { text } = await send('/v1/vision', { image_url: dataUrl, stream: true })
    const last = frames(text).at(-1) ?? ''
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ error: 'provider_stream_broken' })
    expect(text).not.toContain('[DONE]')
  })

  it('is an ordinary error when it is refused before its beginning', async () => {
    const refused: Script = { error: new ServiceError('rate_limit_exceeded', { retryAfterS: 3 }), refused: true }
    const { send } = open([refused])
    const { status, json, headers } = await send('/v1/vision', { image_url: dataUrl, stream: true })
    expect([status, json, headers['retry-after']]).toMatchObject([429, { error: 'rate_limit_exceeded' }, '3'])
    expect(await send('/v1/vision', { image_url: 'ftp://x', stream: true })).toMatchObject({ status: 400 })
  })

  it('passes the abort signal of the caller to the model call', async () => {
    const { chat } = open()
    const gone = new AbortController()
    const useCases = visionUseCases({
      chat,
      routes: { resolve: () => [deadRoute] },
      guard: { check: (text) => new URL(text), request: () => Promise.reject(new Error('nothing is fetched')) },
    })
    const { signal } = gone
    await useCases['vision.analyze']({ ...emptyCall, body: { image_url: url }, signal })
    expect(chat.received[0]?.signal).toBe(signal)
  })
})

const deadRoute = {
  model: 'm',
  provider: 'openai',
  format: 'openai',
  source: 'managed',
  baseUrl: '',
  apiKey: null,
  connectionId: null,
} as const

const emptyCall = {
  principal: principals.secret_key,
  scope: projectScope('prj_1'),
  params: {},
  query: {},
  requestId: 'req_1',
  remoteAddress: '',
  idempotency: null,
  after: null,
  accept: '',
  files: [],
}
