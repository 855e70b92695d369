import { describe, expect, it } from 'vitest'
import { type Fact, statementOf } from '#facts/fact.ts'
import { factsOf } from '#facts/facts-of.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const observedAt = Date.UTC(2026, 10, 22, 12)
const read = (text: string): readonly Fact[] => atOnce(factsOf(text, { observedAt, speaker: 'user' }))
const shown = (text: string): readonly string[] =>
  read(text)
    .filter(({ ended, relation }) => !(ended && relation === 'dislikes'))
    .map(({ subject, relation, object, ended }) => `${subject} ${relation} ${object}${ended ? ' (ended)' : ''}`)
const day = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : new Date(at).toISOString().slice(0, 10)

describe('facts extracted from a text', () => {
  it.each([
    [
      'I relocated from Oslo to Bergen, and my sister Anna works at Acme.',
      ['user lives_in Bergen', 'user sister Anna', 'Anna works_at Acme'],
    ],
    [
      'I work as a data engineer at Initech and live in Graz.',
      ['user occupation data engineer', 'user works_at Initech', 'user lives_in Graz'],
    ],
    ['I love tea, green apples and jazz.', ['user likes tea', 'user likes green apples', 'user likes jazz']],
    ["I don't eat meat.", ['user avoids meat']],
    ['I no longer work at Acme.', ['user works_at Acme (ended)']],
    ['I lost my job.', ['user works_at  (ended)']],
    ['I used to live in Rome.', ['user lives_in Rome (ended)']],
    ["We've adopted a dog named Rex.", ['user pet Rex']],
    ['Hi! By the way, I switched my bank to ING.', ['user bank ING']],
    ['My passport number is C01X0006H.', ['user passport_number C01X0006H']],
    ['I wanted to let you know that I moved to Porto.', ['user lives_in Porto']],
    ['The user lives in Cork.', ['user lives_in Cork']],
    [
      'Anna is married to Tom. He works at Acme Corp. It is based in Lyon.',
      ['Anna partner Tom', 'Anna works_at Acme Corp', 'Acme Corp located_in Lyon'],
    ],
  ] as const)('are found in: %s', (text, facts) => {
    expect(shown(text)).toEqual(facts)
  })

  it.each([
    'Do I live in Berlin?',
    'I might move to Spain.',
    'If I lived in Oslo, I would be cold.',
    'I will move to Rome.',
    'Can you write a poem about the sea?',
    'The weather is nice and the birds sing.',
    'What is the capital of France?',
    'Thanks, that helps a lot!',
    '```\nconst x = 1\n```',
    '',
  ])('are not found in: %s', (text) => {
    expect(shown(text)).toEqual([])
  })

  it.each([
    ['I moved to Oslo yesterday.', '2026-11-21'],
    ['Last week I moved to Oslo.', '2026-11-15'],
    ['I moved to Oslo last month.', '2026-10-01'],
    ['I moved to Oslo two years ago.', '2024-11-22'],
    ['I have lived in Oslo since March.', '2026-03-01'],
    ['I have lived in Oslo since December.', '2025-12-01'],
    ['I have lived in Oslo since 2019.', '2019-01-01'],
    ['I have been living in Oslo for three years.', '2023-11-22'],
    ['I moved to Oslo on March 3rd, 2024.', '2024-03-03'],
    ['I moved to Oslo on 3 March 2024.', '2024-03-03'],
    ['I moved to Oslo on 2024-03-03.', '2024-03-03'],
    ['In May 2020 I moved to Oslo.', '2020-05-01'],
    ['I moved to Oslo on Monday.', '2026-11-16'],
    ['Starting next month I will live in Oslo.', '2026-12-01'],
    ['I moved to Oslo a couple of weeks ago.', '2026-11-08'],
    ['I moved to Oslo last summer.', '2026-06-01'],
    ['I live in Oslo.', '2026-11-22'],
  ])('start at the time that the text states: %s', (text, from) => {
    expect(read(text).map(({ object, validFrom }) => [object, day(validFrom)])).toEqual([['Oslo', from]])
  })

  it('have a start and an end when the text states both', () => {
    const [fact] = read('I lived in Rome from 2010 to 2015.')
    expect([fact?.object, day(fact?.validFrom), day(fact?.validTo), fact?.ended]).toEqual([
      'Rome',
      '2010-01-01',
      '2015-01-01',
      false,
    ])
  })

  it('read "you" of the assistant as the user, and exclude what the assistant says about itself', () => {
    const said = atOnce(factsOf('You live in Oslo. I live in a data center.', { observedAt, speaker: 'assistant' }))
    expect(said.map(statementOf)).toEqual(['The user lives in Oslo'])
  })

  it.each(['constructor', 'toString', '__proto__'])('ignore "the %s month" as a time', (word) => {
    for (const { validFrom } of read(`I moved to Oslo the ${word} month.`)) expect(validFrom).toBeGreaterThan(0)
  })

  it('are read from a megabyte of hostile text, and at most 200', () => {
    const texts = [
      'I '.repeat(500_000),
      'my my '.repeat(200_000),
      "I live in 's ".repeat(80_000),
      ', and I'.repeat(150_000),
      'Aa '.repeat(300_000),
      '\u{1F3F4}'.repeat(200_000),
    ]
    for (const text of texts) expect(read(text).length).toBeLessThanOrEqual(200)
  })
})
