import type { Route } from '#gateway/call/routes.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import type { AudioContainer, AudioFormat } from '#specs/audio.ts'

/** A POST request in the provider's format. */
export interface VoiceRequest {
  /** Path to append to the route's base URL; begins with a slash, may include a query. */
  readonly path: string
  /** Lower-case names, including the header with the API key. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

/** A text to speak, already validated against the limits of its model. */
export interface SpeechTask {
  readonly text: string
  /** Voice by the provider's name or id. */
  readonly voice: string
  readonly format: AudioFormat
  /** null: the provider's default. */
  readonly speed: number | null
  readonly temperature: number | null
  /** ISO 639-1, optionally with a region; null: not given. */
  readonly language: string | null
  /** Free-text instructions on how to speak; only used by models that accept them. */
  readonly instructions: string | null
  /** Whether the audio is sent to the caller as it is generated. */
  readonly streamed: boolean
}

/** Extracts the audio from the bytes of a response. */
export interface AudioReader {
  /** Returns the audio completed by these bytes. @throws {AttemptFailed} when they are not in the format. */
  push(bytes: Buffer): readonly Buffer[]
  /** Returns the remaining audio. @throws {AttemptFailed} `provider_stream_broken` when the response is truncated. */
  end(): readonly Buffer[]
  /** Usage reported by the provider; null where it reports none. Known only after `end`. */
  readonly tokens: TokenUsage | null
}

/** A provider's text-to-speech API. Pure: it builds requests and parses responses, and sends nothing. */
interface SpeechFormat {
  request(task: SpeechTask, route: Route): VoiceRequest
  reader(task: SpeechTask): AudioReader
}

/** Audio to transcribe. */
export interface TranscriptionTask {
  readonly bytes: Uint8Array
  readonly container: AudioContainer
  readonly language: string | null
  /** Words that may occur, or a sample of the desired style; only used by models that accept it. */
  readonly prompt: string | null
  readonly temperature: number | null
  readonly diarize: boolean
  /** Whether to translate the speech into English. */
  readonly translates: boolean
  /** Whether timestamps are needed: of segments or of words, whichever the model provides. */
  readonly timed: boolean
}

/** Decoder statistics that Whisper reports for a segment, with its field names. */
interface SegmentScores {
  readonly seek: number
  readonly tokens: number[]
  readonly temperature: number
  readonly avg_logprob: number
  readonly compression_ratio: number
  readonly no_speech_prob: number
}

/** Text that was spoken from `start` to `end`, in seconds. */
export interface TimedText {
  readonly start: number
  readonly end: number
  readonly text: string
  /** null: not requested, or not known. */
  readonly speaker: string | null
  /** Whisper's statistics of a segment; absent for words and for other models. */
  readonly scores?: SegmentScores
}

/** A transcript as returned by the provider. */
export interface Transcript {
  readonly text: string
  /** Language as named by the provider; null when it names none. */
  readonly language: string | null
  /** Length of the audio in seconds as reported by the provider: transcription priced by time is charged by it. */
  readonly seconds: number | null
  readonly tokens: TokenUsage | null
  /** Empty where the model gives none. */
  readonly segments: readonly TimedText[]
  readonly words: readonly TimedText[]
}

/** A provider's speech-to-text API. Pure: it builds requests and parses responses, and sends nothing. */
interface TranscriptionFormat {
  request(task: TranscriptionTask, route: Route): VoiceRequest
  /** @param json the parsed body of a successful response. @throws {AttemptFailed} when it is not in the format. */
  transcript(json: unknown, task: TranscriptionTask): Transcript
}

/** The speech and transcription APIs of one wire format. */
export interface VoiceFormat {
  readonly speech: SpeechFormat
  readonly transcription: TranscriptionFormat
}
