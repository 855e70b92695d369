import type {
  Transcription,
  TranscriptionDiarized,
  TranscriptionDiarizedSegment,
  TranscriptionSegment,
  TranscriptionStreamEvent,
  TranscriptionVerbose,
} from 'openai/resources/audio/transcriptions'
import type { TranscriptForm } from '#specs/audio.ts'
import type { TimedText, Transcript } from '../providers/voice/voice-format.ts'
import { cuesOf, srtOf, subtitlesOf, vttOf } from './cues.ts'

/** A transcript in the form that the caller wants. */
export type TranscriptAnswer =
  | { readonly json: TranscriptDocument }
  | { readonly bytes: { readonly contentType: string; readonly bytes: string } }

/** As OpenAI's SDKs read it: `json` has the text and what is charged by; the others have the rest, too. */
export type TranscriptDocument = Transcription | VerboseDocument | TranscriptionDiarized

/** OpenAI's, with speakers where they were requested, and the task that was done. */
type VerboseDocument = Omit<TranscriptionVerbose, 'segments' | 'words'> & {
  readonly task: TranscriptTask
  readonly segments: readonly (TranscriptionSegment & Speaker)[]
  readonly words?: readonly ({ readonly word: string; readonly start: number; readonly end: number } & Speaker)[]
}

interface Speaker {
  readonly speaker?: string
}

/** What was done with the audio. */
export type TranscriptTask = 'transcribe' | 'translate'

/** How a transcript is written. */
export interface AnswerOptions {
  readonly form: TranscriptForm
  readonly task: TranscriptTask
  /** Seconds by the file's own headers, for where the provider does not say. */
  readonly measured: number | null
}

export const transcriptAnswer = (transcript: Transcript, options: AnswerOptions): TranscriptAnswer => {
  const { text } = transcript
  switch (options.form) {
    case 'text':
      return plain('text/plain; charset=utf-8', `${text}\n`)
    case 'srt':
      return plain('application/x-subrip; charset=utf-8', srtOf(subtitlesOf(transcript, options.measured)))
    case 'vtt':
      return plain('text/vtt; charset=utf-8', vttOf(subtitlesOf(transcript, options.measured)))
    case 'json':
      return { json: { text, ...usageOf(transcript, options.measured) } }
    case 'verbose_json':
      return { json: verbose(transcript, options) }
    case 'diarized_json':
      return { json: diarized(transcript, options) }
  }
}

/**
 * A transcript as the events that OpenAI streams one in. No provider streams them: they come when the
 * transcript is whole, a segment each of a diarized one, else one delta.
 */
export const transcriptEvents = (transcript: Transcript, form: TranscriptForm): TranscriptAnswer => {
  const { text } = transcript
  const tokens = tokensOf(transcript)
  const events: readonly TranscriptionStreamEvent[] = [
    ...(form === 'diarized_json'
      ? diarizedSegments(transcript)
      : [{ type: 'transcript.text.delta' as const, delta: text }]),
    // OpenAI's event knows tokens only
    { type: 'transcript.text.done', text, ...(tokens !== null && { usage: tokens }) },
  ]
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return plain('text/event-stream; charset=utf-8', frames.join(''))
}

const plain = (contentType: string, bytes: string): TranscriptAnswer => ({ bytes: { contentType, bytes } })

const verbose = (transcript: Transcript, { task, measured }: AnswerOptions): VerboseDocument => {
  const { text, language, words } = transcript
  const duration = durationOf(transcript, measured)
  return {
    task,
    language: task === 'translate' ? 'english' : (language ?? ''),
    duration,
    text,
    segments: cuesOf(transcript).map(segmentOf),
    ...(words.length > 0 && { words: words.map((word) => ({ word: word.text, ...timed(word) })) }),
    usage: { type: 'duration', seconds: Math.ceil(duration) },
  }
}

/** What Whisper alone knows of a segment is neutral where another model heard it. */
const unscored = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 }

const segmentOf = (cue: TimedText, id: number): TranscriptionSegment & Speaker => ({
  id,
  ...timed(cue),
  text: cue.text,
  ...unscored,
  ...cue.scores,
})

const diarized = (transcript: Transcript, { measured }: AnswerOptions): TranscriptionDiarized => ({
  task: 'transcribe',
  duration: durationOf(transcript, measured),
  text: transcript.text,
  segments: diarizedSegments(transcript),
  ...usageOf(transcript, measured),
})

const diarizedSegments = (transcript: Transcript): TranscriptionDiarizedSegment[] =>
  cuesOf(transcript).map(({ start, end, text, speaker }, at) => ({
    type: 'transcript.text.segment',
    id: `seg_${at}`,
    ...{ start, end, text, speaker: speaker ?? 'speaker_0' },
  }))

const timed = ({ start, end, speaker }: TimedText) => ({ start, end, ...(speaker !== null && { speaker }) })

const durationOf = ({ seconds }: Transcript, measured: number | null): number => seconds ?? measured ?? 0

/** What the provider charges by: tokens where it counts them, else seconds. */
const usageOf = (transcript: Transcript, measured: number | null): Pick<Transcription, 'usage'> => {
  const tokens = tokensOf(transcript)
  if (tokens !== null) return { usage: tokens }
  const seconds = transcript.seconds ?? measured
  return seconds === null ? {} : { usage: { type: 'duration', seconds: Math.ceil(seconds) } }
}

const tokensOf = ({ tokens }: Transcript): Transcription.Tokens | null => {
  if (tokens === null) return null
  const { inputTokens, outputTokens } = tokens
  return {
    type: 'tokens',
    ...{ input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
  }
}
