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

/** A transcript in the format requested by the caller. */
export type TranscriptAnswer =
  | { readonly json: TranscriptDocument }
  | { readonly bytes: { readonly contentType: string; readonly bytes: string } }

/**
 * Response documents as OpenAI's SDKs read them: `json` has the text and usage; the others also have segments and
 * times.
 */
type TranscriptDocument = Transcription | VerboseDocument | TranscriptionDiarized

/** OpenAI's document, with speakers where requested, and the task. */
type VerboseDocument = Omit<TranscriptionVerbose, 'segments' | 'words'> & {
  readonly task: TranscriptTask
  readonly segments: readonly (TranscriptionSegment & Speaker)[]
  readonly words?: readonly ({ readonly word: string; readonly start: number; readonly end: number } & Speaker)[]
}

interface Speaker {
  readonly speaker?: string
}

/** The task performed on the audio. */
type TranscriptTask = 'transcribe' | 'translate'

/** Options of a transcript response. */
export interface AnswerOptions {
  readonly form: TranscriptForm
  readonly task: TranscriptTask
  /** Length in seconds according to the file's headers, for providers that do not report it. */
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
 * Formats a transcript as the events of OpenAI's streams. No provider streams transcripts, so all events are sent when
 * the transcript is complete: one segment event per segment of a diarized transcript, otherwise one delta.
 */
export const transcriptEvents = (transcript: Transcript, form: TranscriptForm): TranscriptAnswer => {
  const { text } = transcript
  const tokens = tokensOf(transcript)
  const events: readonly TranscriptionStreamEvent[] = [
    ...(form === 'diarized_json'
      ? diarizedSegments(transcript)
      : [{ type: 'transcript.text.delta' as const, delta: text }]),
    // OpenAI's event has usage in tokens only
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

/** Neutral values of Whisper's segment statistics, for transcripts of other models. */
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

/** Usage in the provider's billing unit: tokens where it counts them, else seconds. */
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
