import { describe, expect, it } from 'vitest'
import type { Passage } from '#retrieval/passage.ts'
import { PassageIndex, type PassageQuery } from '#retrieval/passage-index.ts'
import { storedCosines } from '#retrieval/stored-cosines.ts'
import { numbersOfText, textOfVector, vectorOfText } from '#retrieval/vector-bytes.ts'
import { question } from './passages.ts'
import { chanceOf, randomPassages, randomText } from './random-passages.ts'

const size = 600

/** The vector of a passage as it is stored. */
const numbersOf = ({ vector }: Passage): Int8Array | null =>
  vector instanceof Float32Array ? numbersOfText(textOfVector(vector)) : null

const readBack = ({ vector }: Passage): Float32Array | null =>
  vector instanceof Float32Array ? vectorOfText(textOfVector(vector)) : null

const cosine = (query: Float32Array, numbers: Int8Array): number => {
  const [dot, own, its] = numbers.reduce(
    ([sum = 0, a = 0, b = 0], number, at) => [
      sum + number * (query[at] ?? 0),
      a + number ** 2,
      b + (query[at] ?? 0) ** 2,
    ],
    [0, 0, 0],
  )
  return (dot ?? 0) / Math.sqrt((own ?? 0) * (its ?? 0))
}

/** Passages of documents with five of them on each page, whose leads have vectors. */
const onPages = (chance: () => number, passages: readonly Passage[]): readonly Passage[] =>
  passages.map((passage, n) => {
    const lead = n % 5 === 0 ? Float32Array.from({ length: 8 }, () => chance() - 0.5) : null
    return { ...passage, group: `g${Math.floor(n / 100)}`, order: n, page: Math.floor(n / 5), lead }
  })

describe.each([
  { kind: 'passages without pages', hasPages: false },
  { kind: 'passages on pages', hasPages: true },
])('an index of $kind whose vectors are in a store', ({ hasPages }) => {
  const chance = chanceOf(7)
  const passages = hasPages ? onPages(chance, randomPassages(chance, size)) : randomPassages(chance, size)
  const exact = new PassageIndex('document')
  const stored = new PassageIndex('document')
  for (const passage of passages) {
    exact.add({ ...passage, vector: readBack(passage) })
    stored.add({ ...passage, vector: 'stored' })
  }
  const byId = new Map(passages.map((passage) => [passage.id, passage]))

  /** Answers as a database that finds the `count` nearest vectors. */
  const candidatesOf =
    (query: Float32Array, count: number): NonNullable<PassageQuery['stored']> =>
    async (best) => {
      const all = passages.flatMap((passage) => {
        const numbers = numbersOf(passage)
        return numbers === null ? [] : [{ id: passage.id, numbers, cosine: cosine(query, numbers) }]
      })
      const sorted = all.toSorted((a, b) => b.cosine - a.cosine)
      const near = sorted.slice(0, count)
      const others = best.filter((id) => !near.some((each) => each.id === id))
      const without = others.filter((id) => byId.get(id)?.vector === null)
      const vectors = [...near, ...all.filter(({ id }) => others.includes(id))]
      return { vector: storedCosines(query, { vectors: [...vectors, ...sorted.slice(-20)], without }), topic: null }
    }

  const queries = Array.from({ length: 40 }, () => ({
    text: randomText(chance, 4),
    vector: Float32Array.from({ length: 8 }, () => chance() - 0.5),
  }))
  const rounded = async (index: PassageIndex, query: PassageQuery) =>
    (await index.search(query)).hits.map(({ id, score }) => [id, score.toFixed(4)])

  it('has the hits of an index that holds them and scores within .02, when a tenth of them are candidates', async () => {
    let same = 0
    for (const query of queries) {
      const posed = question(query.text, { ...query, limit: 10, embedder: 'any' })
      const found = (await stored.search({ ...posed, stored: candidatesOf(query.vector, size / 10) })).hits
      const wanted = (await exact.search(posed)).hits
      const idsOf = (hits: typeof found) => hits.map(({ id }) => id)
      expect(idsOf(found).slice(0, 5)).toEqual(idsOf(wanted).slice(0, 5))
      for (const [at, { score }] of found.slice(0, 5).entries())
        expect(Math.abs(score - (wanted[at]?.score ?? 0))).toBeLessThan(0.02)
      same += Number(idsOf(found).join() === idsOf(wanted).join())
    }
    expect(same).toBeGreaterThan(queries.length * 0.9)
  })

  it('is searched by words when a query has no vector', async () => {
    for (const { text } of queries)
      expect(await rounded(stored, question(text))).toEqual(await rounded(exact, question(text)))
  })

  it('holds no vectors', () => {
    expect(exact.bytes - stored.bytes).toBeGreaterThan(0)
  })

  it('forgets that a vector is stored when the passage is replaced or removed', async () => {
    const index = new PassageIndex('document')
    const vector = Float32Array.from([1, 0])
    const posed = question('harbour', { vector, explain: true })
    const cosines = async () => ({ vector: new Map([['a', 0.25]]), topic: null })
    index.add({ id: 'a', text: 'harbour', group: null, order: 0, at: 0, vector: 'stored' })
    const cosineOfHit = async () => (await index.search({ ...posed, stored: cosines })).hits[0]?.parts?.vector
    expect(await cosineOfHit()).toBe(0.25)
    index.add({ id: 'a', text: 'harbour', group: null, order: 0, at: 0, vector })
    expect(await cosineOfHit()).toBeCloseTo(1)
    index.remove('a')
    index.add({ id: 'b', text: 'harbour', group: null, order: 0, at: 0, vector: null })
    expect(await cosineOfHit()).toBe(0)
  })
})
