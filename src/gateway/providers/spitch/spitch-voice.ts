import type { Route } from '#gateway/call/routes.ts'
import { isObject, textOf } from '#outgoing/wire.ts'
import type { AudioFormat } from '#specs/audio.ts'
import { notATranscript } from '../openai/openai-voice.ts'
import { bearer, type ProviderFormat } from '../provider-format.ts'
import { audioForm } from '../voice/multipart.ts'
import { primaryLanguage } from '../voice/primary-language.ts'
import { RawAudio } from '../voice/raw-audio.ts'
import { timedTexts } from '../voice/timed-text.ts'
import type { SpeechTask, Transcript, TranscriptionTask, VoiceRequest } from '../voice/voice-format.ts'

/** Spitch: speech and transcription of Yoruba, Hausa, Igbo and Amharic. Its only speech model has no name. */
export const spitch: ProviderFormat = {
  headers: bearer,
  version: 'v1',
  voice: {
    speech: { request: speechRequest, reader: () => new RawAudio() },
    transcription: { request: transcriptionRequest, transcript },
  },
  keyCheck: { post: '/speech' },
}

const formats: Readonly<Partial<Record<AudioFormat, string>>> = {
  mp3: 'mp3',
  opus: 'ogg_opus',
  flac: 'flac',
  wav: 'wav',
  pcm: 'pcm_s16le',
}

/** Both endpoints require a language; English is the default. */
const languageOf = ({ language }: { readonly language: string | null }): string => primaryLanguage(language ?? 'en')

function speechRequest(task: SpeechTask, route: Route): VoiceRequest {
  const body = { language: languageOf(task), text: task.text, voice: task.voice, format: formats[task.format] }
  const headers = { ...bearer(route), 'content-type': 'application/json', accept: '*/*' }
  return { path: '/speech', headers, body: JSON.stringify(body) }
}

function transcriptionRequest(task: TranscriptionTask, route: Route): VoiceRequest {
  const fields: [string, string][] = [
    ['language', languageOf(task)],
    ['model', route.model],
    ['timestamp', 'sentence'],
  ]
  if (task.prompt !== null) fields.push(['special_words', task.prompt])
  const { contentType, body } = audioForm(fields, { field: 'content', ...task })
  return { path: '/transcriptions', headers: { ...bearer(route), 'content-type': contentType }, body }
}

function transcript(json: unknown, task: TranscriptionTask): Transcript {
  if (!isObject(json) || typeof json.text !== 'string') throw notATranscript()
  const segments = timedTexts(json.timestamps, (item) => ({ text: textOf(item.text) }))
  // Spitch does not report the length of the audio; the end of the last sentence is used instead
  const seconds = segments.at(-1)?.end ?? null
  return { text: json.text.trim(), language: languageOf(task), seconds, tokens: null, segments, words: [] }
}
