import type { Route } from '#gateway/call/routes.ts'
import { arrayOf, isObject, objectOf, textOf } from '#outgoing/wire.ts'
import type { AudioFormat } from '#specs/audio.ts'
import { notATranscript } from '../openai/openai-voice.ts'
import { type Headers, listIn, type ProviderFormat } from '../provider-format.ts'
import { audioForm } from '../voice/multipart.ts'
import { WavAudio } from '../voice/pcm-audio.ts'
import { primaryLanguage } from '../voice/primary-language.ts'
import { RawAudio } from '../voice/raw-audio.ts'
import { secondsOf, speakerOf, timedTexts } from '../voice/timed-text.ts'
import type { SpeechTask, Transcript, TranscriptionTask, VoiceRequest } from '../voice/voice-format.ts'

/** ElevenLabs: `text-to-speech/{voice_id}` (and `/stream`), `speech-to-text`. */
export const elevenLabs: ProviderFormat = {
  headers: key,
  version: 'v1',
  voice: {
    speech: { request: speechRequest, reader: (task) => (task.format === 'wav' ? new WavAudio(task) : new RawAudio()) },
    transcription: { request: transcriptionRequest, transcript },
  },
  models: {
    path: () => '/models',
    rows: listIn,
    model: (row) => ({ id: row.model_id, name: row.name }),
  },
}

function key({ apiKey }: Pick<Route, 'apiKey'>): Headers {
  return apiKey === null ? {} : { 'xi-api-key': apiKey }
}

/** WAV is requested as PCM and given a header here: the provider's own WAV output requires a more expensive plan. */
const outputFormats: Readonly<Record<AudioFormat, string>> = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_128',
  wav: 'pcm_24000',
  pcm: 'pcm_24000',
  aac: '',
  flac: '',
}

/** The multilingual model detects the language from the text and rejects the field. */
const takesLanguage = (model: string): boolean => !model.startsWith('eleven_multilingual_v2')

function speechRequest(task: SpeechTask, route: Route): VoiceRequest {
  const body = {
    text: task.text,
    model_id: route.model,
    ...(task.language !== null && takesLanguage(route.model) && { language_code: primaryLanguage(task.language) }),
    ...(task.speed !== null && { voice_settings: { speed: task.speed } }),
  }
  const stream = task.streamed ? '/stream' : ''
  return {
    path: `/text-to-speech/${encodeURIComponent(task.voice)}${stream}?output_format=${outputFormats[task.format]}`,
    headers: { ...key(route), 'content-type': 'application/json', accept: '*/*' },
    body: JSON.stringify(body),
  }
}

function transcriptionRequest(task: TranscriptionTask, route: Route): VoiceRequest {
  const fields: [string, string][] = [
    ['model_id', route.model],
    ['timestamps_granularity', 'word'],
    ['tag_audio_events', 'false'],
    ['diarize', String(task.diarize)],
  ]
  if (task.language !== null) fields.push(['language_code', primaryLanguage(task.language)])
  if (task.temperature !== null) fields.push(['temperature', String(task.temperature)])
  const { contentType, body } = audioForm(fields, { field: 'file', ...task })
  return { path: '/speech-to-text', headers: { ...key(route), 'content-type': contentType }, body }
}

function transcript(json: unknown, task: TranscriptionTask): Transcript {
  if (!isObject(json) || typeof json.text !== 'string') throw notATranscript()
  const spoken = arrayOf(json.words).filter((word) => objectOf(word).type !== 'spacing')
  const words = timedTexts(spoken, (item) => ({
    text: textOf(item.text),
    speaker: task.diarize ? speakerOf(item.speaker_id) : null,
  }))
  const language = textOf(json.language_code)
  return {
    text: json.text.trim(),
    language: language === '' ? null : language,
    // older models do not report the length of the audio; then the end of the last word is used
    seconds: secondsOf(json.audio_duration_secs) ?? words.at(-1)?.end ?? null,
    tokens: null,
    segments: [],
    words,
  }
}
