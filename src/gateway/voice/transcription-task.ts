import type { TranscriptForm } from '#specs/audio.ts'
import type { TranscriptionModel } from '#specs/data/transcription-models.ts'
import type { TranscriptionTask } from '../providers/voice/voice-format.ts'
import { type AudioFile, checkSize } from './audio-file.ts'
import { checkLanguage, unsupportedValue } from './speech-task.ts'

/** A transcription request as sent by the caller. */
export interface TranscriptionRequest {
  readonly file: AudioFile
  readonly form: TranscriptForm
  readonly language: string | null
  readonly prompt: string | null
  readonly temperature: number | null
  readonly diarize: boolean
  /** Whether to translate the speech into English. */
  readonly translates: boolean
  /** Whether the transcript is returned as events; only valid for `json` and `diarized_json`. */
  readonly streamed: boolean
}

/**
 * Checks that the format can be streamed: like OpenAI's, events carry text, or segments with speakers.
 * @throws {ServiceError} `bad_request` for `stream`
 */
export const checkStreamed = ({ form, streamed }: TranscriptionRequest): void => {
  if (!streamed || form === 'json' || form === 'diarized_json') return
  throw unsupportedValue('stream', `A stream requires the response_format json or diarized_json, not ${form}.`)
}

/** Returns the task of a model. @throws {ServiceError} `bad_request` with `param` for what the model cannot do. */
export const transcriptionTask = (model: TranscriptionModel, request: TranscriptionRequest): TranscriptionTask => {
  const { form, diarize, language, file } = request
  if (!model.forms.includes(form)) {
    throw unsupportedValue(
      'response_format',
      `${model.id} gives ${model.forms.join(', ')}; not ${form}, which needs ${form === 'diarized_json' ? 'speakers' : 'times'}.`,
    )
  }
  if (request.translates && !model.translates) throw unsupportedValue('model', `${model.id} does not translate.`)
  if (diarize && !model.diarizes) throw unsupportedValue('diarize', `${model.id} does not distinguish speakers.`)
  checkLanguage(model, language)
  checkSize(file.bytes.length, model.maxBytes)
  return plainTranscription(request)
}

/** Returns the task for a server of which only the wire format is known. */
export const plainTranscription = (request: TranscriptionRequest): TranscriptionTask => {
  const { form, file, language, prompt, temperature, translates } = request
  const diarize = request.diarize || form === 'diarized_json'
  return { ...file, language, prompt, temperature, diarize, translates, timed: form !== 'json' && form !== 'text' }
}
