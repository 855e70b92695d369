import { parseBuffer } from 'music-metadata'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AudioFormat } from '#specs/audio.ts'
import { answers, sends, trickles } from './audio-upstream.ts'
import { bytesOf, listen, openVoiceWorld, type VoiceWorld } from './voice-world.ts'
import { geminiAudio, samples, serverSent } from './wire-answers.ts'

let world: VoiceWorld
beforeAll(async () => {
  world = await openVoiceWorld()
})
afterAll(() => world.close())

const audio = Buffer.from(Array.from({ length: 3000 }, (_, i) => i % 251))

/** The requests to each provider in its own format. */
const families: readonly {
  readonly model: string
  readonly provider: string
  readonly format: AudioFormat
  readonly path: string
  readonly streamedPath?: string
  readonly auth: Readonly<Record<string, string>>
  readonly body: object
}[] = [
  {
    model: 'tts-1',
    provider: 'openai',
    format: 'opus',
    path: '/openai/audio/speech',
    auth: { authorization: 'Bearer managed-key' },
    body: { model: 'tts-1', input: 'Hello', voice: 'alloy', response_format: 'opus' },
  },
  {
    model: 'canopylabs/orpheus-v1-english',
    provider: 'groq',
    format: 'wav',
    path: '/groq/audio/speech',
    auth: { authorization: 'Bearer managed-key' },
    body: { model: 'canopylabs/orpheus-v1-english', input: 'Hello', voice: 'autumn', response_format: 'wav' },
  },
  {
    model: 'eleven_flash_v2_5',
    provider: 'elevenlabs',
    format: 'mp3',
    path: '/elevenlabs/text-to-speech/JBFqnCBsd6RMkjVDRZzb?output_format=mp3_44100_128',
    streamedPath: '/elevenlabs/text-to-speech/JBFqnCBsd6RMkjVDRZzb/stream?output_format=mp3_44100_128',
    auth: { 'xi-api-key': 'managed-key' },
    body: { text: 'Hello', model_id: 'eleven_flash_v2_5' },
  },
  {
    model: 'aura-2',
    provider: 'deepgram',
    format: 'opus',
    path: '/deepgram/speak?model=aura-2-thalia-en&encoding=opus&container=ogg',
    auth: { authorization: 'Token managed-key' },
    body: { text: 'Hello' },
  },
  {
    model: 'sonic-3',
    provider: 'cartesia',
    format: 'mp3',
    path: '/cartesia/tts/bytes',
    auth: { authorization: 'Bearer managed-key', 'cartesia-version': '2026-03-01' },
    body: {
      model_id: 'sonic-3',
      transcript: 'Hello',
      voice: { mode: 'id', id: 'f786b574-daa5-4673-aa0c-cbe3e8534c02' },
      output_format: { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 },
      language: 'en',
    },
  },
  {
    model: 'spitch-tts',
    provider: 'spitch',
    format: 'flac',
    path: '/spitch/speech',
    auth: { authorization: 'Bearer managed-key' },
    body: { language: 'yo', text: 'Hello', voice: 'sade', format: 'flac' },
  },
]

describe.each(families)('speech of $provider', ({ model, provider, format, path, streamedPath, auth, body }) => {
  it('is requested in the format of the provider and returned in one piece', async () => {
    world.upstream.script(sends(audio))
    const answer = await world.speak({ input: 'Hello', model, response_format: format })
    expect(bytesOf(answer).equals(audio)).toBe(true)
    const [heard] = world.upstream.heard
    expect(heard?.path).toBe(path)
    expect(heard?.headers).toMatchObject({ ...auth, 'content-type': 'application/json' })
    expect(JSON.parse(heard?.body.toString() ?? '')).toEqual(body)
    expect(new Map(answer.headers).get('x-provider')).toBe(provider)
    expect(new Map(answer.headers).has('x-stream')).toBe(false)
  })

  it('is passed on as it arrives when a stream is requested', async () => {
    world.upstream.script(trickles([audio.subarray(0, 1000), audio.subarray(1000, 1001), audio.subarray(1001)]))
    const answer = await world.speak({ input: 'Hello', model, response_format: format, stream: true })
    expect(new Map(answer.headers).get('x-stream')).toBe('true')
    const listener = listen(answer)
    expect(await listener.over).toBe('end')
    expect(Buffer.concat(listener.parts).equals(audio)).toBe(true)
    expect(listener.parts.length).toBeGreaterThan(1)
    expect(world.upstream.heard[0]?.path).toBe(streamedPath ?? path)
  })

  it('is charged by characters and recorded with its provider, with and without streaming', async () => {
    world.upstream.script(sends(audio))
    for (const stream of [false, true]) {
      const answer = await world.speak({ input: 'Hello 🌍', model, response_format: format, stream })
      if (stream) await listen(answer).over
      expect(world.calls.at(-1)).toMatchObject({
        need: 'speech',
        requestedModel: model,
        route: { provider },
        units: { characters: 7 },
        status: 200,
        error: null,
        streamed: stream,
        attempts: 1,
      })
      expect(world.settled.at(-1)).toBe(world.calls.at(-1)?.costUsd)
    }
  })
})

describe('speech of Gemini', () => {
  const request = {
    contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } }, languageCode: 'de-DE' },
      temperature: 1.5,
    },
  }

  it('is a WAV with a correct duration, from the PCM in the JSON answer', async () => {
    world.upstream.script(answers(geminiAudio(samples)))
    const requested = { voice: 'puck', language: 'de-DE', temperature: 1.5 }
    const answer = await world.speak({ input: 'Hello', model: 'gemini-3.8-flash-tts', ...requested })
    const [heard] = world.upstream.heard
    expect(heard?.path).toBe('/google/models/gemini-3.8-flash-tts:generateContent')
    expect(heard?.headers).toMatchObject({ 'x-goog-api-key': 'managed-key' })
    expect(JSON.parse(heard?.body.toString() ?? '')).toEqual(request)
    expect(answer.contentType).toBe('audio/wav')
    const wav = bytesOf(answer)
    expect(wav.subarray(44).equals(samples)).toBe(true)
    const { format } = await parseBuffer(wav, { mimeType: 'audio/wav' }, { duration: true })
    expect(format).toMatchObject({ sampleRate: 24_000, numberOfChannels: 1, bitsPerSample: 16, duration: 0.1 })
  })

  it('is charged by the tokens that the provider counted', async () => {
    world.upstream.script(answers(geminiAudio(samples)))
    await world.speak({ input: 'Hello', model: 'gemini-3.8-flash-tts' })
    expect(world.calls.at(-1)?.units).toEqual({
      characters: 5,
      tokens: { inputTokens: 7, outputTokens: 25, cachedTokens: 0, reasoningTokens: 0 },
    })
    expect(Number(world.calls.at(-1)?.costUsd)).toBeGreaterThan(0)
  })

  it.each(['wav', 'pcm'] as const)('is streamed as %s from events that are split anywhere', async (format) => {
    const frames = serverSent(geminiAudio(samples.subarray(0, 2000), false), geminiAudio(samples.subarray(2000)))
    const pieces = frames.match(/[\s\S]{1,701}/g) ?? []
    world.upstream.script(trickles(pieces, 'text/event-stream'))
    const requested = { model: 'gemini-3.8-flash-tts', response_format: format, stream: true }
    const listener = listen(await world.speak({ input: 'Hello', ...requested }))
    expect(await listener.over).toBe('end')
    expect(world.upstream.heard[0]?.path).toContain(':streamGenerateContent?alt=sse')
    const all = Buffer.concat(listener.parts)
    expect(all.subarray(format === 'wav' ? 44 : 0).equals(samples)).toBe(true)
    // The length of the stream is not known yet.
    if (format === 'wav') expect(all.readUInt32LE(40)).toBe(0xffff_ffff)
  })

  it.each([
    ['says that it is no more', [geminiAudio(samples, false)]],
    ['has no audio', [geminiAudio(Buffer.alloc(0))]],
    [
      'reports an error',
      [geminiAudio(samples, false), { error: { code: 503, status: 'UNAVAILABLE', message: 'busy' } }],
    ],
    ['stops for another reason', [{ candidates: [{ finishReason: 'SAFETY' }] }]],
  ])('is aborted when a stream %s', async (_, documents) => {
    world.upstream.script(sends(serverSent(...documents), 'text/event-stream'))
    const requested = { model: 'gemini-3.8-flash-tts', stream: true }
    const listener = listen(await world.speak({ input: 'Hello', ...requested }))
    expect(await listener.over).toBe('abort')
    expect(world.calls.at(-1)).toMatchObject({ error: 'provider_error', units: null, costUsd: null })
  })
})

describe('WAV of ElevenLabs', () => {
  it('is PCM with a header that the server adds', async () => {
    world.upstream.script(sends(samples))
    const requested = {
      model: 'eleven_v3',
      response_format: 'wav' as const,
      voice: 'Sarah',
      speed: 1.1,
      language: 'sw',
    }
    const answer = await world.speak({ input: 'Habari', ...requested })
    expect(bytesOf(answer).subarray(44).equals(samples)).toBe(true)
    const [heard] = world.upstream.heard
    expect(heard?.path).toBe('/elevenlabs/text-to-speech/EXAVITQu4vr4xnSDxMaL?output_format=pcm_24000')
    expect(JSON.parse(heard?.body.toString() ?? '')).toEqual({
      text: 'Habari',
      model_id: 'eleven_v3',
      language_code: 'sw',
      voice_settings: { speed: 1.1 },
    })
  })
})

describe('the speech server of a customer', () => {
  it('with the format of OpenAI gets the request unchanged', async () => {
    world.upstream.script(sends(audio))
    const requested = { model: 'custom:mine/kokoro', voice: 'af_sky', response_format: 'aac' as const, speed: 3 }
    const answer = await world.speak({ input: 'Hello', ...requested })
    expect(bytesOf(answer).equals(audio)).toBe(true)
    expect(JSON.parse(world.upstream.heard[0]?.body.toString() ?? '')).toEqual({
      model: 'kokoro',
      input: 'Hello',
      voice: 'af_sky',
      response_format: 'aac',
      speed: 3,
    })
  })
})
