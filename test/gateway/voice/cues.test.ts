import { describe, expect, it } from 'vitest'
import type { TimedText } from '#gateway/providers/voice/voice-format.ts'
import { cuesOf, srtOf, subtitlesOf, vttOf } from '#gateway/voice/cues.ts'

const transcript = (words: readonly TimedText[]) => ({
  text: '',
  language: null,
  seconds: null,
  tokens: null,
  segments: [],
  words,
})

const word = (text: string, start: number, end = start + 0.3, speaker: string | null = null): TimedText => ({
  text,
  start,
  end,
  speaker,
})

const texts = (words: readonly TimedText[]) => cuesOf(transcript(words)).map(({ text }) => text)

describe('subtitle cues', () => {
  it.each([
    ['at the end of a sentence', [word('Hello', 0), word('there!', 0.3), word('You', 0.6)], ['Hello there!', 'You']],
    ['at a silence', [word('one', 0), word('two', 1.2)], ['one', 'two']],
    ['when another speaks', [word('me', 0, 0.3, 'a'), word('you', 0.3, 0.6, 'b')], ['me', 'you']],
  ])('end %s', (_, words, expected) => {
    expect(texts(words)).toEqual(expected)
  })

  it('contain all words in at most 84 characters and 7 seconds each', () => {
    const words = Array.from({ length: 60 }, (_, at) => word(`word${at}`, at * 0.4, at * 0.4 + 0.35))
    const cues = cuesOf(transcript(words))
    expect(cues.map(({ text }) => text).join(' ')).toBe(words.map(({ text }) => text).join(' '))
    for (const { text, start, end } of cues) {
      expect(text.length).toBeLessThanOrEqual(84)
      expect(end - start).toBeLessThanOrEqual(7)
    }
  })
})

describe('the text of subtitles', () => {
  const cues = [word('Hello --> <b>you</b> & me\n\nagain', 3661.0005, 3662.5, 'A<1>')]

  it('escapes what would end a cue', () => {
    expect(srtOf(cues)).toBe('1\n01:01:01,001 --> 01:01:02,500\nA<1>: Hello → <b>you</b> & me again\n')
    expect(vttOf(cues)).toBe(
      'WEBVTT\n\n01:01:01.001 --> 01:01:02.500\n<v A1>Hello → &lt;b&gt;you&lt;/b&gt; &amp; me again\n',
    )
  })

  it('is one cue of the audio duration for a transcript without times', () => {
    const untimed = { ...transcript([]), text: ' All of it. ' }
    expect(srtOf(subtitlesOf(untimed, 2.5))).toBe('1\n00:00:00,000 --> 00:00:02,500\nAll of it.\n')
    expect(subtitlesOf({ ...untimed, seconds: 4 }, 2.5)).toMatchObject([{ end: 4 }])
    expect(subtitlesOf(transcript([]), 2.5)).toEqual([])
  })

  it('is empty for silence', () => {
    expect(srtOf([])).toBe('')
    expect(vttOf([])).toBe('WEBVTT\n')
  })
})
