import { parseBuffer } from 'music-metadata'
import OpenAI, { BadRequestError, RateLimitError } from 'openai'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type AudioUpstream,
  answers,
  openAudioUpstream,
  refuses,
  sends,
  stalls,
} from '#test/gateway/voice/audio-upstream.ts'
import { deepgramAnswer } from '#test/gateway/voice/wire-answers.ts'
import { Api } from '../api.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'

/*
 * Voice with a running server and the simulated provider, by the official SDK and by plain requests.
 */

let world: World
let client: OpenAI
let upstream: AudioUpstream
beforeAll(async () => {
  upstream = await openAudioUpstream()
  world = await World.start({ tools: [{ host: new URL(upstream.url).host }] })
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: world.secretKey, maxRetries: 0 })
})
afterAll(async () => {
  await world.stop()
  await upstream.close()
})

/** A new project, for a test that needs many requests: limits apply per project. */
const otherProject = async (): Promise<{ readonly api: Api; readonly client: OpenAI }> => {
  const dashboard = await world.dashboard()
  const project = await dashboard.post('/api/projects', { name: 'Another' })
  const { key } = (await dashboard.post(`/api/projects/${project.body.id}/keys`, { name: 'first' })).body
  return { api: world.as(key), client: new OpenAI({ baseURL: `${world.url}/v1`, apiKey: key, maxRetries: 0 }) }
}

const hello = { model: 'simulated-tts', voice: 'nova', input: 'Hello wonderful world' } as const

const spoken = async (): Promise<Buffer> => {
  const answer = await client.audio.speech.create({ ...hello, response_format: 'wav' })
  return Buffer.from(await answer.arrayBuffer())
}

const wav = async (): Promise<File> => new File([new Uint8Array(await spoken())], 'talk.wav', { type: 'audio/wav' })

describe('the official SDK', () => {
  it('synthesises speech as valid MP3', async () => {
    const answer = await client.audio.speech.create(hello)
    const audio = new Uint8Array(await answer.arrayBuffer())
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': String(audio.length),
      'x-provider': 'simulated',
      'x-ratelimit-limit': '60',
    })
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    const { format } = await parseBuffer(audio, { mimeType: 'audio/mpeg' }, { duration: true })
    expect(format.codec).toBe('MPEG 2 Layer 3')
    expect(format.duration).toBeGreaterThan(1)
  })

  it('transcribes a file to each response format', async () => {
    const file = await wav()
    const request = { file, model: 'simulated-transcribe' }
    const { text } = await client.audio.transcriptions.create(request)
    expect(text.split(' ').length).toBeGreaterThan(2)
    expect(await client.audio.transcriptions.create({ ...request, response_format: 'text' })).toBe(`${text}\n`)
    const long = await client.audio.transcriptions.create({
      ...{ ...request, response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
    })
    expect(long.segments?.map((segment) => segment.text).join(' ')).toBe(text)
    expect(long.segments?.[0]).toMatchObject({ seek: 0, tokens: [], avg_logprob: 0 })
    const srt = await client.audio.transcriptions.create({ ...request, response_format: 'srt' })
    expect(srt).toMatch(/^1\n00:00:00,000 --> 00:00:0\d,\d{3}\n/)
    const vtt = await client.audio.transcriptions.create({ ...request, response_format: 'vtt' })
    expect(vtt).toMatch(/^WEBVTT\n\n00:00:00\.000 --> /)
  })

  it('transcribes a file to a stream of events', async () => {
    const stream = await client.audio.transcriptions.create({
      ...{ file: await wav(), model: 'simulated-transcribe', stream: true },
    })
    const events = []
    for await (const event of stream) events.push(event)
    const text = expect.stringMatching(/^\w+ \w+ /)
    expect(events).toMatchObject([
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text },
    ])
  })

  it('diarizes speakers, translates, and gets verbose JSON', async () => {
    const request = { file: await wav(), model: 'simulated-transcribe' }
    const diarized = await client.audio.transcriptions.create({ ...request, response_format: 'diarized_json' })
    expect(diarized).toMatchObject({
      task: 'transcribe',
      usage: { type: 'duration' },
      segments: expect.arrayContaining([
        expect.objectContaining({ type: 'transcript.text.segment', id: 'seg_0', speaker: 'speaker_0' }),
      ]),
    })
    const long = await client.audio.translations.create({ ...request, response_format: 'verbose_json' })
    expect(long).toMatchObject({ task: 'translate', language: 'english', duration: expect.any(Number) })
    expect(await client.audio.translations.create(request)).toMatchObject({ text: long.text })
    const refused = client.audio.translations.create({ ...request, model: 'nova-3' })
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'model' })
  })

  it('streams speech as events with the same audio as the plain answer', async () => {
    const plain = Buffer.from(await (await client.audio.speech.create(hello)).arrayBuffer())
    const answer = await client.audio.speech.create({ ...hello, stream_format: 'sse' })
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const events = [...(await answer.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    const parts = events.slice(0, -1).map(({ type, audio }) => {
      expect(type).toBe('speech.audio.delta')
      return Buffer.from(audio, 'base64')
    })
    expect(parts.length).toBeGreaterThan(1)
    expect(Buffer.concat(parts)).toEqual(plain)
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { total_tokens: expect.any(Number) } })
  })

  it('raises its own error classes', async () => {
    const refused = client.audio.speech.create({ ...hello, response_format: 'flac' })
    await expect(refused).rejects.toThrow(BadRequestError)
    const fast = client.audio.speech.create({ ...hello, speed: 9 })
    await expect(fast).rejects.toMatchObject({
      ...{ code: 'invalid_field', param: 'speed', type: 'invalid_request_error' },
      message: expect.stringContaining('speed'),
    })
  })

  it('raises a RateLimitError after sixty requests in a minute', async () => {
    const own = await otherProject()
    for (let at = 0; at < 6; at++) {
      await Promise.all(
        Array.from({ length: 10 }, async () => (await own.client.audio.speech.create(hello)).arrayBuffer()),
      )
    }
    const refusal = await own.client.audio.speech.create(hello).catch((error: unknown) => error)
    if (!(refusal instanceof RateLimitError)) throw refusal
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refusal.headers.get('x-ratelimit-remaining')).toBe('0')
    expect((await own.api.get('/v1/usage/events?limit=100')).status).toBe(200)
  })
})

describe('streamed speech', () => {
  it('is chunked without a content length, and marked by X-Stream', async () => {
    const answer = await world.api.fetch('/v1/audio/speech', { ...hello, stream: true })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'audio/mpeg',
      'x-stream': 'true',
      'transfer-encoding': 'chunked',
      'x-provider': 'simulated',
    })
    expect(answer.headers.has('content-length')).toBe(false)
    const whole = await world.api.fetch('/v1/audio/speech', hello)
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(await whole.arrayBuffer()))
  })

  it('breaks the connection when it fails, instead of ending cleanly', async () => {
    const answer = await world.api.fetch('/v1/audio/speech', { ...hello, input: 'cut please', stream: true })
    expect(answer.status).toBe(200)
    await expect(answer.arrayBuffer()).rejects.toThrow()
  })

  it('is refused with a JSON error for an invalid voice', async () => {
    const answer = await world.api.post('/v1/audio/speech', { ...hello, voice: 'nobody', stream: true })
    expect(answer).toMatchObject({ status: 400, body: { error: 'bad_request', param: 'voice' } })
  })
})

describe('errors', () => {
  it.each([
    ['no text', { ...hello, input: undefined }, 400, 'bad_request', 'input'],
    ['too much text', { ...hello, input: 'x'.repeat(4097) }, 400, 'bad_request', 'input'],
    ['a temperature', { ...hello, temperature: 3 }, 400, 'bad_request', 'temperature'],
    ['a speed', { ...hello, speed: 5 }, 400, 'bad_request', 'speed'],
    ['a model', { ...hello, model: 'gpt-4o-realtime' }, 400, 'bad_request', 'model'],
    ['a model without a key', { input: 'Hello', model: 'eleven_v3' }, 400, 'provider_not_configured', 'model'],
    ['the auto-router without a key of one’s own', { ...hello, model: 'auto' }, 402, 'byok_required', 'model'],
    ['a provider that fails', { ...hello, input: 'fail please' }, 502, 'provider_error', undefined],
  ])('are flat, with the codes of the voice API: %s', async (_, body, status, error, param) => {
    const answer = await world.api.post('/v1/audio/speech', body)
    expect(answer).toMatchObject({ status, body: { error, message: expect.any(String) } })
    expect(answer.body.param).toBe(param)
    expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
  })

  it('name the file when it is missing, not audio or too large', async () => {
    const form = new FormData()
    form.set('model', 'simulated-transcribe')
    const send = async () => {
      const headers = { authorization: `Bearer ${world.secretKey}` }
      const answer = await fetch(`${world.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
      return { status: answer.status, body: await answer.json() }
    }
    const refusal = { status: 400, body: { error: 'bad_request', param: 'file' } }
    expect(await send()).toMatchObject(refusal)
    form.set('file', new File(['text'], 'a.txt', { type: 'text/plain' }))
    expect(await send()).toMatchObject(refusal)
    form.set('file', new File([new Uint8Array(25 * 1024 * 1024 + 1)], 'a.wav', { type: 'audio/wav' }))
    expect(await send()).toMatchObject(refusal)
  })
})

describe('the classic paths', () => {
  it('accept camel case field names', async () => {
    const classic = await world.api.fetch('/api/ai/audio/speech', { ...hello, responseFormat: 'wav' })
    expect(classic.headers.get('content-type')).toBe('audio/wav')
    expect(Buffer.from(await classic.arrayBuffer())).toEqual(await spoken())
    const form = new FormData()
    form.set('file', await wav())
    form.set('responseFormat', 'vtt')
    const headers = { authorization: `Bearer ${world.secretKey}` }
    const answer = await fetch(`${world.url}/api/ai/audio/transcriptions`, { method: 'POST', headers, body: form })
    expect(answer.headers.get('content-type')).toBe('text/vtt; charset=utf-8')
    expect(answer.headers.get('x-provider')).toBe('simulated')
  })
})

describe('the lists', () => {
  it.each([
    ['/v1/audio/voices', '/v1/audio/speech', '/v1/audio/transcriptions'],
    ['/api/v1/audio/voices', '/api/v1/audio/speech', '/api/v1/audio/transcriptions'],
    ['/api/ai/audio/voices', '/api/ai/audio/speech', '/api/ai/audio/transcriptions'],
  ])('are readable without a credential at %s, %s and %s', async (...paths) => {
    const anonymous = new Api(world.url)
    const [voices, speech, transcriptions] = await Promise.all(
      paths.map(async (path) => (await anonymous.get(path)).body),
    )
    expect(voices.models.find(({ id }: { id: string }) => id === 'tts-1')).toMatchObject({
      provider: 'openai',
      default_voice: 'alloy',
      max_input_chars: 4096,
      formats: ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'],
    })
    expect(speech.models.every((model: object) => 'supports_streaming' in model)).toBe(true)
    expect(transcriptions).toMatchObject({
      containers: ['mp3', 'wav', 'webm', 'mp4', 'm4a', 'ogg', 'flac'],
      response_formats: ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'],
      max_file_bytes: 25 * 1024 * 1024,
    })
  })

  it('are not sent again for a matching ETag', async () => {
    const anonymous = new Api(world.url)
    const etag = (await anonymous.get('/v1/audio/voices')).headers.get('etag') ?? ''
    const again = await anonymous.fetch('/v1/audio/voices', undefined, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })
})

describe('an Idempotency-Key', () => {
  it('replays the same speech and the same transcript', async () => {
    const headers = { 'idempotency-key': 'speech-1' }
    const [first, again] = [
      await world.api.fetch('/v1/audio/speech', hello, { headers }),
      await world.api.fetch('/v1/audio/speech', hello, { headers }),
    ]
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('content-type')).toBe('audio/mpeg')
    expect(Buffer.from(await again.arrayBuffer())).toEqual(Buffer.from(await first.arrayBuffer()))
    const other = await world.api.post('/v1/audio/speech', { ...hello, input: 'Other' }, { headers })
    expect(other).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
    const options = { headers: { 'idempotency-key': 'transcript-1' } }
    const request = { file: await wav(), model: 'simulated-transcribe', response_format: 'srt' as const }
    const srt = await client.audio.transcriptions.create(request, options)
    const replay = await client.audio.transcriptions.create(request, options).withResponse()
    expect([replay.response.headers.get('idempotent-replayed'), replay.data]).toEqual(['true', srt])
  })
})

describe('credentials', () => {
  it('of browsers may not synthesise speech', async () => {
    const tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const { token } = (await world.api.post('/v1/client-tokens', { tenant_id: tenant, external_user_id: 'ada' })).body
    expect(await world.as(token).post('/v1/audio/speech', hello)).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    })
  })
})

describe('provider keys of a project', () => {
  const key = 'sk-of-a-customer-0123456789'
  let own: Awaited<ReturnType<typeof otherProject>>

  beforeAll(async () => {
    own = await otherProject()
    for (const provider of ['openai', 'elevenlabs', 'deepgram']) {
      const connection = { name: provider, provider, base_url: `${upstream.url}/${provider}/v1`, api_key: key }
      expect(await own.api.post('/v1/provider-connections', connection)).toMatchObject({ status: 201 })
    }
  })

  const audio = Buffer.from('audio that a provider made')

  const lastUsage = async () => (await own.api.get('/v1/usage/events')).body.data[0]

  it('serve the auto-router without a service charge', async () => {
    upstream.script(sends(audio))
    const answer = await own.api.fetch('/v1/audio/speech', { input: 'Hello', model: 'auto', voice: 'nobody' })
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(audio)
    expect(answer.headers.get('x-provider')).toBe('openai')
    expect(upstream.heard[0]).toMatchObject({
      path: '/openai/v1/audio/speech',
      headers: { authorization: `Bearer ${key}` },
    })
    await vi.waitFor(
      async () =>
        expect(await lastUsage()).toMatchObject({
          provider: 'openai',
          model: 'tts-1',
          billing_mode: 'byok',
          characters: 5,
          provider_cost_usd: '0.000075',
          service_charge_usd: '0',
        }),
      patience,
    )
  })

  it('are metered for the tenant in the header', async () => {
    upstream.script(sends(audio))
    const tenant = (await own.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const headers = { 'x-tenant-id': tenant, 'x-external-user-id': 'ada' }
    await (await own.api.fetch('/v1/audio/speech', { input: 'Hello' }, { headers })).arrayBuffer()
    await vi.waitFor(
      async () =>
        expect(await lastUsage()).toMatchObject({ tenant_id: tenant, external_user_id: 'ada', operation: 'speech' }),
      patience,
    )
    const unknown = { headers: { 'x-tenant-id': 'ten_unknown' } }
    expect((await own.api.post('/v1/audio/speech', { input: 'Hello' }, unknown)).status).toBe(404)
  })

  it('are tried one after another by the auto-router', async () => {
    upstream.script(refuses(401), refuses(401), sends(audio))
    const answer = await own.api.fetch('/v1/audio/speech', { input: 'Hello', model: 'service-auto' })
    expect([answer.status, answer.headers.get('x-provider')]).toEqual([200, 'elevenlabs'])
    await answer.arrayBuffer()
  })

  it('transcribe with speakers, metered by the seconds that the provider reported', async () => {
    upstream.script(answers(deepgramAnswer))
    const form = new FormData()
    for (const [name, value] of Object.entries({ model: 'nova-3', diarize: 'true', response_format: 'verbose_json' }))
      form.set(name, value)
    form.set('file', new File([new Uint8Array(100)], 'blob', { type: 'audio/webm;codecs=opus' }))
    const headers = { authorization: `Bearer ${own.client.apiKey}` }
    const answer = await fetch(`${world.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
    expect(answer.headers.get('x-provider')).toBe('deepgram')
    expect(await answer.json()).toMatchObject({
      duration: 4.5,
      segments: [
        { speaker: 'speaker_0', text: 'Hello there.' },
        { speaker: 'speaker_1', text: 'Good morning to you.' },
      ],
    })
    expect(upstream.heard[0]?.headers['content-type']).toBe('audio/webm')
    await vi.waitFor(
      async () => expect(await lastUsage()).toMatchObject({ provider: 'deepgram', seconds: 4.5 }),
      patience,
    )
  })

  it.each([
    ['before the first byte', stalls(), false],
    ['in the middle of a stream', stalls(audio), true],
  ])('have their request cancelled when the caller disconnects %s', async (_, script, stream) => {
    upstream.script(script)
    const gone = new AbortController()
    const pending = own.api.fetch('/v1/audio/speech', { input: 'Hello', model: 'tts-1', stream }, {}, gone.signal)
    await vi.waitFor(() => expect(upstream.heard).toHaveLength(1), patience)
    if (stream) await pending
    gone.abort()
    await pending.catch(() => {})
    await upstream.heard[0]?.closed
  })

  it('are in no answer, log or table', async () => {
    upstream.script(refuses(400, { error: { message: `The key ${key} may not do that` } }))
    const answer = await own.api.post('/v1/audio/speech', { input: 'Hello', model: 'tts-1' })
    expect(answer).toMatchObject({ status: 400, body: { error: 'provider_error' } })
    expect(JSON.stringify(answer.body)).not.toContain(key)
    expect(await world.mentions(key)).toEqual({})
    expect(world.server.log()).not.toContain(key)
  })
})
