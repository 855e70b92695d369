import type { TimedText, Transcript } from '../providers/voice/voice-format.ts'

/** Maximum length of a subtitle joined from words. */
const maxChars = 84
const maxSeconds = 7
/** A silence of this length ends a subtitle. */
const pauseSeconds = 0.8

/** Returns the timed segments of a transcript: the provider's, or else its words joined into sentences. */
export const cuesOf = ({ segments, words }: Transcript): readonly TimedText[] =>
  segments.length > 0 ? segments : joined(words)

/** Returns the cues for subtitles. A transcript without any times becomes one subtitle that spans the whole audio. */
export const subtitlesOf = (transcript: Transcript, measured: number | null): readonly TimedText[] => {
  const cues = cuesOf(transcript)
  const text = transcript.text.trim()
  if (cues.length > 0 || text === '') return cues
  return [{ start: 0, end: transcript.seconds ?? measured ?? 0, text, speaker: null }]
}

const joined = (words: readonly TimedText[]): readonly TimedText[] => {
  const cues: TimedText[] = []
  for (const word of words) {
    const last = cues.at(-1)
    if (last === undefined || !fits(last, word)) cues.push(word)
    else cues[cues.length - 1] = { ...last, end: word.end, text: `${last.text} ${word.text}` }
  }
  return cues
}

const fits = (cue: TimedText, word: TimedText): boolean =>
  word.speaker === cue.speaker &&
  word.start - cue.end < pauseSeconds &&
  word.end - cue.start <= maxSeconds &&
  cue.text.length + word.text.length < maxChars &&
  !/[.!?…。！？]["')\]]?$/.test(cue.text)

/** Formats SubRip. Speaker names are prefixed to their text. */
export const srtOf = (cues: readonly TimedText[]): string =>
  cues
    .map(
      (cue, at) => `${at + 1}\n${span(cue, ',')}\n${cue.speaker === null ? '' : `${cue.speaker}: `}${line(cue.text)}\n`,
    )
    .join('\n')

/** Formats WebVTT. Speakers are voice spans. */
export const vttOf = (cues: readonly TimedText[]): string =>
  ['WEBVTT\n', ...cues.map((cue) => `${span(cue, '.')}\n${voiced(cue)}\n`)].join('\n')

const voiced = ({ text, speaker }: TimedText): string => {
  const escaped = line(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return speaker === null ? escaped : `<v ${speaker.replace(/[<>&\n]/g, '')}>${escaped}`
}

/** Removes empty lines and arrows, which would end a cue. */
const line = (text: string): string => text.replace(/(?<!\s)\s*\n\s*/g, ' ').replaceAll('-->', '→')

const span = ({ start, end }: TimedText, point: ',' | '.'): string =>
  `${timestamp(start, point)} --> ${timestamp(end, point)}`

const timestamp = (seconds: number, point: ',' | '.'): string => {
  const ms = Math.round(seconds * 1000)
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60]
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(h)}:${two(m)}:${two(s)}${point}${String(ms % 1000).padStart(3, '0')}`
}
