import { describe, expect, it } from 'vitest'
import { folded } from '#gateway/guardrails/folded-text.ts'
import { type LocalSpec, localCheck } from '#gateway/guardrails/local-checks.ts'
import { replaced } from '#gateway/guardrails/scan.ts'
import { TextWindow } from '#gateway/guardrails/text-window.ts'
import type { GuardCheck } from '#specs/resources/gateway/guardrails.ts'
import { setOf } from './guarded-world.ts'

const both = { on: 'both' } as const
const words = (list: readonly string[], action: 'block' | 'redact' | 'flag' = 'block'): LocalSpec => ({
  ...{ type: 'words', words: list, action },
  ...both,
})
const regex = (patterns: readonly string[], action: 'block' | 'redact' | 'flag' = 'block'): LocalSpec => ({
  ...{ type: 'regex', patterns, action },
  ...both,
})

const local = (...checks: readonly GuardCheck[]) => setOf(checks).output.local

/** Streams a text in parts, and returns what was sent before the end and what was still held. */
const streamed = (parts: readonly string[], ...checks: readonly GuardCheck[]) => {
  const notes: number[] = []
  const window = new TextWindow(local(...checks), (_, found) => notes.push(found))
  const sent = parts.map((part) => window.push(part)).join('')
  return { sent, held: window.held, blocked: window.isBlocked, notes }
}

const piecesOf = (text: string, size: number) =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))

const long = 'The harbour was quiet and the boats lay still in the morning light. '.repeat(12)

describe('a word of a list', () => {
  const found = (text: string, ...list: readonly string[]) =>
    localCheck(words(list, 'redact'))
      .find(text)
      .map(({ start, end }) => text.slice(start, end))

  it.each([
    ['as it is written', 'the Falcon project', 'Falcon'],
    ['in another case', 'the FALCON project', 'FALCON'],
    ['with invisible characters in it', 'the fa\u200bl\u00adc\ufeffo\u2060n project', 'fa\u200bl\u00adc\ufeffo\u2060n'],
    ['in full-width letters', 'the ｆａｌｃｏｎ project', 'ｆａｌｃｏｎ'],
    ['in mathematical letters', 'the 𝐟𝐚𝐥𝐜𝐨𝐧 project', '𝐟𝐚𝐥𝐜𝐨𝐧'],
    ['with accents, composed and combining', 'fàlcón', 'fàlcón'],
    ['at the beginning and the end', 'falcon', 'falcon'],
    ['beside signs', '(falcon)!', 'falcon'],
  ])('is found %s', (_, text, word) => {
    expect(found(text, 'falcon')).toEqual([word])
  })

  it('is not found within a longer word, except in scripts that do not separate words', () => {
    expect(found('class assassin', 'ass')).toEqual([])
    expect(found('私は東京都に住む', '東京')).toEqual(['東京'])
    expect(found('naïveté', 'naive')).toEqual([])
  })

  it('may be a phrase, with any blanks between its words, and the longest one counts', () => {
    expect(found('Project \n\t Falcon  Two is secret', 'project falcon', 'project falcon two')).toEqual([
      'Project \n\t Falcon  Two',
    ])
  })

  it('is found among many as among one, and at the same places as a search for each', () => {
    const list = Array.from({ length: 2000 }, (_, at) => `word${at}`)
    expect(found('word7 word77 word1999 word2000 xword3', ...list)).toEqual(['word7', 'word77', 'word1999'])
  })
})

describe('a pattern', () => {
  it('is found in full-width digits and between invisible characters', () => {
    const check = localCheck(regex(['\\b\\d{3}-\\d{4}\\b']))
    expect(check.find('call ５５５-１\u200b２３４ now').map(({ start, end }) => [start, end])).toEqual([[5, 14]])
  })

  it.each([
    ['lookaround', '(?<=a)b'],
    ['a backreference', '(a)\\1'],
    ['no syntax', '(['],
    ['a size that multiplies', '((a{100}){100}){100}'],
    ['a class a thousand times', '[\\p{L}\\p{N}]{1000}[a-z]{100}'],
    ['the empty text', 'a*'],
  ])('with %s is refused', (_, pattern) => {
    expect(() => localCheck(regex([pattern]))).toThrow(expect.objectContaining({ code: 'invalid_field' }))
  })

  it('that never ends in other engines takes linear time', () => {
    const check = localCheck(regex(['(x+x+)+y', '(?:\\w+\\s?)+!', '^(a|aa)+$|b']))
    const times = [20_000, 80_000].map((length) => {
      const text = 'x'.repeat(length)
      check.find(text)
      const before = process.cpuUsage()
      check.find(text)
      const { user, system } = process.cpuUsage(before)
      return user + system
    })
    // a quadratic one takes sixteen times as long, an exponential one for ever
    expect(times[1]).toBeLessThan(10 * Math.max(times[0] ?? 0, 5_000))
  })
})

describe('a stream', () => {
  const forbidden = 'Project Fa\u200blcon'
  const text = `${long}We call it ${forbidden} here. ${long}`

  it('never sends a part of a blocked word, wherever it is split', () => {
    const at = text.indexOf(forbidden)
    for (let split = at - 3; split <= at + forbidden.length + 3; split++) {
      const { sent, blocked } = streamed([text.slice(0, split), text.slice(split)], words(['project falcon']))
      expect(blocked, String(split)).toBe(true)
      expect(text.startsWith(sent)).toBe(true)
      expect(sent.length).toBeLessThanOrEqual(at)
    }
    const one = streamed([...text], words(['project falcon']))
    expect(one.blocked).toBe(true)
    expect(one.sent.length).toBeLessThanOrEqual(at)
  })

  it('sends what is not found unchanged, and holds back no more than the longest word and a stride', () => {
    const { sent, held, blocked } = streamed([...text], words(['nothing of this']))
    expect(blocked).toBe(false)
    expect(sent + held).toBe(text)
    expect(held.length).toBeLessThan(128)
    expect(sent.length).toBeGreaterThan(text.length - 128)
  })

  it('replaces a word and a pattern wherever they are split, counts each once, and changes nothing else', () => {
    const checks = [words(['project falcon'], 'redact'), regex(['\\d{3}-\\d{4}'], 'redact')]
    const whole = `${long}Project Falcon, call 555-1234. ${long}PROJECT FALCON${long}`
    const wanted = whole.replaceAll('Project Falcon', '[REDACTED]').replace('555-1234', '[REDACTED]')
    for (const size of [1, 2, 3, 7, 50, 199, 1000]) {
      const parts = piecesOf(whole, size)
      const { sent, held, notes } = streamed(parts, ...checks)
      const rest = checks.flatMap((spec) => localCheck(spec).find(held))
      expect(sent + replaced(held, rest), String(size)).toBe(wanted)
      expect(notes.reduce((sum, each) => sum + each, 0) + rest.length).toBe(2)
    }
  })

  it('holds a flood of invisible characters without sending the word in it', () => {
    const flood = `${long}fal${'\u200b'.repeat(50_000)}con ${long}`
    const parts = piecesOf(flood, 997)
    const { sent, blocked } = streamed(parts, words(['falcon']))
    expect(blocked).toBe(true)
    expect(sent).not.toContain('fal')
  })

  it('sends a text without any blank once it is too long to be one word', () => {
    const { sent, held } = streamed(
      Array.from({ length: 400 }, () => 'x'.repeat(100)),
      regex(['secret']),
    )
    expect(sent.length + held.length).toBe(40_000)
    expect(held.length).toBeLessThan(17_000)
  })
})

describe('a folded text', () => {
  it('knows the place of each of its characters in the original', () => {
    const text = 'A\u200b Ｂ  \u0301c𝐝ﬁ'
    const { text: made, at } = folded(text, true)
    expect(made).toBe('a b cdfi')
    expect(at?.map((place) => text[place])).toEqual(['A', ' ', 'Ｂ', ' ', 'c', '\ud835', 'ﬁ', 'ﬁ', undefined])
  })
})
