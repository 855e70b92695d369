import type { TranscriptForm } from '#specs/audio.ts'
import type { TimedText, Transcript } from '../providers/voice/voice-format.ts'
import { cuesOf, srtOf, vttOf } from './cues.ts'

/** A transcript in the form that the caller wants. */
export type TranscriptAnswer =
  | { readonly json: TranscriptDocument }
  | { readonly bytes: { readonly contentType: string; readonly bytes: string } }

/** `json` has the text and what is charged by; `verbose_json` the rest too. */
export interface TranscriptDocument {
  readonly text: string
  readonly usage?: { readonly type: 'duration'; readonly seconds: number }
  readonly task?: 'transcribe'
  readonly language?: string | null
  readonly duration?: number | null
  readonly segments?: readonly DocumentSegment[]
  readonly words?: readonly DocumentWord[]
}

interface DocumentSegment {
  readonly id: number
  readonly start: number
  readonly end: number
  readonly text: string
  readonly speaker?: string
}

interface DocumentWord {
  readonly word: string
  readonly start: number
  readonly end: number
  readonly speaker?: string
}

/** @param measured seconds by the file's own headers, for where the provider does not say. */
export const transcriptAnswer = (
  transcript: Transcript,
  form: TranscriptForm,
  measured: number | null,
): TranscriptAnswer => {
  const { text } = transcript
  switch (form) {
    case 'text':
      return plain('text/plain; charset=utf-8', `${text}\n`)
    case 'srt':
      return plain('application/x-subrip; charset=utf-8', srtOf(cuesOf(transcript)))
    case 'vtt':
      return plain('text/vtt; charset=utf-8', vttOf(cuesOf(transcript)))
    case 'json':
      return { json: { text, ...usageOf(transcript) } }
    case 'verbose_json':
      return { json: verbose(transcript, measured) }
  }
}

/**
 * A transcript as the events that OpenAI streams one in. No provider is asked for a stream of its own: there is one delta,
 * when the transcript is whole.
 */
export const transcriptEvents = (transcript: Transcript): TranscriptAnswer => {
  const { text } = transcript
  const events = [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, ...usageOf(transcript) },
  ]
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return plain('text/event-stream; charset=utf-8', frames.join(''))
}

const plain = (contentType: string, bytes: string): TranscriptAnswer => ({ bytes: { contentType, bytes } })

const verbose = (transcript: Transcript, measured: number | null): TranscriptDocument => {
  const { text, language, seconds, words } = transcript
  return {
    task: 'transcribe',
    language,
    duration: seconds ?? measured,
    text,
    segments: cuesOf(transcript).map((cue, id) => ({ id, ...timed(cue), text: cue.text })),
    ...(words.length > 0 && { words: words.map((word) => ({ word: word.text, ...timed(word) })) }),
    ...usageOf(transcript),
  }
}

const timed = ({ start, end, speaker }: TimedText) => ({ start, end, ...(speaker !== null && { speaker }) })

const usageOf = ({ seconds }: Transcript) =>
  seconds === null ? {} : { usage: { type: 'duration' as const, seconds: Math.ceil(seconds) } }
