import type { Route } from '#gateway/call/routes.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import type { AudioContainer, AudioFormat } from '#specs/audio.ts'

/** A POST in a provider's words. */
export interface VoiceRequest {
  /** What follows the route's base URL; begins with a slash, may have a query. */
  readonly path: string
  /** Lower-case names; the key's among them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

/** A text to speak, checked against its model. */
export interface SpeechTask {
  readonly text: string
  /** As the provider knows it. */
  readonly voice: string
  readonly format: AudioFormat
  /** null: the provider's usual one. */
  readonly speed: number | null
  readonly temperature: number | null
  /** ISO 639-1, perhaps with a region; null: not said. */
  readonly language: string | null
  /** How to speak, in words; where a model takes such. */
  readonly instructions: string | null
  /** The audio is handed on as it is made. */
  readonly streamed: boolean
}

/** Takes the audio out of an answer's bytes. */
export interface AudioReader {
  /** Audio that the bytes complete; often all of them. @throws {AttemptFailed} on what is no answer of the format. */
  push(bytes: Buffer): readonly Buffer[]
  /** What had to wait for the end. @throws {AttemptFailed} `provider_stream_broken` when the answer is not whole. */
  end(): readonly Buffer[]
  /** Counted by the provider; null where it counts none. Known at the end. */
  readonly tokens: TokenUsage | null
}

/** How speech is requested of a provider. Pure. */
export interface SpeechFormat {
  request(task: SpeechTask, route: Route): VoiceRequest
  reader(task: SpeechTask): AudioReader
}

/** Audio to make text. */
export interface TranscriptionTask {
  readonly bytes: Uint8Array
  readonly container: AudioContainer
  readonly language: string | null
  /** Words that may occur, or how to write; where a model takes such. */
  readonly prompt: string | null
  readonly temperature: number | null
  readonly diarize: boolean
  /** English text is wanted, whatever is spoken. */
  readonly translates: boolean
  /** Times are needed: of segments or of words, as the model gives them. */
  readonly timed: boolean
}

/** What Whisper says of a segment beside its text. */
export interface SegmentScores {
  readonly seek: number
  readonly tokens: number[]
  readonly temperature: number
  readonly avg_logprob: number
  readonly compression_ratio: number
  readonly no_speech_prob: number
}

/** Words that were spoken from `start` to `end`, in seconds. */
export interface TimedText {
  readonly start: number
  readonly end: number
  readonly text: string
  /** null: not requested, or not known. */
  readonly speaker: string | null
  /** How sure Whisper is of a segment, in its own words. */
  readonly scores?: SegmentScores
}

/** What was said, as the provider answered. */
export interface Transcript {
  readonly text: string
  /** As the provider names it; null when it does not. */
  readonly language: string | null
  /** Seconds of audio as the provider reported them: what is charged goes by it. */
  readonly seconds: number | null
  readonly tokens: TokenUsage | null
  /** Empty where the model gives none. */
  readonly segments: readonly TimedText[]
  readonly words: readonly TimedText[]
}

/** How a transcript is requested of a provider. Pure. */
export interface TranscriptionFormat {
  request(task: TranscriptionTask, route: Route): VoiceRequest
  /** @param json the parsed body of a good answer. @throws {AttemptFailed} when it is none of the format. */
  transcript(json: unknown, task: TranscriptionTask): Transcript
}

/** What a wire format has of both. */
export interface VoiceFormat {
  readonly speech: SpeechFormat
  readonly transcription: TranscriptionFormat
}
