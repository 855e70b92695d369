import { createHash } from 'node:crypto'

/**
 * A simulated transcript: made-up words at even times, alternating between two speakers. Equal files give equal
 * transcripts.
 */
export interface HeardSpeech {
  readonly text: string
  readonly segments: readonly HeardPiece[]
  readonly words: readonly HeardPiece[]
}

/** A timed text; times are in seconds from the beginning. */
interface HeardPiece {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly speaker: string
}

const vocabulary =
  'simulated speech sounds like this when nobody listens to what the audio says and every word follows from its bytes'.split(
    ' ',
  )

const wordSeconds = 0.4
const wordsOfSegment = 6
const speakers = ['speaker_0', 'speaker_1']

/** Transcribes audio. @param seconds length of the audio. */
export const heardIn = (audio: Uint8Array, seconds: number): HeardSpeech => {
  const seed = createHash('sha256').update(audio).digest()
  const count = Math.max(1, Math.floor(seconds / wordSeconds))
  const words = Array.from({ length: count }, (_, at) => wordAt(at, seed, seconds / count))
  const segments: HeardPiece[] = []
  for (let at = 0; at < words.length; at += wordsOfSegment) {
    const spoken = words.slice(at, at + wordsOfSegment)
    const [first] = spoken
    const last = spoken.at(-1)
    if (first === undefined || last === undefined) continue
    const text = sentence(spoken.map((word) => word.text).join(' '))
    segments.push({ start: first.start, end: last.end, text, speaker: first.speaker })
  }
  return { text: segments.map(({ text }) => text).join(' '), segments, words }
}

const wordAt = (at: number, seed: Buffer, length: number): HeardPiece => ({
  start: round(at * length),
  end: round((at + 1) * length),
  text: vocabulary[((seed[at % seed.length] ?? 0) + at) % vocabulary.length] ?? '',
  speaker: speakers[Math.floor(at / wordsOfSegment) % speakers.length] ?? '',
})

const round = (seconds: number): number => Math.round(seconds * 1000) / 1000

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
