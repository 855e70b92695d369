import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answers, sends } from './audio-upstream.ts'
import { formIn, openVoiceWorld, type VoiceWorld, wavFile } from './voice-world.ts'
import {
  cartesiaAnswer,
  deepgramAnswer,
  diarizedAnswer,
  elevenLabsAnswer,
  geminiTranscript,
  said,
  saidSegments,
  spitchAnswer,
  whisperAnswer,
} from './wire-answers.ts'

let world: VoiceWorld
beforeAll(async () => {
  world = await openVoiceWorld()
})
afterAll(() => world.close())

const families = [
  { provider: 'openai', model: 'whisper-1', answer: whisperAnswer, speakers: null, seconds: 4.5 },
  {
    provider: 'openai',
    model: 'gpt-4o-transcribe-diarize',
    answer: diarizedAnswer,
    speakers: ['A', 'B'],
    seconds: 4.5,
  },
  { provider: 'groq', model: 'whisper-large-v3-turbo', answer: whisperAnswer, speakers: null, seconds: 4.5 },
  {
    provider: 'elevenlabs',
    model: 'scribe_v2',
    answer: elevenLabsAnswer,
    speakers: ['speaker_0', 'speaker_1'],
    seconds: 4.5,
  },
  { provider: 'deepgram', model: 'nova-3', answer: deepgramAnswer, speakers: ['speaker_0', 'speaker_1'], seconds: 4.5 },
  {
    provider: 'google',
    model: 'gemini-3.8-flash',
    answer: geminiTranscript,
    speakers: ['speaker_0', 'speaker_1'],
    seconds: 4.5,
  },
  { provider: 'cartesia', model: 'ink-whisper', answer: cartesiaAnswer, speakers: null, seconds: 4.5 },
  { provider: 'spitch', model: 'mansa_v1', answer: spitchAnswer, speakers: null, seconds: 4 },
]

const srt = `1
00:00:00,000 --> 00:00:01,000
Hello there.

2
00:00:01,500 --> 00:00:04,000
Good morning to you.
`

const vtt = `WEBVTT

00:00:00.000 --> 00:00:01.000
Hello there.

00:00:01.500 --> 00:00:04.000
Good morning to you.
`

/** The token usage that the last call was charged with, or null when the provider counted no tokens. */
const countedTokens = (): object | null => {
  const { tokens } = world.calls.at(-1)?.units ?? {}
  if (tokens === undefined) return null
  const { inputTokens, outputTokens } = tokens
  const total_tokens = inputTokens + outputTokens
  return { type: 'tokens', input_tokens: inputTokens, output_tokens: outputTokens, total_tokens }
}

describe.each(families)('a transcript of $provider $model', ({ provider, model, answer, speakers, seconds }) => {
  it('has a text and the name of its provider', async () => {
    world.upstream.script(answers(answer))
    const { json, headers } = await world.transcribe({ model })
    expect(json).toEqual({ text: said, usage: countedTokens() ?? { type: 'duration', seconds: Math.ceil(seconds) } })
    expect(headers.get('x-provider')).toBe(provider)
  })

  it('is plain text when requested', async () => {
    world.upstream.script(answers(answer))
    const { text, contentType } = await world.transcribe({ model, response_format: 'text' })
    expect(text).toBe(`${said}\n`)
    expect(contentType).toBe('text/plain; charset=utf-8')
  })

  it('is a stream of events when requested, in the default format only', async () => {
    world.upstream.script(answers(answer))
    const { text, contentType } = await world.transcribe({ model, stream: true })
    const usage = countedTokens()
    const done = { type: 'transcript.text.done', text: said, ...(usage !== null && { usage }) }
    expect(text?.trimEnd().split('\n\n')).toEqual([
      `event: transcript.text.delta\ndata: ${JSON.stringify({ type: 'transcript.text.delta', delta: said })}`,
      `event: transcript.text.done\ndata: ${JSON.stringify(done)}`,
    ])
    expect(contentType).toBe('text/event-stream; charset=utf-8')
    const timed = world.transcribe({ model, stream: true, response_format: 'srt' })
    await expect(timed).rejects.toMatchObject({ code: 'bad_request', details: { param: 'stream' } })
  })

  it('is available as SRT and WebVTT subtitles', async () => {
    world.upstream.script(answers(answer))
    expect((await world.transcribe({ model, response_format: 'srt' })).text).toBe(srt)
    expect((await world.transcribe({ model, responseFormat: 'vtt' })).text).toBe(vtt)
  })

  it('has times in the verbose format, and no speakers unless requested', async () => {
    world.upstream.script(answers(answer))
    const { json } = await world.transcribe({ model, response_format: 'verbose_json' })
    expect(json).toMatchObject({ task: 'transcribe', duration: seconds, text: said })
    expect(json?.segments).toMatchObject(saidSegments.map((segment, id) => ({ id, ...segment })))
    // Every field that the SDKs of OpenAI declare.
    const scores = ['seek', 'tokens', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob']
    for (const segment of Array.isArray(json?.segments) ? json.segments : []) {
      expect(Object.keys(segment)).toEqual(expect.arrayContaining(scores))
      expect(segment).not.toHaveProperty('speaker')
    }
    expect(json?.usage).toEqual({ type: 'duration', seconds: Math.ceil(seconds) })
    for (const word of Array.isArray(json?.words) ? json.words : []) expect(word).not.toHaveProperty('speaker')
  })

  it('is charged by the duration that the provider reported', async () => {
    world.upstream.script(answers(answer))
    await world.transcribe({ model })
    const call = world.calls.at(-1)
    expect(call).toMatchObject({
      need: 'transcription',
      requestedModel: model,
      route: { provider },
      status: 200,
      error: null,
    })
    expect(call?.units?.seconds).toBe(seconds)
    expect(world.settled.at(-1)).toBe(call?.costUsd)
  })

  if (speakers !== null) {
    it('has speakers when requested', async () => {
      world.upstream.script(answers(answer))
      const { json } = await world.transcribe({ model, response_format: 'verbose_json', diarize: true })
      expect(json?.segments).toMatchObject(
        saidSegments.map((segment, id) => ({ id, ...segment, speaker: speakers[id] })),
      )
      const subtitles = await world.transcribe({ model, response_format: 'vtt', diarize: true })
      expect(subtitles.text).toContain(`<v ${speakers[1]}>Good morning to you.`)
    })

    it('is available in the diarized format of OpenAI, as JSON and as events', async () => {
      world.upstream.script(answers(answer))
      const segments = saidSegments.map((segment, at) => ({
        ...{ type: 'transcript.text.segment', id: `seg_${at}`, ...segment, speaker: speakers[at] },
      }))
      const { json } = await world.transcribe({ model, response_format: 'diarized_json' })
      expect(json).toMatchObject({ task: 'transcribe', duration: seconds, text: said, segments })
      const { text = '' } = await world.transcribe({ model, response_format: 'diarized_json', stream: true })
      const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
      expect(events).toMatchObject([...segments, { type: 'transcript.text.done', text: said }])
    })
  } else {
    it('has no diarized format', async () => {
      const refused = world.transcribe({ model, response_format: 'diarized_json' })
      await expect(refused).rejects.toMatchObject({ details: { param: 'response_format' } })
    })

    it('is refused when speakers are requested', async () => {
      await expect(world.transcribe({ model, diarize: true })).rejects.toMatchObject({
        code: 'bad_request',
        details: { param: 'diarize' },
      })
    })
  }

  it.each([
    ['no JSON', sends('<html>')],
    ['half a document', sends('{"text": "Hel')],
    ['another document', answers({ ok: true })],
    ['nothing', sends('')],
  ])('causes an error when it is %s', async (_, script) => {
    world.upstream.script(script)
    await expect(world.transcribe({ model })).rejects.toMatchObject({ code: 'provider_error' })
    expect(world.calls.at(-1)).toMatchObject({ units: null, costUsd: null, status: 502 })
    expect(world.settled.at(-1)).toBe('0')
  })
})

describe('the request to a transcription provider', () => {
  const heard = () => {
    const [first] = world.upstream.heard
    if (first === undefined) throw new Error('nothing was sent')
    return first
  }
  const file = (form: Record<string, unknown>, field = 'file') => {
    const found = form[field]
    if (!(found instanceof File)) throw new Error('no file')
    return { name: found.name, type: found.type, size: found.size }
  }

  it('is a form in the format of OpenAI with times, and without the file name of the caller', async () => {
    world.upstream.script(answers(whisperAnswer))
    const files = [wavFile(1234, 'video/webm;codecs=opus', 'My private talk')]
    await world.transcribe({ model: 'whisper-1', language: 'en-GB', prompt: 'Troupe', temperature: 0.5 }, { files })
    const { file: _, ...fields } = await formIn(heard())
    expect(heard().path).toBe('/openai/audio/transcriptions')
    expect(fields).toEqual({
      model: 'whisper-1',
      language: 'en',
      prompt: 'Troupe',
      temperature: '0.5',
      response_format: 'verbose_json',
    })
    expect(file(await formIn(heard()))).toEqual({ name: 'audio.webm', type: 'audio/webm', size: 1234 })
  })

  it('has the response formats of the newer models of OpenAI', async () => {
    world.upstream.script(answers({ text: said, usage: { type: 'tokens', input_tokens: 45, output_tokens: 9 } }))
    await world.transcribe({ model: 'gpt-4o-transcribe' })
    expect(await formIn(heard())).toMatchObject({ response_format: 'json' })
    expect(world.calls.at(-1)?.units).toEqual({
      tokens: { inputTokens: 45, outputTokens: 9, cachedTokens: 0, reasoningTokens: 0 },
    })
    await world.transcribe({ model: 'gpt-4o-transcribe-diarize' })
    expect(await formIn(world.upstream.heard[1] ?? heard())).toMatchObject({
      response_format: 'diarized_json',
      chunking_strategy: 'auto',
    })
  })

  it('is a form in the format of ElevenLabs', async () => {
    world.upstream.script(answers(elevenLabsAnswer))
    await world.transcribe({ model: 'scribe_v2', diarize: true, language: 'yo' })
    expect(heard().path).toBe('/elevenlabs/speech-to-text')
    expect(heard().headers).toMatchObject({ 'xi-api-key': 'managed-key' })
    const { file: _, ...fields } = await formIn(heard())
    expect(fields).toEqual({
      model_id: 'scribe_v2',
      timestamps_granularity: 'word',
      tag_audio_events: 'false',
      diarize: 'true',
      language_code: 'yo',
    })
  })

  it('is the audio itself with options in the query for Deepgram', async () => {
    world.upstream.script(answers(deepgramAnswer))
    await world.transcribe({ model: 'nova-3', diarize: true, language: 'en' })
    expect(heard().path).toBe(
      '/deepgram/listen?model=nova-3&smart_format=true&utterances=true&diarize=true&language=en',
    )
    expect(heard().headers).toMatchObject({ authorization: 'Token managed-key', 'content-type': 'audio/wav' })
    expect(heard().body.equals(Buffer.from(wavFile().bytes))).toBe(true)
    await world.transcribe({ model: 'nova-3' })
    expect(world.upstream.heard[1]?.path).toContain('detect_language=true')
  })

  it('has the audio in base64 and a JSON response type for Gemini', async () => {
    world.upstream.script(answers(geminiTranscript))
    await world.transcribe({ model: 'gemini-3.8-flash', prompt: 'Troupe' })
    expect(heard().path).toBe('/google/models/gemini-3.8-flash:generateContent')
    const body = JSON.parse(heard().body.toString())
    expect(body.contents[0].parts[1].inlineData).toEqual({
      mimeType: 'audio/wav',
      data: Buffer.from(wavFile().bytes).toString('base64'),
    })
    expect(body.contents[0].parts[0].text).toContain('Troupe')
    expect(body.generationConfig).toMatchObject({ temperature: 0, responseMimeType: 'application/json' })
  })

  it('is a form in the formats of Cartesia and Spitch', async () => {
    world.upstream.script(answers(cartesiaAnswer))
    await world.transcribe({ model: 'ink-whisper', language: 'de-AT' })
    expect(heard().path).toBe('/cartesia/stt')
    expect(await formIn(heard())).toMatchObject({
      model: 'ink-whisper',
      'timestamp_granularities[]': 'word',
      language: 'de',
    })
    world.upstream.script(answers(spitchAnswer))
    await world.transcribe({ model: 'mansa_v1', language: 'yo' })
    expect(heard().path).toBe('/spitch/transcriptions')
    const form = await formIn(heard())
    expect(form).toMatchObject({ model: 'mansa_v1', language: 'yo', timestamp: 'sentence' })
    expect(file(form, 'content').name).toBe('audio.wav')
  })
})
