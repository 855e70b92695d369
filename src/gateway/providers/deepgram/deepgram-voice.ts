import type { Route } from '#gateway/call/routes.ts'
import { arrayOf, isObject, objectOf, textOf } from '#outgoing/wire.ts'
import type { AudioFormat } from '#specs/audio.ts'
import { notATranscript } from '../openai/openai-voice.ts'
import type { Headers, ProviderFormat } from '../provider-format.ts'
import { containerTypes } from '../voice/multipart.ts'
import { RawAudio } from '../voice/raw-audio.ts'
import { secondsOf, speakerOf, timedTexts } from '../voice/timed-text.ts'
import type { SpeechTask, Transcript, TranscriptionTask, VoiceRequest } from '../voice/voice-format.ts'

/** Deepgram: `speak` takes its parameters in the query, `listen` takes the audio as its body. */
export const deepgram: ProviderFormat = {
  headers: token,
  version: 'v1',
  voice: {
    speech: { request: speechRequest, reader: () => new RawAudio() },
    transcription: { request: transcriptionRequest, transcript },
  },
  models: {
    path: () => '/models',
    rows: (json) => {
      const { stt, tts } = objectOf(json)
      return Array.isArray(stt) || Array.isArray(tts) ? [...arrayOf(stt), ...arrayOf(tts)] : null
    },
    model: (row) => ({ id: row.canonical_name, name: row.name }),
  },
  // the list of models is public
  keyCheck: { get: '/projects' },
}

function token({ apiKey }: Pick<Route, 'apiKey'>): Headers {
  return apiKey === null ? {} : { authorization: `Token ${apiKey}` }
}

const encodings: Readonly<Record<AudioFormat, Readonly<Record<string, string>>>> = {
  mp3: { encoding: 'mp3' },
  opus: { encoding: 'opus', container: 'ogg' },
  aac: { encoding: 'aac' },
  flac: { encoding: 'flac' },
  wav: { encoding: 'linear16', container: 'wav', sample_rate: '24000' },
  pcm: { encoding: 'linear16', container: 'none', sample_rate: '24000' },
}

/** Deepgram has no separate voice parameter: the voice is the model. */
function speechRequest(task: SpeechTask, route: Route): VoiceRequest {
  const query = new URLSearchParams({ model: task.voice, ...encodings[task.format] })
  const headers = { ...token(route), 'content-type': 'application/json', accept: '*/*' }
  return { path: `/speak?${query}`, headers, body: JSON.stringify({ text: task.text }) }
}

function transcriptionRequest(task: TranscriptionTask, route: Route): VoiceRequest {
  const query = new URLSearchParams({ model: route.model, smart_format: 'true', utterances: 'true' })
  if (task.diarize) query.set('diarize', 'true')
  if (task.language === null) query.set('detect_language', 'true')
  else query.set('language', task.language)
  return {
    path: `/listen?${query}`,
    headers: { ...token(route), 'content-type': containerTypes[task.container] },
    body: Buffer.from(task.bytes.buffer, task.bytes.byteOffset, task.bytes.byteLength),
  }
}

function transcript(json: unknown, task: TranscriptionTask): Transcript {
  const results = objectOf(objectOf(json).results)
  const channel = objectOf(arrayOf(results.channels)[0])
  const best = arrayOf(channel.alternatives)[0]
  if (!isObject(best) || typeof best.transcript !== 'string') throw notATranscript()
  const language = textOf(channel.detected_language)
  const speaker = (item: { readonly speaker?: unknown }) => (task.diarize ? speakerOf(item.speaker) : null)
  return {
    text: best.transcript.trim(),
    language: language === '' ? task.language : language,
    seconds: secondsOf(objectOf(objectOf(json).metadata).duration),
    tokens: null,
    segments: timedTexts(results.utterances, (item) => ({ text: textOf(item.transcript), speaker: speaker(item) })),
    words: timedTexts(best.words, (item) => ({
      text: textOf(item.punctuated_word) || textOf(item.word),
      speaker: speaker(item),
    })),
  }
}
