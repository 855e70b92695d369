import type { Route } from '#gateway/call/routes.ts'
import { isObject, textOf } from '#outgoing/wire.ts'
import type { AudioFormat } from '#specs/audio.ts'
import { notATranscript } from '../openai/openai-voice.ts'
import { bearer, type Headers, type ProviderFormat } from '../provider-format.ts'
import { audioForm } from '../voice/multipart.ts'
import { primaryLanguage } from '../voice/primary-language.ts'
import { RawAudio } from '../voice/raw-audio.ts'
import { secondsOf, timedTexts } from '../voice/timed-text.ts'
import type { SpeechTask, Transcript, TranscriptionTask, VoiceRequest } from '../voice/voice-format.ts'

/** Cartesia: `tts/bytes` and `stt`. */
export const cartesia: ProviderFormat = {
  headers,
  voice: {
    speech: { request: speechRequest, reader: () => new RawAudio() },
    transcription: { request: transcriptionRequest, transcript },
  },
  keyCheck: { get: '/voices?limit=1' },
}

/** With the API version that this client is written for. */
function headers(route: Pick<Route, 'apiKey'>): Headers {
  return { ...bearer(route), 'cartesia-version': '2026-03-01' }
}

const samples = { encoding: 'pcm_s16le', sample_rate: 24_000 } as const

const outputs: Readonly<Partial<Record<AudioFormat, object>>> = {
  mp3: { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 },
  wav: { container: 'wav', ...samples },
  pcm: { container: 'raw', ...samples },
}

function speechRequest(task: SpeechTask, route: Route): VoiceRequest {
  const body = {
    model_id: route.model,
    transcript: task.text,
    voice: { mode: 'id', id: task.voice },
    output_format: outputs[task.format],
    language: primaryLanguage(task.language ?? 'en'),
    ...(task.speed !== null && { generation_config: { speed: task.speed } }),
  }
  const sent = { ...headers(route), 'content-type': 'application/json', accept: '*/*' }
  return { path: '/tts/bytes', headers: sent, body: JSON.stringify(body) }
}

function transcriptionRequest(task: TranscriptionTask, route: Route): VoiceRequest {
  const fields: [string, string][] = [
    ['model', route.model],
    ['timestamp_granularities[]', 'word'],
  ]
  if (task.language !== null) fields.push(['language', primaryLanguage(task.language)])
  const { contentType, body } = audioForm(fields, { field: 'file', ...task })
  return { path: '/stt', headers: { ...headers(route), 'content-type': contentType }, body }
}

function transcript(json: unknown): Transcript {
  if (!isObject(json) || typeof json.text !== 'string') throw notATranscript()
  const language = textOf(json.language)
  return {
    text: json.text.trim(),
    language: language === '' ? null : language,
    seconds: secondsOf(json.duration),
    tokens: null,
    segments: [],
    words: timedTexts(json.words, (item) => ({ text: textOf(item.word) })),
  }
}
