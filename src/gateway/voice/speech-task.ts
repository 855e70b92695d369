import { type AudioFormat, audioFormats } from '#specs/audio.ts'
import type { Range, SpeechModel, Voice } from '#specs/data/speech-models.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { primaryLanguage } from '../providers/voice/primary-language.ts'
import type { SpeechTask } from '../providers/voice/voice-format.ts'

/** A speech request as sent by the caller. */
export interface SpeechRequest {
  readonly text: string
  readonly voice: string | null
  readonly format: AudioFormat | null
  readonly speed: number | null
  readonly temperature: number | null
  readonly language: string | null
  readonly instructions: string | null
  readonly streamed: boolean
  /** Whether the audio is returned as events with base64 instead of as plain bytes. */
  readonly events: boolean
}

/** Error for a value that a model does not accept; the message names what it does accept. */
export const unsupportedValue = (param: string, message: string): ServiceError =>
  new ServiceError('bad_request', { param, message })

/**
 * Returns the task of one model for a request.
 *
 * @param otherVoice how to treat a voice that the model does not have: refuse it, or use the model's default (the
 * auto-router).
 * @throws {ServiceError} `bad_request` with `param` for what the model cannot do.
 */
export const speechTask = (
  model: SpeechModel,
  request: SpeechRequest,
  otherVoice: 'refuse' | 'default',
): SpeechTask => {
  const { text, speed, temperature, language, instructions, streamed } = request
  checkLength(model, text)
  checkRange('speed', speed, model.speed ?? { min: 1, max: 1 })
  if (model.temperature !== null) checkRange('temperature', temperature, model.temperature)
  checkLanguage(model, language)
  const voice = voiceOf(model, request, otherVoice)
  return {
    text,
    voice: voice.wire ?? voice.id,
    format: formatOf(model, request.format),
    speed: model.speed === null ? null : speed,
    temperature: model.temperature === null ? null : temperature,
    // a voice with a single language determines the language
    language: language ?? voice.language ?? null,
    instructions,
    streamed: streamed && model.streams,
  }
}

/** Returns the task for a server of which only the wire format is known: the request is sent unvalidated. */
export const plainTask = ({ events: _events, ...request }: SpeechRequest): SpeechTask => ({
  ...request,
  voice: request.voice ?? 'alloy',
  format: request.format ?? 'mp3',
  temperature: null,
})

/** @throws {ServiceError} `bad_request` for a language that the model does not list. */
export const checkLanguage = (
  { id, languages }: { readonly id: string; readonly languages: readonly string[] | null },
  language: string | null,
): void => {
  if (language === null || languages === null || languages.includes(primaryLanguage(language))) return
  throw unsupportedValue('language', `${id} accepts the languages ${languages.join(', ')}.`)
}

function checkLength({ id, maxInputChars }: SpeechModel, text: string): void {
  const length = charactersOf(text)
  if (length > maxInputChars)
    throw unsupportedValue('input', `${id} accepts at most ${maxInputChars} characters; the input has ${length}.`)
}

/** Counts code points, the unit of limits and prices. */
export const charactersOf = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

function checkRange(param: string, value: number | null, { min, max }: Range): void {
  if (value === null || (value >= min && value <= max)) return
  throw unsupportedValue(
    param,
    min === max
      ? `This model supports only the ${param} ${min}.`
      : `This model supports a ${param} from ${min} to ${max}.`,
  )
}

function formatOf({ id, formats }: SpeechModel, requested: AudioFormat | null): AudioFormat {
  if (requested === null) return formats.includes('mp3') ? 'mp3' : (formats[0] ?? audioFormats[0])
  if (formats.includes(requested)) return requested
  throw unsupportedValue('response_format', `${id} gives ${formats.join(', ')}; not ${requested}.`)
}

function voiceOf(model: SpeechModel, { voice, language }: SpeechRequest, otherVoice: 'refuse' | 'default'): Voice {
  if (voice === null) return defaultVoice(model, language)
  const listed = findVoice(model, voice)
  if (listed !== undefined) return listed
  if (model.ownVoices?.test(voice)) return { id: voice }
  if (otherVoice === 'default') return defaultVoice(model, language)
  throw unsupportedValue(
    'voice',
    `${model.id} has no such voice. It has ${model.voices.map(({ id }) => id).join(', ')}.`,
  )
}

const findVoice = ({ voices }: SpeechModel, nameOrId: string): Voice | undefined => {
  const name = nameOrId.toLowerCase()
  return voices.find(({ id, wire }) => id.toLowerCase() === name || wire === nameOrId)
}

/** Returns the default voice; if voices are bound to languages, one that speaks the requested language. */
const defaultVoice = (model: SpeechModel, language: string | null): Voice => {
  const usual = findVoice(model, model.defaultVoice) ?? { id: model.defaultVoice }
  if (language === null || usual.language === undefined) return usual
  return model.voices.find((voice) => voice.language === primaryLanguage(language)) ?? usual
}
