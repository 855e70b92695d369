import { describe, expect, it } from 'vitest'
import { conceptsOf } from '#retrieval/analysis/analysis.ts'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { Titles } from '#retrieval/titles.ts'
import { found, passage, question } from './passages.ts'

const titles = (...all: readonly string[]): Titles => {
  const made = new Titles()
  for (const [group, title] of all.entries()) made.set(group, title)
  return made
}

const best = (of: Titles, text: string): readonly number[] => {
  const fits = of.fitsOf(text, conceptsOf(text, ['en']))
  return [...fits].filter(([, fit]) => fit === Math.max(...fits.values())).map(([group]) => group)
}

const reports = ['BESTBUY_2018_10K', 'BESTBUY_2019_10K', '3M_2018_10K', 'AMCOR_2023Q2_10Q', 'Refund policies']

describe('group titles', () => {
  it.each([
    ['What did Best Buy earn in 2019?', [1]],
    ['What is the FY2018 revenue of 3M?', [2]],
    ['Which liability had Amcor in Q2 of 2023?', [3]],
    ['How does the refund policy work?', [4]],
  ])('match %j', (text, expected) => {
    expect(best(titles(...reports), text)).toEqual(expected)
  })

  it('match nothing without a common word, and nothing when there is only one title', () => {
    expect(titles(...reports).fitsOf('zeppelins', conceptsOf('zeppelins', ['en'])).size).toBe(0)
    expect(titles('zeppelins').fitsOf('zeppelins', conceptsOf('zeppelins', ['en'])).size).toBe(0)
  })

  it('score words of every title far below words of a single title', () => {
    const fits = titles('manual of otters', 'manual of owls').fitsOf(
      'manual of owls',
      conceptsOf('manual of owls', ['en']),
    )
    expect(fits.get(1)).toBeGreaterThan(4 * (fits.get(0) ?? 0))
  })

  it('score lower when the question has only a part of the name', () => {
    const of = titles('Private school', 'Harvard', 'Otters')
    const fitOf = (text: string, group: number) => of.fitsOf(text, conceptsOf(text, ['en'])).get(group) ?? 0
    expect(fitOf('How large is the private school?', 0)).toBe(1)
    expect(fitOf('How large is the school?', 0)).toBeLessThan(0.9)
  })

  it.each([
    ["What was Best Buy's gross margin in FY2019?", 'What was gross margin in'],
    ['How large were deposits of 3M in 2018?', 'How large were deposits of in'],
    ['What is a zeppelin?', null],
    ['Best Buy 2019', null],
    ['', null],
  ])('leave the topic of %j', (text, topic) => {
    expect(titles(...reports).topicOf(text, conceptsOf(text, ['en']))).toBe(topic)
  })

  it('leave no topic for a question that matches hundreds of titles alike', () => {
    const text = 'What is in the report?'
    const many = titles(...Array.from({ length: 300 }, (_, n) => `report ${n}`), 'owls')
    expect(many.topicOf(text, conceptsOf(text, ['en']))).toBeNull()
    expect(many.fitsOf(text, conceptsOf(text, ['en'])).size).toBe(300)
  })

  it('are removed when they are replaced or deleted', () => {
    const made = titles('otters', 'owls', 'eels')
    made.set(0, 'badgers')
    made.delete(1)
    expect([best(made, 'otters'), best(made, 'owls'), best(made, 'badgers')]).toEqual([[], [], [0]])
  })

  it.each(['__proto__', 'constructor', '\ud800', '\u0000', '👩‍👩‍👧', 'x'.repeat(100_000)])(
    'match with the unusual title %j',
    (title) => {
      expect(
        titles(title, 'owls')
          .fitsOf(`owls ${title}`, conceptsOf(`owls ${title}`, ['en']))
          .get(1),
      ).toBeGreaterThan(0)
    },
  )
})

describe('passages of a titled group', () => {
  const revenue = 'Revenue grew to a record this fiscal year.'
  const index = (): PassageIndex => {
    const made = new PassageIndex('document')
    for (const year of [2017, 2018, 2019]) {
      made.add(passage(revenue, { id: `${year}`, group: `report ${year}` }))
      made.nameGroup(`report ${year}`, `ACME_${year}_10K`)
    }
    return made
  }

  it('rank first when the question names the group', async () => {
    const made = index()
    for (const year of ['2017', '2018', '2019'])
      expect((await found(made, question(`What was the revenue of Acme in FY${year}?`)))[0]).toBe(year)
  })

  it('are ranked by the vector of the topic without the name', async () => {
    const made = new PassageIndex('document')
    const [name, topic] = [new Float32Array([1, 0]), new Float32Array([0, 1])]
    made.add(passage('aaa', { id: 'named', group: 'a', vector: name }))
    made.add(passage('bbb', { id: 'meant', group: 'a', vector: new Float32Array([0.8, 0.6]) }))
    made.add(passage('ccc', { id: 'far', group: 'a', vector: new Float32Array([-0.6, -0.8]) }))
    made.nameGroup('a', 'ACME')
    expect(await found(made, question('zzz', { vector: name, limit: 2 }))).toEqual(['named', 'meant'])
    expect(await found(made, question('zzz', { vector: name, topic, limit: 2 }))).toEqual(['meant', 'named'])
  })

  it('lose the title with the last of them', async () => {
    const made = index()
    made.remove('2018')
    made.add(passage(revenue, { id: 'other', group: 'other' }))
    expect((await found(made, question('revenue of 2018'))).at(-1)).not.toBe('2018')
    expect((await found(made, question('revenue of 2017')))[0]).toBe('2017')
  })
})
