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
    'is at least 0.7 in a %s index when the words of the question are found',
    async (profile) => {
      expect(await scoreOf(profile, 'When was the harbour of Trieste deepened?')).toBeGreaterThan(0.7)
    },
  )

  it('is above 0.7 for a match and below it otherwise, also for a single memory', async () => {
    const index = new PassageIndex('memory')
    index.add(passage(harbour))
    const bestOf = async (text: string) => (await index.search(question(text))).hits[0]?.score ?? 0
    // No memory contains "long".
    expect(await bestOf('How long has the harbour of Trieste been deepened?')).toBeGreaterThan(0.7)
    expect(await bestOf('Which ships carried penguins, walnuts and violins to the museum?')).toBeLessThan(0.7)
  })

  it('is below 0.7 for a document that shares few words', async () => {
    expect(await scoreOf('document', 'Which ships carried penguins, walnuts and violins to the museum?')).toBeLessThan(
      0.7,
    )
  })

  it('is below 0.7 for a question about a person whom no memory names', async () => {
    expect(await scoreOf('memory', 'When did Zoltan buy larger ships?')).toBeLessThan(0.7)
  })

  it.each([
    ['at least 0.7 for a close vector and half of the words', 'When was the harbour made deeper?', 0.8, true],
    ['below 0.7 for as many words and a vector far away', 'When was the harbour made deeper?', 0.05, false],
    ['below 0.7 for a vector as close without any of the words', 'Which year brought dredging?', 0.35, false],
  ])('is, for a document among many, %s', async (_, text, cosine, isHit) => {
    const index = new PassageIndex('document')
    index.add(passage(harbour, { vector: Float32Array.of(1, 0, 0) }))
    for (let n = 0; n < 60; n++)
      index.add(passage(`Trains number ${n} left for the coast.`, { vector: Float32Array.of(0, 0, 1) }))
    const vector = Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2), 0)
    const { hits } = await index.search(question(text, { vector, embedder: 'local/made' }))
    expect((hits[0]?.score ?? 0) >= 0.7).toBe(isHit)
  })
})
