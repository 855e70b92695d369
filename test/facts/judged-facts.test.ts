import { describe, expect, it } from 'vitest'
import { judgedFacts, readExchange } from '#facts/judged-facts.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const observedAt = Date.UTC(2026, 10, 22)
const read = (user: string) => atOnce(readExchange({ user, assistant: '', observedAt }))
/** Returns the memories of a message, whose sentences have odds by what they begin with. */
const left = (user: string, odds: Readonly<Record<string, number>>): readonly string[] => {
  const exchange = read(user)
  const judged = exchange.sentences.map((sentence) => odds[sentence.split(' ')[0] ?? ''] ?? -1)
  return judgedFacts(exchange, judged, observedAt).flatMap(({ text, ended }) => (ended ? [] : [text]))
}

describe('what a message leaves where sentences are judged', () => {
  it('is a sentence that no rule reads and that is likely to last, once', () => {
    expect(left('Penicillin nearly killed me. Which tea is good?', { Penicillin: 2 })).toEqual([
      'Penicillin nearly killed me.',
    ])
    expect(left('Penicillin nearly killed me.', {})).toEqual([])
    expect(left('I live in Porto.', { I: 2 })).toEqual(['I live in Porto.'])
  })

  it('is what rules find, unless it is unlikely to last', () => {
    expect(left('I live in Porto.', { I: -0.5 })).toEqual(['I live in Porto.'])
    expect(left('I live in Porto.', { I: -2 })).toEqual([])
  })

  it('is what rules find where nothing was judged', () => {
    expect(judgedFacts(read('I live in Porto. Rain again.'), [], observedAt).map(({ text }) => text)).toEqual([
      'I live in Porto.',
    ])
  })

  it('is said once where sentences follow without a space', () => {
    const exchange = read('I live in Berlin。I love hiking.')
    const texts = judgedFacts(
      exchange,
      exchange.sentences.map(() => 3),
      observedAt,
    ).map(({ text }) => text)
    expect(texts.filter((text) => texts.some((other) => other !== text && other.includes(text)))).toEqual([])
  })

  it('ends what has ended, however unlikely', () => {
    const exchange = read('I no longer live in Porto.')
    expect(judgedFacts(exchange, [-9], observedAt)).toEqual([
      expect.objectContaining({ relation: 'lives_in', ended: true }),
    ])
  })
})

describe('what is judged of a message', () => {
  it('is each sentence, in scripts without spaces too', () => {
    expect(read('もう車は売りました。明日の天気は？').sentences).toEqual(['もう車は売りました。', '明日の天気は？'])
  })

  it('is no secret that the sentence before announces', () => {
    expect(read('My bank PIN:\n4821 is the one I use everywhere.').sentences).not.toContain(
      '4821 is the one I use everywhere.',
    )
  })

  it.each([
    ['a text to translate', 'Translate: Penicillin nearly killed me.'],
    ['what another person says of themselves', 'My boss says "I eat raw onions".'],
    ['what holds for a moment', 'Speak Dutch for the next ten minutes.'],
    ['signs', '??? 1 2 3'],
  ])('is nothing of %s', (_, text) => {
    expect(read(text).sentences.filter((sentence) => !sentence.startsWith('Translate'))).toEqual([])
  })

  it('is bounded', () => {
    expect(read('Penicillin nearly killed me.\n'.repeat(1)).sentences).toHaveLength(1)
    expect(read(Array.from({ length: 200 }, (_, at) => `Cat ${at} purrs.`).join(' ')).sentences).toHaveLength(64)
    expect(read(`${'very '.repeat(300)}tired`).sentences).toEqual([])
  })
})
