import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answers, cuts, drips, hangsUp, refuses, type Script, sends, stalls } from './audio-upstream.ts'
import { bytesOf, listen, openVoiceWorld, type VoiceWorld } from './voice-world.ts'
import { whisperAnswer } from './wire-answers.ts'

let world: VoiceWorld
/** With short timeouts before and inside an answer. */
let hasty: VoiceWorld
let listening: VoiceWorld
beforeAll(async () => {
  world = await openVoiceWorld()
  const policy = { firstByteTimeoutMs: 60, idleTimeoutMs: 60, totalTimeoutMs: 60, retries: 0 }
  hasty = await openVoiceWorld({ policy })
  listening = await openVoiceWorld({ policy: { idleTimeoutMs: 60, retries: 0 } })
})
afterAll(async () => {
  await world.close()
  await hasty.close()
  await listening.close()
})

const audio = Buffer.alloc(5000, 7)

const refused = (code: string, more: object = {}) => ({ code, ...more })

describe('before the first byte', () => {
  it.each([
    ['a rate limit', refuses(429, { error: { message: 'slow down' } }, { 'retry-after': '0' })],
    ['an error of the server', refuses(500)],
    ['an overload', refuses(503)],
    ['a connection that is closed', hangsUp],
  ])('%s is retried, and the next answer is returned', async (_, script) => {
    world.upstream.script(script, sends(audio))
    expect(bytesOf(await world.speak({ input: 'Hello', model: 'tts-1' })).equals(audio)).toBe(true)
    expect(world.upstream.heard).toHaveLength(2)
    expect(world.calls.at(-1)).toMatchObject({ attempts: 2, error: null })
    world.upstream.script(script, answers(whisperAnswer))
    expect((await world.transcribe({ model: 'whisper-1' })).json).toMatchObject({ text: whisperAnswer.text })
  })

  it.each([
    ['a rate limit', refuses(429, {}, { 'retry-after': '60' })],
    ['errors of the server', refuses(500)],
    ['closed connections', hangsUp],
    ['a redirect', refuses(302, {}, { location: 'http://169.254.169.254/' })],
  ])('%s until the last attempt: the result is provider_error without a charge', async (_, script: Script) => {
    world.upstream.script(script)
    const charges = world.settled.length
    await expect(world.speak({ input: 'Hello', model: 'tts-1' })).rejects.toMatchObject(refused('provider_error'))
    expect(world.calls.at(-1)).toMatchObject({ status: 502, error: 'provider_error', units: null, costUsd: null })
    expect(world.settled.slice(charges)).toEqual(['0'])
  })

  it('a long Retry-After is returned to the caller instead of waiting', async () => {
    world.upstream.script(refuses(429, {}, { 'retry-after': '60' }))
    await expect(world.speak({ input: 'Hello', model: 'tts-1' })).rejects.toMatchObject({
      details: { retryAfterS: 60 },
    })
    expect(world.upstream.heard).toHaveLength(1)
  })

  it.each([400, 404, 413, 422])('a refusal with %i causes provider_refused without a retry', async (status) => {
    world.upstream.script(refuses(status))
    await expect(world.transcribe({ model: 'whisper-1' })).rejects.toMatchObject(refused('provider_refused'))
    expect(world.upstream.heard).toHaveLength(1)
    expect(world.calls.at(-1)).toMatchObject({ status: 400, units: null })
  })

  it('a provider that leads back to this server causes request_loop', async () => {
    world.upstream.script(refuses(400, { error: 'request_loop', message: 'The request came back here too often.' }))
    await expect(world.speak({ input: 'Hello', model: 'tts-1' })).rejects.toMatchObject(refused('request_loop'))
    expect(world.upstream.heard).toMatchObject([{ headers: { via: '1.1 troupe', 'accept-encoding': 'identity' } }])
  })

  it('a refused managed key causes provider_error, and a refused key of the caller provider_refused', async () => {
    world.upstream.script(refuses(401, { error: { message: 'Incorrect API key provided: managed-key' } }))
    const attempt = world.speak({ input: 'Hello', model: 'tts-1' })
    await expect(attempt).rejects.toMatchObject(refused('provider_error'))
    await expect(attempt).rejects.not.toThrow(/managed-key/)
    world.keys({ openai: ['byok'] })
    await expect(world.speak({ input: 'Hello', model: 'tts-1' })).rejects.toMatchObject(refused('provider_refused'))
    world.keys(Object.fromEntries(['openai', 'elevenlabs'].map((id) => [id, ['managed' as const]])))
  })

  it('the next key is used after failures of the provider, and not after a refused request', async () => {
    world.keys({ openai: ['byok', 'managed'] })
    world.upstream.script(refuses(500), refuses(500), refuses(500), sends(audio))
    await world.speak({ input: 'Hello', model: 'tts-1' })
    expect(world.upstream.heard.map(({ headers }) => headers.authorization)).toEqual([
      ...Array<string>(3).fill('Bearer byok-key'),
      'Bearer managed-key',
    ])
    expect(world.calls.at(-1)).toMatchObject({ route: { source: 'managed' }, attempts: 4 })
    world.upstream.script(refuses(400))
    await expect(world.speak({ input: 'Hello', model: 'tts-1' })).rejects.toMatchObject(refused('provider_refused'))
    expect(world.upstream.heard).toHaveLength(1)
    world.keys({ openai: ['managed'] })
  })

  it('a silent provider times out', async () => {
    hasty.upstream.script(stalls())
    await expect(hasty.speak({ input: 'Hello', model: 'tts-1' })).rejects.toMatchObject(refused('provider_error'))
    await hasty.upstream.heard[0]?.closed
    hasty.upstream.script(stalls('{"text":'))
    await expect(hasty.transcribe({ model: 'whisper-1' })).rejects.toMatchObject(refused('provider_error'))
    await hasty.upstream.heard[0]?.closed
  })
})

describe('after the first byte', () => {
  it.each([
    ['is cut off', cuts(audio)],
    ['falls silent', stalls(audio)],
  ])('a stream that %s is aborted without a charge', async (_, script) => {
    listening.upstream.script(script)
    const listener = listen(await listening.speak({ input: 'Hello', model: 'tts-1', stream: true }))
    expect(await listener.over).toBe('abort')
    expect(Buffer.concat(listener.parts).equals(audio)).toBe(true)
    expect(listening.calls.at(-1)).toMatchObject({ status: 200, error: 'provider_error', units: null, costUsd: null })
    expect(listening.settled.at(-1)).toBe('0')
  })

  it('endless speech in single bytes is aborted at the total timeout', async () => {
    const bounded = await openVoiceWorld({ policy: { totalTimeoutMs: 200, retries: 0 } })
    bounded.upstream.script(drips)
    const listener = listen(await bounded.speak({ input: 'Hello', model: 'tts-1', stream: true }))
    expect(await listener.over).toBe('abort')
    await bounded.upstream.heard[0]?.closed
    expect(bounded.calls.at(-1)).toMatchObject({ error: 'provider_error', units: null })
    await expect(bounded.speak({ input: 'Hello', model: 'tts-1' })).rejects.toMatchObject(refused('provider_error'))
    await bounded.close()
  })

  it('an answer without streaming that is cut off causes an error', async () => {
    world.upstream.script(cuts(audio))
    await expect(world.speak({ input: 'Hello', model: 'tts-1' })).rejects.toMatchObject(refused('provider_error'))
    world.upstream.script(cuts('{"text": "Hel'))
    await expect(world.transcribe({ model: 'whisper-1' })).rejects.toMatchObject(refused('provider_error'))
  })
})

describe('a caller that disconnects', () => {
  it('cancels the provider request before the answer', async () => {
    const gone = new AbortController()
    world.upstream.script((_, heard) => {
      gone.abort()
      void heard
    })
    await expect(world.transcribe({ model: 'whisper-1' }, { signal: gone.signal })).rejects.toMatchObject(
      refused('cancelled'),
    )
    await world.upstream.heard[0]?.closed
    expect(world.calls.at(-1)).toMatchObject({ status: 499, error: 'cancelled', units: null })
  })

  it('cancels the provider request during a stream, which is charged', async () => {
    const gone = new AbortController()
    world.upstream.script(stalls(audio))
    const answer = await world.speak({ input: 'Hello', model: 'tts-1', stream: true }, { signal: gone.signal })
    listen(answer)
    gone.abort()
    await world.upstream.heard[0]?.closed
    expect(world.calls.at(-1)).toMatchObject({
      ...{ status: 499, error: 'cancelled', units: { characters: 5 }, costUsd: '0.000075' },
    })
  })

  it('cancels the provider request when the stream was not read', async () => {
    const gone = new AbortController()
    world.upstream.script(stalls(audio))
    await world.speak({ input: 'Hello', model: 'tts-1', stream: true }, { signal: gone.signal })
    gone.abort()
    await world.upstream.heard[0]?.closed
    expect(world.calls.at(-1)).toMatchObject({ error: 'cancelled' })
  })

  it('cancels the provider request when it stops the stream', async () => {
    world.upstream.script(stalls(audio))
    const listener = listen(await world.speak({ input: 'Hello', model: 'tts-1', stream: true }))
    listener.control.stop()
    await world.upstream.heard[0]?.closed
    expect(world.calls.at(-1)).toMatchObject({ error: 'cancelled' })
  })
})

describe('a slow reader', () => {
  it('pauses the provider and receives all bytes', async () => {
    const large = Buffer.alloc(24 * 1024 * 1024, 3)
    world.upstream.script(sends(large))
    const listener = listen(await world.speak({ input: 'Hello', model: 'tts-1', stream: true }), true)
    const taken = () => listener.parts.reduce((sum, part) => sum + part.length, 0)
    expect(taken()).toBeLessThan(1024 * 1024)
    for (let i = 0; i < 10; i++) {
      const before = listener.parts.length
      listener.control.resume()
      await expect.poll(() => listener.parts.length).toBe(before + 1)
    }
    expect(taken()).toBeLessThan(4 * 1024 * 1024)
    listener.slow = false
    listener.control.resume()
    expect(await listener.over).toBe('end')
    expect(taken()).toBe(large.length)
  })
})
