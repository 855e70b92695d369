import { anyKeyOrDashboard, publicAccess } from '#specs/access.ts'
import {
  audioContainers,
  audioFormats,
  audioTypes,
  maxAudioBytes,
  maxSpeechChars,
  transcriptForms,
} from '#specs/audio.ts'
import { answersBytes, answersEither, answersFrames, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  described,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  union,
} from '#specs/dsl/schema.ts'
import type { ErrorCode } from '#specs/errors/errors.ts'
import { maybe } from './shapes/chat-shapes.ts'

const modelId = described(
  string({ minLength: 1, maxLength: 256 }),
  'Model id, or `provider/model`. `auto` chooses the fastest model of your own keys.',
)

const languageTag = string({ pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$' })

const refusals: readonly ErrorCode[] = [
  'bad_request',
  'provider_not_configured',
  'provider_not_active',
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
  'Languages as ISO 639-1 codes. Null if the model detects the language or supports about a hundred.',
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
    speed: described(range, 'Range of `speed`. Null when the speed cannot be changed.'),
    temperature: described(range, 'Range of `temperature`. Null when it has no effect.'),
    custom_voices: described(boolean(), 'Whether ids of your own voices at the provider are accepted.'),
  },
  { title: 'SpeechModel', description: 'A model that turns text into speech.' },
)

const transcriptionModel = object(
  {
    id: string(),
    provider: string(),
    response_formats: array(oneOf(...transcriptForms)),
    supports_diarization: boolean(),
    supports_translation: described(boolean(), 'Whether `/v1/audio/translations` accepts the model.'),
    languages,
    max_file_bytes: integer(),
  },
  { title: 'TranscriptionModel', description: 'A model that turns speech into text.' },
)

const speaker = optional(string())

const transcript = object(
  {
    text: string(),
    usage: described(
      optional(object({ type: oneOf('duration', 'tokens') }, { open: true })),
      'What the provider charges by: seconds of audio, or tokens.',
    ),
    task: optional(oneOf('transcribe', 'translate')),
    language: described(optional(string()), 'Language as reported by the provider; empty if it does not report one.'),
    duration: described(optional(number()), 'Length of the audio in seconds.'),
    segments: described(
      optional(
        array(
          object(
            { id: union([integer(), string()]), start: number(), end: number(), text: string(), speaker },
            { open: true },
          ),
        ),
      ),
      'Segments with the scores that Whisper reports; neutral values for other models.',
    ),
    words: optional(array(object({ word: string(), start: number(), end: number(), speaker }))),
  },
  { title: 'Transcript', description: 'Text of an audio file.' },
)

/** The data of each event of streamed audio. */
const speechEvent = object(
  {
    type: oneOf('speech.audio.delta', 'speech.audio.done'),
    audio: optional(string({ description: 'Audio in base64.' })),
  },
  { title: 'SpeechAudioEvent', description: "An event of streamed audio in the format of OpenAI's API.", open: true },
)

/** The data of each event of a streamed transcript. */
const transcriptEvent = object(
  {
    type: oneOf('transcript.text.delta', 'transcript.text.segment', 'transcript.text.done'),
    delta: optional(string()),
    text: optional(string()),
  },
  {
    title: 'TranscriptTextEvent',
    description: "An event of a streamed transcript in the format of OpenAI's API.",
    open: true,
  },
)

const transcriptForm = optional(oneOf(...transcriptForms))
const translationForm = optional(oneOf('json', 'text', 'srt', 'vtt', 'verbose_json'))
const audioFormat = maybe(oneOf(...audioFormats))

/** Maximum number of requests per project and minute, for speech and transcription together. */
export const voiceRequestsPerMinute = 60

/** Overhead of a form around its file. */
const formSlackBytes = 64 * 1024

/** More than the largest file, so that a slightly larger file results in an error instead of a closed connection. */
const maxFormBytes = maxAudioBytes + 7 * 1024 * 1024 + formSlackBytes

/** Text to speech, under the current and the legacy paths. */
export const speech = defineOperations('speech', {
  speak: {
    summary: 'Create speech',
    description: 'Converts text to audio. Audio is streamed as it is generated, where the model supports streaming.',
    method: 'POST',
    path: '/v1/audio/speech',
    alsoAt: ['/api/ai/audio/speech'],
    access: anyKeyOrDashboard,
    attributed: true,
    body: object({
      input: string({ minLength: 1, maxLength: maxSpeechChars }),
      model: maybe(modelId),
      voice: maybe(string({ minLength: 1, maxLength: 128 })),
      response_format: audioFormat,
      responseFormat: audioFormat,
      speed: maybe(number({ min: 0.25, max: 4 })),
      temperature: maybe(number({ min: 0, max: 2 })),
      language: maybe(languageTag),
      instructions: maybe(string({ maxLength: maxSpeechChars })),
      stream: maybe(boolean()),
      stream_format: described(
        maybe(oneOf('audio', 'sse')),
        '`sse` sends the audio as events with base64: `speech.audio.delta`, then `speech.audio.done`.',
      ),
    }),
    answer: answersFrames(speechEvent, ...Object.values(audioTypes)),
    errors: refusals,
    envelope: 'flat',
    sdkEnvelopes: ['openai'],
    unknownFields: 'ignore',
    idempotency: 'stored',
  },
  models: {
    summary: 'List speech models',
    description:
      'Returns the models that `speech.speak` serves, with their voices, and the audio formats of its answers.',
    method: 'GET',
    path: '/v1/audio/speech',
    alsoAt: ['/api/ai/audio/speech'],
    access: publicAccess,
    answer: isJsonResponse(
      object({ models: array(speechModel), formats: array(oneOf(...audioFormats)), supports_streaming: boolean() }),
    ),
    envelope: 'flat',
    sdkEnvelopes: ['openai'],
    tagged: true,
    headers: [['cache-control', 'public, s-maxage=3600']],
  },
  voices: {
    summary: 'List voices',
    description: 'Returns the voices of every speech model.',
    method: 'GET',
    path: '/v1/audio/voices',
    alsoAt: ['/api/ai/audio/voices'],
    access: publicAccess,
    answer: isJsonResponse(
      object({ models: array(object(speechRow, { title: 'ModelVoices', description: 'Voices of a speech model.' })) }),
    ),
    envelope: 'flat',
    sdkEnvelopes: ['openai'],
    tagged: true,
    headers: [['cache-control', 'public, s-maxage=3600']],
  },
})

/** Speech to text. */
export const transcriptions = defineOperations('transcriptions', {
  transcribe: {
    summary: 'Create a transcription',
    description: 'Transcribes an audio file of at most 25 MB.',
    method: 'POST',
    path: '/v1/audio/transcriptions',
    alsoAt: ['/api/ai/audio/transcriptions'],
    access: anyKeyOrDashboard,
    attributed: true,
    files: { fields: ['file'], orJson: false },
    maxBodyBytes: maxFormBytes,
    body: object({
      model: optional(modelId),
      language: optional(languageTag),
      prompt: optional(string({ maxLength: maxSpeechChars })),
      temperature: optional(number({ min: 0, max: 1 })),
      diarize: optional(boolean()),
      response_format: transcriptForm,
      responseFormat: transcriptForm,
      stream: described(
        optional(boolean()),
        'Whether to send the transcript as server-sent events. Supported for `json`, with the whole text as one delta, and `diarized_json`, with one event per segment.',
      ),
    }),
    answer: answersEither(
      isJsonResponse(transcript),
      answersFrames(transcriptEvent, 'text/plain', 'application/x-subrip', 'text/vtt'),
    ),
    errors: refusals,
    envelope: 'flat',
    sdkEnvelopes: ['openai'],
    unknownFields: 'ignore',
    idempotency: 'stored',
  },
  translate: {
    summary: 'Create a translation',
    description:
      'Translates the speech in an audio file of at most 25 MB, in any supported language, into English text.',
    method: 'POST',
    path: '/v1/audio/translations',
    alsoAt: ['/api/ai/audio/translations'],
    access: anyKeyOrDashboard,
    attributed: true,
    files: { fields: ['file'], orJson: false },
    maxBodyBytes: maxFormBytes,
    body: object({
      model: optional(modelId),
      prompt: optional(string({ maxLength: maxSpeechChars })),
      temperature: optional(number({ min: 0, max: 1 })),
      response_format: translationForm,
    }),
    answer: answersEither(isJsonResponse(transcript), answersBytes('text/plain', 'application/x-subrip', 'text/vtt')),
    errors: refusals,
    envelope: 'flat',
    sdkEnvelopes: ['openai'],
    unknownFields: 'ignore',
    idempotency: 'stored',
  },
  models: {
    summary: 'List transcription models',
    description: 'Returns the models that `transcriptions.transcribe` serves, and the audio containers that it reads.',
    method: 'GET',
    path: '/v1/audio/transcriptions',
    alsoAt: ['/api/ai/audio/transcriptions'],
    access: publicAccess,
    answer: isJsonResponse(
      object({
        models: array(transcriptionModel),
        containers: array(oneOf(...audioContainers)),
        response_formats: array(oneOf(...transcriptForms)),
        max_file_bytes: integer(),
      }),
    ),
    envelope: 'flat',
    sdkEnvelopes: ['openai'],
    tagged: true,
    headers: [['cache-control', 'public, s-maxage=3600']],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly speech: typeof speech
    readonly transcriptions: typeof transcriptions
  }
}
