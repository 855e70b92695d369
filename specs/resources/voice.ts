import { anyKeyOrDashboard, publicAccess } from '../access.ts'
import { answersBytes, answersEither, answersJson } from '../answer.ts'
import { audioContainers, audioFormats, audioTypes, maxAudioBytes, maxSpeechChars, transcriptForms } from '../audio.ts'
import { defineOperations } from '../declare.ts'
import type { ErrorCode } from '../errors.ts'
import {
  array,
  boolean,
  constant,
  described,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
} from '../schema.ts'

const model = described(
  optional(string({ minLength: 1, maxLength: 256 })),
  '`model` or `provider/model`. `auto` lets the server choose among models of your own keys, the fastest first.',
)

const language = optional(string({ pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$' }))

const refusals: readonly ErrorCode[] = [
  'bad_request',
  'provider_not_configured',
  'request_loop',
  'byok_required',
  'credit_balance_exhausted',
  'budget_exceeded',
  'price_unknown',
  'rate_limit_exceeded',
  'provider_refused',
  'provider_error',
]

const range = nullable(object({ min: number(), max: number() }))

const languages = described(
  nullable(array(string())),
  'ISO 639-1; null when the provider lists about a hundred, or hears it from the text.',
)

const speechRow = {
  id: string(),
  provider: string(),
  voices: array(string()),
  default_voice: string(),
  formats: array(oneOf(...audioFormats)),
  max_input_chars: integer(),
  languages,
} as const

const speechModel = object(
  {
    ...speechRow,
    supports_streaming: boolean(),
    speed: described(range, 'null: the speed cannot be changed.'),
    temperature: described(range, 'null: it has no effect.'),
    custom_voices: described(boolean(), 'Ids of your own voices at the provider are taken beside those listed.'),
  },
  { title: 'SpeechModel' },
)

const transcriptionModel = object(
  {
    id: string(),
    provider: string(),
    response_formats: array(oneOf(...transcriptForms)),
    supports_diarization: boolean(),
    languages,
    max_file_bytes: integer(),
  },
  { title: 'TranscriptionModel' },
)

const transcript = object(
  {
    text: string(),
    usage: optional(object({ type: constant('duration'), seconds: integer() })),
    task: optional(constant('transcribe')),
    language: optional(nullable(string())),
    duration: described(optional(nullable(number())), 'Seconds.'),
    segments: optional(
      array(object({ id: integer(), start: number(), end: number(), text: string(), speaker: optional(string()) })),
    ),
    words: optional(array(object({ word: string(), start: number(), end: number(), speaker: optional(string()) }))),
  },
  { title: 'Transcript' },
)

const transcriptForm = optional(oneOf(...transcriptForms))
const audioFormat = optional(oneOf(...audioFormats))

/** Requests a minute of one project, both directions together (interface "Limits"). */
export const voiceRequestsPerMinute = 60

/** What a form has around its file. */
const formSlackBytes = 64 * 1024

/** Files a little over the limit are refused with its name, not with the connection. */
const maxFormBytes = maxAudioBytes + 7 * 1024 * 1024 + formSlackBytes

/** Speech out of text (interface "Voice API" and "Audio, classic paths": the same with both spellings). */
export const speech = defineOperations('speech', {
  speak: {
    summary: 'Make text speech',
    method: 'POST',
    path: '/v1/audio/speech',
    alsoAt: ['/api/ai/audio/speech'],
    access: anyKeyOrDashboard,
    attributed: true,
    body: object({
      input: string({ minLength: 1, maxLength: maxSpeechChars }),
      model,
      voice: optional(string({ minLength: 1, maxLength: 128 })),
      response_format: audioFormat,
      responseFormat: audioFormat,
      speed: optional(number({ min: 0.25, max: 4 })),
      temperature: optional(number({ min: 0, max: 2 })),
      language,
      instructions: optional(string({ maxLength: maxSpeechChars })),
      stream: optional(boolean()),
      stream_format: described(optional(constant('audio')), 'Events are not offered.'),
    }),
    answer: answersBytes(...Object.values(audioTypes)),
    errors: refusals,
    envelope: 'flat',
    unknownFields: 'ignore',
    idempotency: 'stored',
  },
  models: {
    summary: 'List the speech models',
    method: 'GET',
    path: '/v1/audio/speech',
    alsoAt: ['/api/ai/audio/speech'],
    access: publicAccess,
    answer: answersJson(
      object({ models: array(speechModel), formats: array(oneOf(...audioFormats)), supports_streaming: boolean() }),
    ),
    envelope: 'flat',
    tagged: true,
    headers: [['cache-control', 'public, s-maxage=3600']],
  },
  voices: {
    summary: 'List the voices of every speech model',
    method: 'GET',
    path: '/v1/audio/voices',
    alsoAt: ['/api/ai/audio/voices'],
    access: publicAccess,
    answer: answersJson(object({ models: array(object(speechRow, { title: 'ModelVoices' })) })),
    envelope: 'flat',
    tagged: true,
    headers: [['cache-control', 'public, s-maxage=3600']],
  },
})

/** Text out of speech. */
export const transcriptions = defineOperations('transcriptions', {
  transcribe: {
    summary: 'Transcribe an audio file',
    method: 'POST',
    path: '/v1/audio/transcriptions',
    alsoAt: ['/api/ai/audio/transcriptions'],
    access: anyKeyOrDashboard,
    attributed: true,
    files: { fields: ['file'], orJson: false },
    maxBodyBytes: maxFormBytes,
    body: object({
      model,
      language,
      prompt: optional(string({ maxLength: maxSpeechChars })),
      temperature: optional(number({ min: 0, max: 1 })),
      diarize: optional(boolean()),
      response_format: transcriptForm,
      responseFormat: transcriptForm,
      stream: described(
        optional(boolean()),
        'As events, of the form json only: one delta, when the transcript is whole.',
      ),
    }),
    answer: answersEither(
      answersJson(transcript),
      answersBytes('text/plain', 'application/x-subrip', 'text/vtt', 'text/event-stream'),
    ),
    errors: refusals,
    envelope: 'flat',
    unknownFields: 'ignore',
    idempotency: 'stored',
  },
  models: {
    summary: 'List the transcription models',
    method: 'GET',
    path: '/v1/audio/transcriptions',
    alsoAt: ['/api/ai/audio/transcriptions'],
    access: publicAccess,
    answer: answersJson(
      object({
        models: array(transcriptionModel),
        containers: array(oneOf(...audioContainers)),
        response_formats: array(oneOf(...transcriptForms)),
        max_file_bytes: integer(),
      }),
    ),
    envelope: 'flat',
    tagged: true,
    headers: [['cache-control', 'public, s-maxage=3600']],
  },
})
