import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Route } from '#gateway/call/routes.ts'
import { speechModelOf } from '#gateway/prices/voice-models.ts'
import { Latencies } from '#gateway/voice/latencies.ts'
import { autoSteps } from '#gateway/voice/route-choice.ts'
import { answers, refuses, sends } from './audio-upstream.ts'
import { openVoiceWorld, type VoiceWorld } from './voice-world.ts'
import { deepgramAnswer, geminiAudio, samples, spitchAnswer, whisperAnswer } from './wire-answers.ts'

let world: VoiceWorld
beforeAll(async () => {
  world = await openVoiceWorld()
})
afterEach(() => world.keys({ openai: ['managed'], simulated: ['simulated'] }))
afterAll(() => world.close())

const requestBody = () => JSON.parse(world.upstream.heard[0]?.body.toString() ?? '{}')
const paths = () => world.upstream.heard.map(({ path }) => path.split('/')[1])

const bad = (param: string, ...says: readonly RegExp[]) => ({
  code: 'bad_request',
  message: expect.stringMatching(says[0] ?? /./),
  details: { param, message: expect.any(String) },
})

const audio = Buffer.from('audio')

/** Every voice that OpenAI's own SDK has a type for. */
const openAiVoices = [
  ...(/ voice: string \| ([^;]+)/
    .exec(readFileSync('node_modules/openai/resources/audio/speech.d.ts', 'utf8'))?.[1]
    ?.matchAll(/'(\w+)'/g) ?? []),
].map(([, name = '']) => name)

describe('a voice request without a model', () => {
  it('uses the first model of each direction', async () => {
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Hello' })
    expect(requestBody()).toMatchObject({ model: 'tts-1', voice: 'alloy', response_format: 'mp3' })
    world.upstream.script(answers(whisperAnswer))
    await world.transcribe({})
    expect(paths()).toEqual(['openai'])
    expect(world.calls.at(-1)).toMatchObject({ requestedModel: 'whisper-1' })
  })

  it.each(['yo', 'ha', 'ig', 'am-ET', 'YO'])(
    'in %s uses the models for that language, in both directions',
    async (language) => {
      world.keys({ openai: ['managed'], spitch: ['managed'] })
      world.upstream.script(sends(audio))
      await world.speak({ input: 'Bawo ni', language })
      expect(paths()).toEqual(['spitch'])
      expect(requestBody().language).toBe(language.split('-')[0]?.toLowerCase())
      world.upstream.script(answers(spitchAnswer))
      await world.transcribe({ language })
      expect(paths()).toEqual(['spitch'])
    },
  )

  it('in Yoruba prefers models for it to a named OpenAI model, unless openai is named or the only provider', async () => {
    world.keys({ openai: ['managed'], spitch: ['managed'] })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Bawo ni', model: 'tts-1', voice: 'alloy', language: 'yo' })
    expect(paths()).toEqual(['spitch'])
    world.upstream.script(answers(spitchAnswer))
    await world.transcribe({ model: 'whisper-1', language: 'yo' })
    expect(paths()).toEqual(['spitch'])
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Bawo ni', model: 'openai/tts-1', language: 'yo' })
    expect(paths()).toEqual(['openai'])
    world.keys({ openai: ['managed'] })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Bawo ni', model: 'tts-1', language: 'yo' })
    expect(paths()).toEqual(['openai'])
  })

  it('in Hausa uses a voice of that language, unless another one is named', async () => {
    world.keys({ spitch: ['byok'] })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Sannu', language: 'ha' })
    expect(requestBody().voice).toBe('amina')
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Sannu', language: 'ha', voice: 'Femi' })
    expect(requestBody()).toMatchObject({ voice: 'femi', language: 'ha' })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Kedu', model: 'spitch-tts', voice: 'obinna' })
    expect(requestBody()).toMatchObject({ voice: 'obinna', language: 'ig' })
  })

  it.each([
    ['nl', 'aura-2-rhea-nl'],
    ['ja-JP', 'aura-2-fujin-ja'],
    ['en', 'aura-2-thalia-en'],
  ])('in %s gets a voice of that language when no voice is named', async (language, voice) => {
    world.keys({ deepgram: ['managed'] })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Hello', model: 'aura-2', language })
    expect(world.upstream.heard[0]?.path).toContain(`model=${voice}&`)
  })

  it('uses the simulated provider without other keys, and is refused without any key', async () => {
    world.keys({ simulated: ['simulated'] })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Hello', language: 'yo' })
    expect(paths()).toEqual(['simulated'])
    world.keys({})
    await expect(world.speak({ input: 'Hello' })).rejects.toMatchObject({ code: 'provider_not_configured' })
    await expect(world.transcribe({})).rejects.toMatchObject({ code: 'provider_not_configured' })
  })
})

describe('a speech model', () => {
  it.each([
    ['openai/tts-1-hd', 'openai', { model: 'tts-1-hd' }],
    ['tts-1-1106', 'openai', { model: 'tts-1-1106' }],
    ['gpt-4o-mini-tts-2025-12-15', 'openai', { model: 'gpt-4o-mini-tts-2025-12-15' }],
    ['groq/canopylabs/orpheus-v1-english', 'groq', { model: 'canopylabs/orpheus-v1-english' }],
    ['gemini/gemini-3.8-flash-tts', 'google', {}],
    ['simulated-1', 'simulated', { model: 'simulated-1' }],
  ])('is found by the name %s', async (model, provider, body) => {
    world.keys({ [provider]: ['managed'] })
    world.upstream.script(provider === 'google' ? answers(geminiAudio(samples)) : sends(audio))
    await world.speak({ input: 'Hello', model })
    expect(paths()).toEqual([provider])
    expect(requestBody()).toMatchObject(body)
  })

  it('that is simulated speaks with every voice of OpenAI', async () => {
    expect(openAiVoices).toEqual(expect.arrayContaining(['alloy', 'cedar', 'fable', 'verse']))
    for (const voice of openAiVoices) {
      world.upstream.script(sends(audio))
      await world.speak({ input: 'Hello', model: 'simulated-tts', voice })
      expect(requestBody()).toMatchObject({ model: 'simulated-tts', voice })
    }
    await expect(world.speak({ input: 'Hello', model: 'simulated-tts', voice: 'thalia' })).rejects.toMatchObject(
      bad('voice'),
    )
  })

  it('may be named by a voice where voices are models', async () => {
    world.keys({ deepgram: ['managed'] })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Hello', model: 'aura-2-orion-en' })
    expect(world.upstream.heard[0]?.path).toContain('model=aura-2-orion-en&')
  })

  it('may be named with a variant', async () => {
    world.keys({ deepgram: ['managed'] })
    world.upstream.script(answers(deepgramAnswer))
    await world.transcribe({ model: 'nova-3-medical' })
    expect(world.upstream.heard[0]?.path).toContain('model=nova-3-medical&')
  })

  it.each(['gpt-4o', 'whisper-1', 'nonsense', 'tts-1-', '__proto__'])(
    'that cannot speak is refused: %s',
    async (model) => {
      await expect(world.speak({ input: 'Hello', model })).rejects.toMatchObject(bad('model'))
    },
  )

  it('that is unknown is requested from a custom OpenAI-compatible server', async () => {
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Hello', model: 'openai/kokoro' })
    expect(requestBody()).toMatchObject({ model: 'kokoro', voice: 'alloy', response_format: 'mp3' })
  })

  it('is provider_not_configured without a key of its provider', async () => {
    await expect(world.speak({ input: 'Hello', model: 'sonic-3' })).rejects.toMatchObject({
      code: 'provider_not_configured',
    })
  })
})

describe('an option that a model does not support is refused with its field and the supported values:', () => {
  it.each([
    ['a voice', { model: 'tts-1', voice: 'thalia' }, bad('voice', /alloy, ash, coral/)],
    ['a voice of the newer models', { model: 'tts-1', voice: 'marin' }, bad('voice')],
    ['an invalid voice id', { model: 'eleven_v3', voice: 'nobody' }, bad('voice')],
    [
      'a format',
      { model: 'sonic-3', response_format: 'flac' as const },
      bad('response_format', /mp3, wav, pcm; not flac/),
    ],
    ['a format in the classic spelling', { model: 'sonic-3', responseFormat: 'aac' as const }, bad('response_format')],
    ['a speed', { model: 'eleven_v3', speed: 3 }, bad('speed', /0\.7 to 1\.2/)],
    ['any speed', { model: 'aura-2', speed: 1.5 }, bad('speed', /only the speed 1/)],
    ['a language', { model: 'sonic-3', language: 'yo' }, bad('language', /en, de, es/)],
    ['the length', { model: 'canopylabs/orpheus-v1-english', input: 'x'.repeat(201) }, bad('input', /200 characters/)],
  ])('%s', async (_, body, refusal) => {
    world.keys({ openai: ['managed'], elevenlabs: ['managed'], deepgram: ['managed'], cartesia: ['managed'] })
    world.upstream.script(sends(audio))
    await expect(world.speak({ input: 'Hello', ...body })).rejects.toMatchObject(refusal)
    expect(world.upstream.heard).toEqual([])
  })

  it('times', async () => {
    const body = { model: 'gpt-4o-transcribe', response_format: 'srt' as const }
    await expect(world.transcribe(body)).rejects.toMatchObject(bad('response_format', /gives json, text; not srt/))
  })

  it('but the speed 1 and a temperature in range are accepted everywhere', async () => {
    world.keys({ deepgram: ['managed'] })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Hello', model: 'aura-2', speed: 1, temperature: 0.3 })
    expect(requestBody()).toEqual({ text: 'Hello' })
  })
})

describe('custom voices', () => {
  it.each([
    ['eleven_v3', 'elevenlabs', 'a1B2c3D4e5F6g7H8i9J0'],
    ['sonic-3.5', 'cartesia', '12345678-abcd-4bcd-8bcd-1234567890ab'],
  ])('of %s are accepted by their ids', async (model, provider, voice) => {
    world.keys({ [provider]: ['byok'] })
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Hello', model, voice })
    expect(`${world.upstream.heard[0]?.path}${world.upstream.heard[0]?.body}`).toContain(voice)
  })
})

describe('the auto-router', () => {
  const everywhere = {
    openai: ['byok' as const],
    elevenlabs: ['byok' as const],
    google: ['byok' as const],
    groq: ['byok' as const],
    deepgram: ['byok' as const],
    cartesia: ['byok' as const],
    spitch: ['byok' as const],
  }
  /** Models have a latency history, so that each test opens its own installation. */
  const fresh = async (test: (own: VoiceWorld) => Promise<void>) => {
    const own = await openVoiceWorld({ policy: { retries: 0 } })
    try {
      await test(own)
    } finally {
      await own.close()
    }
  }
  const models = (own: VoiceWorld) =>
    own.upstream.heard.map(({ path, body }) => {
      const { model, model_id } = JSON.parse(body.toString())
      return model ?? model_id ?? /models\/([^:]+)|model=([\w-]+)/.exec(path)?.slice(1).find(Boolean) ?? path
    })

  it.each(['auto', 'AUTO', 'service-auto'])('calls the models in the documented order (%s)', (model) =>
    fresh(async (own) => {
      own.keys(everywhere)
      own.upstream.script(refuses(500))
      await expect(own.speak({ input: 'Hello', model })).rejects.toMatchObject({ code: 'provider_error' })
      expect(models(own)).toEqual(['tts-1', 'tts-1-hd', 'eleven_flash_v2_5', 'aura-2-thalia-en'])
    }),
  )

  it('calls the models that support the requested format', () =>
    fresh(async (own) => {
      own.keys(everywhere)
      own.upstream.script(refuses(500))
      await expect(own.speak({ input: 'Hi', model: 'auto', response_format: 'wav' })).rejects.toThrow()
      expect(models(own)).toEqual([
        'tts-1',
        'tts-1-hd',
        'eleven_flash_v2_5',
        'gemini-3.8-flash-lite-tts',
        'aura-2-thalia-en',
        'canopylabs/orpheus-v1-english',
      ])
    }))

  it('returns MP3 by default, and another format when no model supports MP3', () =>
    fresh(async (own) => {
      own.keys({ google: ['byok'], elevenlabs: ['byok'] })
      own.upstream.script(sends(audio))
      expect((await own.speak({ input: 'Hello', model: 'auto' })).contentType).toBe('audio/mpeg')
      own.keys({ google: ['byok'] })
      own.upstream.script(answers(geminiAudio(samples)))
      expect((await own.speak({ input: 'Hello', model: 'auto' })).contentType).toBe('audio/wav')
    }))

  it('uses only keys of the project, and requires one', () =>
    fresh(async (own) => {
      own.upstream.script(sends(audio))
      own.keys({ openai: ['managed'], elevenlabs: ['managed', 'byok'] })
      await own.speak({ input: 'Hello', model: 'auto' })
      expect(own.upstream.heard[0]?.headers['xi-api-key']).toBe('byok-key')
      own.keys({ openai: ['managed'], simulated: ['simulated'], cartesia: ['byok'] })
      const refusal = { code: 'byok_required', details: { param: 'model' } }
      await expect(own.speak({ input: 'Hello', model: 'auto' })).rejects.toMatchObject(refusal)
      await expect(own.transcribe({ model: 'auto' })).rejects.toMatchObject(refusal)
    }))

  it('skips models without a known price', async () => {
    const route: Route = {
      ...{ model: '', provider: '', format: 'openai', baseUrl: 'http://127.0.0.1:9', apiKey: 'k' },
      ...{ source: 'byok', connectionId: null },
    }
    const resolve = (_: string, name: string) => [{ ...route, provider: name.split('/', 1)[0] ?? '', model: name }]
    const candidates = ['cartesia/sonic-3.5', 'deepgram/aura-2'].map((name) => ({ name, expectedMs: 1 }))
    const where = { routes: { resolve }, project: 'prj_1', need: 'speech' } as const
    const choice = { ...where, latencies: new Latencies(Date.now), candidates, modelOf: speechModelOf }
    const steps = await autoSteps(choice, ({ id }) => id)
    expect(steps.map(({ task }) => task)).toEqual(['aura-2'])
  })

  it('replaces a voice that the model does not have with the default voice', () =>
    fresh(async (own) => {
      own.keys({ elevenlabs: ['byok'] })
      own.upstream.script(sends(audio))
      await own.speak({ input: 'Hello', model: 'auto', voice: 'alloy' })
      expect(own.upstream.heard[0]?.path).toContain('/JBFqnCBsd6RMkjVDRZzb')
    }))

  it('prefers the fastest model once latencies were measured', () =>
    fresh(async (own) => {
      own.keys({ openai: ['byok'], elevenlabs: ['byok'] })
      const slow = 1300
      // Repeated when the machine paused and delayed the fast model.
      await vi.waitFor(
        async () => {
          own.upstream.script((response) => {
            setTimeout(() => response.writeHead(200).end(audio), slow)
          })
          await own.speak({ input: 'Hello', model: 'tts-1' })
          own.upstream.script(sends(audio))
          await own.speak({ input: 'Hello', model: 'tts-1-hd' })
          await own.speak({ input: 'Hello', model: 'auto' })
          own.later(16 * 60_000)
          expect(models(own).at(-1)).toBe('tts-1-hd')
        },
        { timeout: 30_000 },
      )
      await own.speak({ input: 'Hello', model: 'auto' })
      expect(models(own).at(-1)).toBe('tts-1')
    }))

  it('skips a key that its provider refuses', () =>
    fresh(async (own) => {
      own.keys({ openai: ['byok'], elevenlabs: ['byok'] })
      own.upstream.script(refuses(401), refuses(401), sends(audio))
      const answer = await own.speak({ input: 'Hello', model: 'auto' })
      expect(new Map(answer.headers).get('x-provider')).toBe('elevenlabs')
    }))

  it('selects transcription models, too', () =>
    fresh(async (own) => {
      own.keys({ deepgram: ['byok'], openai: ['byok'] })
      own.upstream.script(answers(whisperAnswer))
      expect((await own.transcribe({ model: 'auto' })).headers.get('x-provider')).toBe('openai')
      own.upstream.script(answers(deepgramAnswer))
      expect((await own.transcribe({ model: 'auto', diarize: true })).headers.get('x-provider')).toBe('deepgram')
    }))
})
