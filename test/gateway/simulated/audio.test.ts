import { parseBuffer } from 'music-metadata'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SimulatedProvider, startSimulatedProvider } from '#gateway/simulated/server.ts'

let provider: SimulatedProvider
beforeAll(async () => {
  provider = await startSimulatedProvider()
})
afterAll(() => provider.close())

const speak = (body: object): Promise<Response> =>
  fetch(`${provider.url}/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'simulated-tts', input: 'Hello wonderful world', voice: 'alloy', ...body }),
  })

const spoken = async (body: object): Promise<Uint8Array> => new Uint8Array(await (await speak(body)).arrayBuffer())

const lengthOf = async (audio: Uint8Array, mimeType: string) =>
  (await parseBuffer(audio, { mimeType }, { duration: true })).format

const transcribe = async (audio: Uint8Array, fields: Readonly<Record<string, string>>) => {
  const form = new FormData()
  form.set('file', new Blob([Buffer.from(audio)], { type: 'audio/wav' }), 'a.wav')
  for (const [name, value] of Object.entries({ model: 'simulated-transcribe', ...fields })) form.set(name, value)
  return fetch(`${provider.url}/audio/transcriptions`, { method: 'POST', body: form })
}

describe('simulated speech', () => {
  it('is a valid WAV with a duration proportional to its text', async () => {
    const short = await lengthOf(await spoken({ response_format: 'wav' }), 'audio/wav')
    const long = await lengthOf(
      await spoken({ response_format: 'wav', input: 'Hello wonderful world '.repeat(3) }),
      'audio/wav',
    )
    expect(short).toMatchObject({ container: 'WAVE', sampleRate: 24_000, numberOfChannels: 1, bitsPerSample: 16 })
    expect(long.duration).toBeCloseTo((short.duration ?? 0) * 3, 5)
  })

  it('is an MP3 of the same duration, and shorter with a higher speed', async () => {
    const wav = await lengthOf(await spoken({ response_format: 'wav' }), 'audio/wav')
    const mp3 = await lengthOf(await spoken({}), 'audio/mpeg')
    expect(mp3).toMatchObject({ container: 'MPEG', codec: 'MPEG 2 Layer 3', sampleRate: 24_000, bitrate: 32_000 })
    expect(mp3.duration).toBeCloseTo(wav.duration ?? 0, 5)
    const fast = await lengthOf(await spoken({ speed: 2 }), 'audio/mpeg')
    expect(fast.duration).toBeLessThan((mp3.duration ?? 0) * 0.6)
  })

  it('of white space is valid silence', async () => {
    const { duration } = await lengthOf(await spoken({ input: ' \n', response_format: 'wav' }), 'audio/wav')
    expect(duration).toBeGreaterThan(0)
    expect((await spoken({ input: ' \n' })).length).toBeGreaterThan(0)
  })

  it('is deterministic and audible', async () => {
    const pcm = await spoken({ response_format: 'pcm' })
    expect(pcm).toEqual(await spoken({ response_format: 'pcm' }))
    const samples = new Int16Array(pcm.buffer)
    expect(Math.max(...samples.subarray(0, 5000))).toBeGreaterThan(8000)
  })

  it.each([
    ['flac', { response_format: 'flac' }, 400],
    ['no text', { input: '' }, 400],
    ['another model', { model: 'tts-1' }, 404],
    ['an input that requests a failure', { input: 'fail please' }, 500],
    ['an input that requests a rate limit', { input: 'rate limit please' }, 429],
  ])('is refused for %s', async (_, body, status) => {
    expect((await speak(body)).status).toBe(status)
  })

  it('breaks off when the input requests it', async () => {
    await expect(spoken({ input: 'cut please' })).rejects.toThrow()
  })
})

describe('a simulated transcript', () => {
  it('has words with times that fill the audio, and alternating speakers', async () => {
    const audio = await spoken({ response_format: 'wav', input: 'Hello wonderful world '.repeat(5) })
    const { duration = 0 } = await lengthOf(audio, 'audio/wav')
    const answer = await transcribe(audio, { response_format: 'verbose_json' })
    const { text, words, segments, duration: reported } = JSON.parse(await answer.text())
    expect(reported).toBeCloseTo(duration, 5)
    expect(words.at(-1).end).toBeCloseTo(duration, 2)
    expect(segments.map((segment: { text: string }) => segment.text).join(' ')).toBe(text)
    const diarized = JSON.parse(await (await transcribe(audio, { response_format: 'diarized_json' })).text())
    expect(new Set(diarized.segments.map((segment: { speaker: string }) => segment.speaker)).size).toBe(2)
    expect(await (await transcribe(audio, {})).json()).toMatchObject({ text })
  })

  it('differs for other audio, and is refused without valid audio', async () => {
    const [one, other] = [
      await spoken({ response_format: 'wav' }),
      await spoken({ response_format: 'wav', input: 'Other' }),
    ]
    const texts = await Promise.all([one, other].map(async (audio) => (await transcribe(audio, {})).text()))
    expect(texts[0]).not.toBe(texts[1])
    expect((await transcribe(Buffer.from('no audio at all'), {})).status).toBe(400)
    expect((await fetch(`${provider.url}/audio/transcriptions`, { method: 'POST', body: 'x' })).status).toBe(400)
    expect((await fetch(`${provider.url}/audio/others`, { method: 'POST', body: 'x' })).status).toBe(404)
  })
})
