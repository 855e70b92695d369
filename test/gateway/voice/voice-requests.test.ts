import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdmissionRequest } from '#gateway/call/admission.ts'
import { requestValidator } from '#specs/dsl/validate.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { speech } from '#specs/resources/gateway/voice.ts'
import { answers, sends } from './audio-upstream.ts'
import { listen, openVoiceWorld, type VoiceWorld, wavFile } from './voice-world.ts'
import { whisperAnswer } from './wire-answers.ts'

let world: VoiceWorld
beforeAll(async () => {
  world = await openVoiceWorld()
})
afterAll(() => world.close())

const audio = Buffer.from('audio')
const badFile = { code: 'bad_request', details: { param: 'file' } }

describe('an audio file', () => {
  it.each([
    ['audio/mpeg', 'a', 'mp3'],
    ['audio/x-wav', 'a.bin', 'wav'],
    ['audio/webm;codecs=opus', 'blob', 'webm'],
    ['video/webm', 'blob', 'webm'],
    ['video/mp4', 'blob', 'mp4'],
    ['audio/x-m4a', 'memo', 'm4a'],
    ['audio/ogg; codecs=opus', 'voice', 'ogg'],
    ['audio/x-flac', 'a', 'flac'],
    ['application/octet-stream', 'a.MP3', 'mp3'],
    ['application/octet-stream', 'a.mpga', 'mp3'],
    ['text/plain', 'a.tar.opus', 'ogg'],
    ['audio/flac', 'a.mp3', 'flac'],
  ])('of type %s with the name %s is sent as %s', async (type, name, container) => {
    world.upstream.script(answers(whisperAnswer))
    await world.transcribe({}, { files: [wavFile(100, type, name)] })
    expect(world.upstream.heard[0]?.body.toString('latin1')).toContain(`filename="audio.${container}"`)
  })

  it.each([
    ['RIFF\0\0\0\0WAVEfmt ', 'wav'],
    ['OggS\0\x02', 'ogg'],
    ['fLaC\0', 'flac'],
    ['\x1a\x45\xdf\xa3', 'webm'],
    ['\0\0\0\x20ftypM4A ', 'm4a'],
    ['\0\0\0\x20ftypisom', 'mp4'],
    ['ID3\x04', 'mp3'],
    ['whatever', 'webm'],
  ])('with a header that differs from its type is sent in the actual container (%j)', async (head, container) => {
    world.upstream.script(answers(whisperAnswer))
    const bytes = Buffer.from(head.padEnd(40, '\0'), 'latin1')
    await world.transcribe({}, { files: [{ ...wavFile(1, 'audio/webm', 'blob'), bytes }] })
    expect(world.upstream.heard[0]?.body.toString('latin1')).toContain(`filename="audio.${container}"`)
  })

  it.each([
    ['that is missing', []],
    ['of another field', [{ ...wavFile(), field: 'audio' }]],
    ['without a byte', [wavFile(0)]],
    ['that is not audio', [wavFile(10, 'image/png', 'a.png')]],
    ['with the name of a method', [wavFile(10, 'constructor', 'a.toString')]],
    ['of more than 25 MB', [wavFile(25 * 1024 * 1024 + 1)]],
  ])('%s is refused before a provider is called', async (_, files) => {
    world.upstream.script(answers(whisperAnswer))
    await expect(world.transcribe({}, { files })).rejects.toMatchObject(badFile)
    expect(world.upstream.heard).toEqual([])
  })

  it('of exactly 25 MB is accepted, and refused when it is too large for Gemini', async () => {
    world.upstream.script(answers(whisperAnswer))
    const files = [wavFile(25 * 1024 * 1024)]
    await world.transcribe({}, { files })
    expect(world.upstream.heard[0]?.body.length).toBeGreaterThan(25 * 1024 * 1024)
    await expect(world.transcribe({ model: 'gemini-3.8-flash' }, { files })).rejects.toMatchObject(badFile)
  })
})

describe('the voice limit of a project', () => {
  it('is sixty requests per minute for both directions together', async () => {
    const own = await openVoiceWorld({ callMs: 0 })
    try {
      own.upstream.script(answers(whisperAnswer))
      const first = new Map((await own.speak({ input: 'Hello' })).headers)
      expect(first.get('x-ratelimit-limit')).toBe('60')
      expect(first.get('x-ratelimit-remaining')).toBe('59')
      for (let at = 1; at < 60; at++) await (at % 2 === 0 ? own.speak({ input: 'Hello' }) : own.transcribe({}))
      const refusal = await own.transcribe({}).catch((error: unknown) => error)
      if (!(refusal instanceof ServiceError)) throw refusal
      expect(refusal.code).toBe('rate_limit_exceeded')
      const headers = new Map(refusal.details.headers)
      expect(headers.get('x-ratelimit-remaining')).toBe('0')
      expect(Number(headers.get('x-ratelimit-reset'))).toBe(refusal.details.retryAfterS)
      expect(refusal.details.retryAfterS).toBeGreaterThan(50)
      own.later(62_000)
      expect((await own.transcribe({})).headers.get('x-ratelimit-remaining')).toBe('59')
    } finally {
      await own.close()
    }
  })
})

describe('an optional field of speech', () => {
  it('may be null, as in chat and vision', async () => {
    const fields = Object.keys(speech['speech.speak'].body?.json.properties ?? {})
    const body = { ...Object.fromEntries(fields.map((name) => [name, null])), input: 'Hello' }
    requestValidator(speech['speech.speak']).body(body)
    world.upstream.script(sends(audio))
    await expect(world.speak(body)).resolves.toHaveProperty('bytes')
  })
})

describe('a request with an Idempotency-Key', () => {
  it('has a storable answer, or a stream when requested', async () => {
    world.upstream.script(sends(audio))
    const { bytes } = await world.speak({ input: 'Hello' }, { keyed: true })
    expect(JSON.parse(JSON.stringify(bytes))).toEqual({ base64: audio.toString('base64') })
    expect(await listen(await world.speak({ input: 'Hello', stream: true }, { keyed: true })).over).toBe('end')
  })
})

describe('the admission of a voice request', () => {
  it('receives the model, the key source and the maximum cost of the call', async () => {
    const admissions: AdmissionRequest[] = []
    const own = await openVoiceWorld({
      admission: {
        admit: (request) => {
          admissions.push(request)
          return {
            headers: [
              ['x-ratelimit-limit', '9'],
              ['x-more', '1'],
            ],
            settle: () => {},
          }
        },
      },
    })
    try {
      own.upstream.script(sends(audio))
      const headers = new Map((await own.speak({ input: 'Hello', model: 'tts-1' })).headers)
      expect(admissions[0]).toMatchObject({ need: 'speech', model: 'tts-1', source: 'managed' })
      expect(admissions[0]?.maxUsd()).toBe('0.000075')
      expect([headers.get('x-ratelimit-limit'), headers.get('x-more')]).toEqual(['60', '1'])
      own.upstream.script(answers(whisperAnswer))
      await own.transcribe({ model: 'whisper-1' })
      expect(Number(admissions[1]?.maxUsd())).toBeGreaterThan(0)
    } finally {
      await own.close()
    }
  })

  it('that refuses is recorded, and no provider is called', async () => {
    const own = await openVoiceWorld({
      admission: { admit: () => Promise.reject(new ServiceError('credit_balance_exhausted')) },
    })
    try {
      await expect(own.speak({ input: 'Hello' })).rejects.toMatchObject({ code: 'credit_balance_exhausted' })
      expect(own.upstream.heard).toEqual([])
      expect(own.calls).toMatchObject([{ status: 403, error: 'credit_balance_exhausted', units: null, attempts: 0 }])
    } finally {
      await own.close()
    }
  })
})

const withoutMail = (texts: readonly string[]) => ({
  ...{ texts: texts.map((text) => text.replace('a@b.example', '[EMAIL_1]')), toolArguments: [], restorer: null },
})

describe('personal data in a voice request', () => {
  it.each([
    ['is not spoken', true, 'Write to [EMAIL_1]'],
    ['is spoken when the project redacts no speech', false, 'Write to a@b.example'],
  ])('under redaction %s', async (_, speech, spoken) => {
    const own = await openVoiceWorld({
      redaction: async () => ({
        ...{ key: '', input: true, toolArguments: true, embeddings: false, speech },
        redact: withoutMail,
        redactInBackground: async (texts) => withoutMail(texts),
      }),
    })
    try {
      own.upstream.script(sends(audio))
      const { headers } = await own.speak({ input: 'Write to a@b.example' })
      expect(new Map(headers ?? []).get('x-redaction')).toBe(speech ? undefined : 'off')
      expect(JSON.parse(own.upstream.heard[0]?.body.toString() ?? '').input).toBe(spoken)
    } finally {
      await own.close()
    }
  })

  it.each([
    ['is not sent as a prompt, and is spelt in the transcript as there', true],
    ['is sent as a prompt when the project redacts no input', false],
  ])('%s', async (_, input) => {
    const redact = (texts: readonly string[]) => {
      const restore = (text: string) => text.replace('[EMAIL_1]', 'a@b.example')
      const restorer = { restore, push: restore, end: () => '', fork: () => restorer }
      return { ...withoutMail(texts), restorer, found: { email: 1 } }
    }
    const own = await openVoiceWorld({
      redaction: () => ({
        ...{ key: '', input, toolArguments: true, embeddings: false, speech: false, redact },
        redactInBackground: async (texts) => redact(texts),
      }),
    })
    try {
      own.upstream.script(answers({ text: 'Write to [EMAIL_1].' }))
      const { json } = await own.transcribe({ prompt: 'As a@b.example' }, { files: [wavFile(100)] })
      const sent = own.upstream.heard[0]?.body.toString('latin1')
      expect([sent?.includes('a@b.example'), sent?.includes('As [EMAIL_1]')]).toEqual([!input, input])
      expect(json).toMatchObject({ text: input ? 'Write to a@b.example.' : 'Write to [EMAIL_1].' })
      expect(own.calls.at(-1)?.redactions).toEqual(input ? { email: 1 } : undefined)
    } finally {
      await own.close()
    }
  })

  it('is recorded in the request log without audio and keys', async () => {
    world.upstream.script(sends(audio))
    await world.speak({ input: 'Hello', voice: 'nova' })
    const spoken = world.calls.at(-1)?.bodies?.()
    expect(JSON.parse(String(spoken?.request ?? ''))).toMatchObject({ model: 'tts-1', text: 'Hello', voice: 'nova' })
    expect(JSON.parse(String(spoken?.response ?? ''))).toEqual({ bytes: audio.length })
    world.upstream.script(answers(whisperAnswer))
    await world.transcribe({}, { files: [wavFile(100)] })
    const heard = world.calls.at(-1)?.bodies?.()
    expect(JSON.parse(String(heard?.request ?? ''))).toMatchObject({
      model: 'whisper-1',
      file: { container: 'wav', bytes: 100 },
    })
    expect(JSON.parse(String(heard?.response ?? ''))).toEqual({ text: whisperAnswer.text, seconds: 4.5 })
    expect(JSON.stringify([spoken, heard])).not.toContain('managed-key')
  })
})
