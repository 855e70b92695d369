import { describe, expect, it } from 'vitest'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { passage, question } from './passages.ts'

const harbour = 'The harbour of Trieste was deepened in 1901 so that larger ships could enter it.'

const scoreOf = async (profile: 'memory' | 'document', text: string): Promise<number> => {
  const index = new PassageIndex(profile)
  for (const each of [harbour, 'Coffee is roasted at 200 degrees.', 'Trains left every hour.']) index.add(passage(each))
  return (await index.search(question(text))).hits[0]?.score ?? 0
}

describe('the score of a hit', () => {
  it.each(['memory', 'document'] as const)(
    'of a %s is at least 0.7 where the words of the question are found',
    async (profile) => {
      expect(await scoreOf(profile, 'When was the harbour of Trieste deepened?')).toBeGreaterThan(0.7)
    },
  )

  it('is below 0.7 for a document that shares one word of many', async () => {
    expect(await scoreOf('document', 'Which ships carried penguins, walnuts and violins to the museum?')).toBeLessThan(
      0.7,
    )
  })

  it('is below 0.7 for a question about someone whom no memory names', async () => {
    expect(await scoreOf('memory', 'When did Zoltan buy larger ships?')).toBeLessThan(0.7)
  })
})
