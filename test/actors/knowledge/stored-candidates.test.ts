import { describe, expect, it } from 'vitest'
import { storedCandidates } from '#actors/knowledge/search/stored-candidates.ts'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { numbersOfText, textOfVector, vectorOfText } from '#retrieval/vector-bytes.ts'
import type { NearestQuery, StoredVector, VectorStore } from '#storage/search/vector-port.ts'
import { question } from '#test/retrieval/passages.ts'
import { chanceOf, randomText } from '#test/retrieval/random-passages.ts'

const [groups, size, dimensions, pageSize] = [20, 150, 32, 5]
const titles = ['harbour', 'orchard', 'glacier', 'violin', 'foundry', 'lantern', 'meadow', 'compass', 'walnut', 'anvil']

const cosine = (query: Float32Array, numbers: Int8Array): number => {
  let [dot, squares] = [0, 0]
  for (const [at, number] of numbers.entries()) {
    dot += number * (query[at] ?? 0)
    squares += number ** 2
  }
  return dot / Math.sqrt(squares)
}

/** A base whose vectors are in a store that finds the nearest ones exactly, and the same base with them in memory. */
const world = ({ hasPages, mean }: { readonly hasPages: boolean; readonly mean: number }) => {
  const chance = chanceOf(11)
  const directions = new Map<string, readonly number[]>()
  const directionOf = (word: string) => {
    const known = directions.get(word) ?? Array.from({ length: dimensions }, () => chance() - 0.5)
    directions.set(word, known)
    return known
  }
  /** The sum of the directions of words, and of a common one: real embedders have only positive cosines. */
  const vectorOf = (text: string): Float32Array => {
    const sum = new Float32Array(dimensions).fill(mean)
    for (const word of text.split(' '))
      for (const [at, number] of directionOf(word).entries()) sum[at] = (sum[at] ?? 0) + number
    return sum
  }
  const [exact, stored] = [new PassageIndex('document'), new PassageIndex('document')]
  const table: StoredVector[] = []
  for (let n = 0; n < groups * size; n++) {
    const [id, group, order] = [`c${n}`, `g${Math.floor(n / size)}`, n % size]
    const text = randomText(chance, 12)
    const bytes = textOfVector(vectorOf(text))
    const lead =
      hasPages && n % pageSize === 0
        ? vectorOfText(textOfVector(vectorOf(text.split(' ').slice(0, 8).join(' '))))
        : null
    const passage = { id, text, group, order, page: hasPages ? Math.floor(order / pageSize) : null, at: 0, lead }
    exact.add({ ...passage, vector: vectorOfText(bytes) })
    stored.add({ ...passage, vector: 'stored' })
    table.push({ id, numbers: numbersOfText(bytes) ?? new Int8Array() })
  }
  for (let group = 0; group < groups; group++)
    for (const index of [exact, stored])
      index.nameGroup(`g${group}`, `${titles[group % 10]} ${titles[(group * 3 + 1) % 10]}`)
  const vectors: Pick<VectorStore, 'nearest' | 'get'> = {
    nearest: async ({ vector, limit }: NearestQuery) =>
      table
        .map((each) => ({ each, near: cosine(vector, each.numbers) }))
        .toSorted((a, b) => b.near - a.near)
        .slice(0, limit)
        .map(({ each }) => each),
    get: async (_project, _space, ids) => table.filter(({ id }) => ids.includes(id)),
  }
  const index = { sources: [], isStored: () => true, ...named }
  const answersTo = async (text: string, limit: number) => {
    const topicText = exact.topicOf(text)
    const [vector, topic] = [vectorOf(text), topicText === null ? null : vectorOf(topicText)]
    const posed = question(text, { vector, topic, limit, embedder: 'any' })
    const names = { project: 'prj_1', base: 'kb_1', embedder: 'any' }
    const candidates = storedCandidates(vectors, { ...names, index, accepts: null, vector, topic, limit })
    const all = await Promise.all([exact.search(posed), stored.search({ ...posed, stored: candidates })])
    const [wanted = [], found = []] = all.map(({ hits }) => hits)
    return { wanted, found, hasTopic: topic !== null }
  }
  return { chance, answersTo }
}

/** Passages whose ids are those of their chunks. */
const named = { chunkOf: (id: string) => id, passageOf: (id: string) => id }

describe('the candidates of a search by a database', () => {
  it.each([
    { hasPages: false, mean: 0, limit: 10 },
    { hasPages: false, mean: 0.5, limit: 10 },
    { hasPages: false, mean: 0.5, limit: 50 },
    { hasPages: true, mean: 0.5, limit: 10 },
  ])('give the hits and scores of an exact search: $limit, pages $hasPages, mean $mean', async (base) => {
    const { hasPages, mean, limit } = base
    const { chance, answersTo } = world({ hasPages, mean })
    let topics = 0
    for (let n = 0; n < 20; n++) {
      const { wanted, found, hasTopic } = await answersTo(`${randomText(chance, 4)} ${titles[n % 10]}`, limit)
      expect(found.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
      for (const [at, { score }] of wanted.entries())
        expect(Math.abs((found[at]?.score ?? 0) - score)).toBeLessThan(0.01)
      topics += Number(hasTopic)
    }
    expect(topics).toBeGreaterThan(10)
  })

  it('are twenty for each hit, and 200 at least', () => {
    const limits: number[] = []
    const vectors = {
      nearest: async ({ limit }: NearestQuery) => {
        limits.push(limit)
        return []
      },
      get: async () => [],
    }
    const index = { sources: [], isStored: () => false, ...named }
    const names = { project: 'prj_1', base: 'kb_1', embedder: 'any' }
    for (const limit of [1, 50]) {
      const search = { ...names, index, accepts: null, vector: Float32Array.from([1, 0]), topic: null, limit }
      storedCandidates(vectors, search)
    }
    expect(limits).toEqual([200, 20, 1000, 20])
  })
})
