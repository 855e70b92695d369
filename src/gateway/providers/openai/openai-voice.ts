import { counted } from '#gateway/call/accounting/counted.ts'
import { refused } from '#gateway/call/failure.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { bearer } from '../provider-format.ts'
import { audioForm } from '../voice/multipart.ts'
import { primaryLanguage } from '../voice/primary-language.ts'
import { RawAudio } from '../voice/raw-audio.ts'
import { secondsOf, speakerOf, timedTexts } from '../voice/timed-text.ts'
import type {
  SpeechTask,
  TimedText,
  Transcript,
  TranscriptionTask,
  VoiceFormat,
  VoiceRequest,
} from '../voice/voice-format.ts'

/** `/audio/speech` and `/audio/transcriptions` of OpenAI, Groq and other providers with the same API. */
export const openAiVoice: VoiceFormat = {
  speech: { request: speechRequest, reader: () => new RawAudio() },
  transcription: { request: transcriptionRequest, transcript },
}

function speechRequest(task: SpeechTask, route: Route): VoiceRequest {
  const body = {
    model: route.model,
    input: task.text,
    voice: task.voice,
    response_format: task.format,
    ...(task.speed !== null && { speed: task.speed }),
    ...(task.instructions !== null && { instructions: task.instructions }),
  }
  const headers = { ...bearer(route), 'content-type': 'application/json', accept: '*/*' }
  return { path: '/audio/speech', headers, body: JSON.stringify(body) }
}

/**
 * Models that return only text, and models that separate speakers. Every other model takes Whisper's response formats.
 */
const textOnly = /^gpt-(?:4o-(?:mini-)?)?transcribe(?!-diarize)/
const diarizing = /-diarize(?:-|$)/

function transcriptionRequest(task: TranscriptionTask, route: Route): VoiceRequest {
  const fields: [string, string][] = [['model', route.model]]
  if (task.language !== null && !task.translates) fields.push(['language', primaryLanguage(task.language)])
  if (task.temperature !== null) fields.push(['temperature', String(task.temperature)])
  if (task.diarize || diarizing.test(route.model))
    fields.push(['response_format', 'diarized_json'], ['chunking_strategy', 'auto'])
  else {
    if (task.prompt !== null) fields.push(['prompt', task.prompt])
    fields.push(['response_format', textOnly.test(route.model) ? 'json' : 'verbose_json'])
  }
  const { contentType, body } = audioForm(fields, { field: 'file', ...task })
  return {
    path: task.translates ? '/audio/translations' : '/audio/transcriptions',
    headers: { ...bearer(route), 'content-type': contentType, accept: 'application/json' },
    body,
  }
}

function transcript(json: unknown, task: TranscriptionTask): Transcript {
  if (!isObject(json) || typeof json.text !== 'string') throw notATranscript()
  const usage = objectOf(json.usage)
  const language = textOf(json.language)
  return {
    text: json.text.trim(),
    language: language === '' ? null : language,
    seconds: secondsOf(json.duration) ?? secondsOf(usage.seconds),
    tokens: tokensOf(usage),
    segments: timedTexts(json.segments, (item) => ({
      text: textOf(item.text),
      speaker: task.diarize ? speakerOf(item.speaker) : null,
      ...scoresOf(item),
    })),
    words: timedTexts(json.words, (item) => ({ text: textOf(item.word) })),
  }
}

/** Whisper's statistics of a segment; empty for servers that use its format without reporting all of them. */
const scoresOf = (item: WireObject): Pick<TimedText, 'scores'> => {
  const { seek, temperature, avg_logprob, compression_ratio, no_speech_prob } = item
  const numbers = { seek, temperature, avg_logprob, compression_ratio, no_speech_prob }
  const known = Object.entries(numbers).filter(([, value]) => typeof value === 'number')
  if (known.length < Object.keys(numbers).length) return {}
  const [at = 0, heat = 0, logprob = 0, ratio = 0, silence = 0] = known.map(([, value]) => Number(value))
  const tokens = arrayOf(item.tokens).filter((token) => typeof token === 'number')
  const scores = {
    seek: at,
    temperature: heat,
    avg_logprob: logprob,
    compression_ratio: ratio,
    no_speech_prob: silence,
  }
  return { scores: { ...scores, tokens } }
}

const tokensOf = (usage: { readonly [field: string]: unknown }): TokenUsage | null => {
  if (usage.type !== 'tokens') return null
  return counted((count) => ({
    ...{ inputTokens: count(usage.input_tokens), outputTokens: count(usage.output_tokens) },
    ...{ cachedTokens: 0, reasoningTokens: 0 },
  }))
}

/** Failure for a successful status whose body is not a transcript. */
export const notATranscript = () =>
  refused(new ModelError('provider_error', 'The provider returned something other than a transcript.'))
