import { describe, expect, it } from 'vitest'
import type { Passage } from '#retrieval/passage.ts'
import { PassageIndex, type PassageQuery } from '#retrieval/passage-index.ts'
import { question } from '../passages.ts'
import { chanceOf, randomPassages, randomText } from '../random-passages.ts'
import { plainScores } from './plain-scores.ts'

const seeds = Array.from({ length: 12 }, (_, seed) => seed + 1)

const indexOf = (passages: Iterable<Passage>): PassageIndex => {
  const index = new PassageIndex('memory')
  for (const each of passages) index.add(each)
  return index
}

const randomQuery = (chance: () => number): PassageQuery =>
  question(randomText(chance, [1, 4, 12, 70][Math.floor(chance() * 4)] ?? 1), {
    ...{ limit: [1, 5, 40][Math.floor(chance() * 3)] ?? 1, explain: chance() < 0.5, now: 1e12 },
    vector: chance() < 0.5 ? null : Float32Array.from({ length: 8 }, () => chance() - 0.5),
  })

describe('a search of an index', () => {
  it.each(seeds)('scores words as the plain formula, seed %s', async (seed) => {
    const chance = chanceOf(seed)
    const passages = randomPassages(chance, 20 + seed * 15)
    const index = indexOf(passages)
    const gone = passages.filter(() => chance() < 0.3)
    for (const { id } of gone) index.remove(id)
    const left = passages.filter((each) => !gone.includes(each))
    const text = randomText(chance, seed * 6)
    const plain = plainScores(left, text)
    const { hits } = await index.search(question(text, { explain: true, limit: left.length }))
    expect(hits.length).toBeGreaterThan(0)
    for (const { id, parts } of hits) {
      expect(parts?.lexical).toBeCloseTo(plain.get(id)?.lexical ?? Number.NaN, 3)
      expect(parts?.words_found).toBeCloseTo(plain.get(id)?.found ?? Number.NaN, 5)
    }
  })

  it.each(seeds)('returns the same concurrently with other searches as alone, seed %s', async (seed) => {
    const chance = chanceOf(seed * 7)
    const stores = [3, 60, 1_500].map((count) => indexOf(randomPassages(chance, count)))
    const posed = stores.flatMap((index) => Array.from({ length: 5 }, () => ({ index, query: randomQuery(chance) })))
    const alone = []
    for (const { index, query } of posed) alone.push(await index.search(query))
    expect(await Promise.all(posed.map(({ index, query }) => index.search(query)))).toEqual(alone)
  })

  it('returns no passage that was added during the search, despite concurrent writes', async () => {
    const chance = chanceOf(99)
    const passages = randomPassages(chance, 3_000)
    const index = indexOf(passages)
    const accepts = (id: string): boolean => id.startsWith('p')
    const queries = Array.from({ length: 40 }, () => ({ ...randomQuery(chance), accepts }))
    const searches = queries.map((query) => index.search(query))
    for (const [n, each] of randomPassages(chance, 600).entries()) {
      if (n % 2 === 0) index.remove(`p${n}`)
      index.add({ ...each, id: `new ${n}` })
      if (n % 50 === 0) await new Promise(setImmediate)
    }
    for (const { hits } of await Promise.all(searches)) {
      for (const { id, score } of hits) {
        expect(id).toMatch(/^p\d+$/)
        expect(score >= 0 && score <= 1).toBe(true)
      }
    }
  })

  it('calls the filter for doubtful passages alone, with the same result as for all', async () => {
    const chance = chanceOf(4)
    const passages = randomPassages(chance, 400)
    const index = indexOf(passages)
    const doubtful = new Set(passages.filter((_, n) => n % 3 === 0).map(({ id }) => id))
    const called = new Set<string>()
    const accepts = (id: string): boolean => {
      called.add(id)
      return !doubtful.has(id)
    }
    for (let n = 0; n < 20; n++) {
      const query = randomQuery(chance)
      const few = await index.search({ ...query, accepts, doubtful: new Set([...doubtful, 'not there']) })
      expect(called).toEqual(doubtful)
      expect(few).toEqual(await index.search({ ...query, accepts: (id) => !doubtful.has(id) }))
    }
  })
})
