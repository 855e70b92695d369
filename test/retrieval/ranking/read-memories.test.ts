import { describe, expect, it } from 'vitest'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { passage, question } from '../passages.ts'

const near = Float32Array.of(1, 0, 0)
const far = Float32Array.of(0.6, 0.8, 0)

const indexOf = (texts: Readonly<Record<string, Float32Array | null>>): PassageIndex => {
  const index = new PassageIndex('memory')
  for (const [text, vector] of Object.entries(texts)) index.add(passage(text, { vector }))
  return index
}

/** Reads memories as these odds say; all others do not answer. */
const reading = (odds: Readonly<Record<string, number>>) => {
  const batches: (readonly string[])[] = []
  const read = async (ids: readonly string[]) => {
    batches.push(ids)
    return new Map(ids.map((id) => [id, odds[id] ?? -8]))
  }
  return { batches, read }
}

describe('memories that are read together with the question', () => {
  it('are in the order of what reading shows, not of their vectors', async () => {
    const index = indexOf({ 'My bike is red': near, 'I ride a Brompton': far })
    const { read } = reading({ 'I ride a Brompton': 6 })
    const { hits } = await index.search(question('What brand?', { vector: near, read, threshold: 0.7 }))
    expect(hits.map(({ id }) => id)).toEqual(['I ride a Brompton'])
  })

  it('have the same score in a scope of twenty memories and more, and a higher one among fewer', async () => {
    const scores: number[] = []
    for (const size of [1, 5, 20, 100, 1_000]) {
      const others = Array.from({ length: size - 1 }, (_, n) => [`Train ${n} was late`, far])
      const index = indexOf({ 'I ride a Brompton': near, ...Object.fromEntries(others) })
      const { read } = reading({ 'I ride a Brompton': 3 })
      const { hits } = await index.search(question('Which bike?', { vector: near, read }))
      scores.push(hits.find(({ id }) => id === 'I ride a Brompton')?.score ?? 0)
    }
    const many = scores.slice(2)
    expect(Math.max(...many) - Math.min(...many)).toBeLessThan(0.001)
    expect(scores[0]).toBeGreaterThan(scores[1] ?? 1)
    expect(scores[1]).toBeGreaterThan(scores[2] ?? 1)
  })

  it('are the sixteen nearest; no other one gets a better score than the worst of them', async () => {
    const texts = Array.from({ length: 40 }, (_, n) => [`Note ${n}`, Float32Array.of(1, n / 100, 0)])
    const { batches, read } = reading({})
    const { hits } = await indexOf(Object.fromEntries(texts)).search(
      question('Which bike?', { vector: near, read, limit: 30 }),
    )
    expect(batches.map((ids) => ids.length)).toEqual([16])
    const [first = []] = batches
    const scoreOf = (isRead: boolean) =>
      hits.filter(({ id }) => first.includes(id) === isRead).map(({ score }) => score)
    expect(Math.max(...scoreOf(false))).toBeLessThanOrEqual(Math.min(...scoreOf(true)))
  })

  it('leave the score of the others as it is when there was no time for all', async () => {
    const index = indexOf({ 'My bike is red': near, 'I ride a Brompton': near })
    const plain = await index.search(question('Which Brompton do I ride?', { vector: near }))
    const read = async () => new Map([['My bike is red', -8]])
    const { hits } = await index.search(question('Which Brompton do I ride?', { vector: near, read }))
    expect(hits[0]).toEqual(plain.hits[0])
  })

  it('include one that has no vector yet', async () => {
    const index = indexOf({ 'Other things': far, 'The bike is a Brompton': null })
    const { read } = reading({ 'The bike is a Brompton': 6 })
    const { hits } = await index.search(question('What bike?', { vector: near, read, threshold: 0.7 }))
    expect(hits.map(({ id }) => id)).toEqual(['The bike is a Brompton'])
  })

  it('are left out when they are removed while they are read', async () => {
    const index = indexOf({ 'I ride a Brompton': near, 'My cat is grey': far })
    const read = async (ids: readonly string[]) => {
      index.remove('I ride a Brompton')
      index.add(passage('Something new', { vector: near }))
      return new Map(ids.map((id) => [id, 6]))
    }
    const { hits } = await index.search(question('Which bike?', { vector: near, read }))
    expect(hits.map(({ id }) => id)).toEqual(['My cat is grey'])
  })

  it('are scored by words and vectors when reading fails', async () => {
    const index = indexOf({ 'I ride a Brompton': near })
    const plain = await index.search(question('Which Brompton do I ride?', { vector: near }))
    const read = async () => new Map<string, number>()
    const { hits } = await index.search(question('Which Brompton do I ride?', { vector: near, read }))
    expect(hits).toEqual(plain.hits)
  })
})
