import { describe, expect, it } from 'vitest'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { Background } from '#retrieval/ranking/background.ts'
import { referenceTexts } from '#retrieval/ranking/reference-texts.ts'
import { found, passage, question } from '../passages.ts'
import { chanceOf } from '../random-passages.ts'

const dimensions = 96

/** A vector in a random direction, as texts are that have nothing to do with one another. */
const anywhere = (chance: () => number): Float32Array => {
  const vector = Float32Array.from({ length: dimensions }, () => chance() + chance() + chance() - 1.5)
  return scaled(vector, 1 / Math.sqrt(dot(vector, vector)))
}

const dot = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
const scaled = (vector: Float32Array, by: number): Float32Array => vector.map((value) => value * by)

/** A vector with this cosine to another one, otherwise in a random direction. */
const near = (vector: Float32Array, cosine: number, chance: () => number): Float32Array => {
  const other = anywhere(chance)
  const beside = other.map((value, at) => value - dot(other, vector) * (vector[at] ?? 0))
  const length = Math.sqrt(dot(beside, beside))
  return vector.map((value, at) => cosine * value + (Math.sqrt(1 - cosine ** 2) * (beside[at] ?? 0)) / length)
}

const backgroundBy = (chance: () => number): Background =>
  new Background(
    referenceTexts.map(() => anywhere(chance)),
    referenceTexts.map(() => anywhere(chance)),
  )

const scoreOf = async (index: PassageIndex, query: Parameters<typeof question>, id: string): Promise<number> =>
  (await index.search(question(...query))).hits.find((hit) => hit.id === id)?.score ?? 0

describe('the score of a memory', () => {
  // the cosines that all-MiniLM-L6-v2 gives to these questions with the memory
  const questions = [
    ['peanut allergy', 0.7],
    ['nut allergies', 0.59],
    ["what can't Ada eat?", 0.62],
  ] as const
  const peanuts = 'Ada is allergic to peanuts'

  it.each(questions)('passes the default threshold for a question in other words: %s', async (text, cosine) => {
    const chance = chanceOf(1)
    const background = backgroundBy(chance)
    for (const size of [1, 5, 20, 100]) {
      const index = new PassageIndex('memory')
      const vector = anywhere(chance)
      index.add(passage(peanuts, { vector: near(vector, cosine, chance) }))
      for (let n = 1; n < size; n++) index.add(passage(`The ${n}th train was late.`, { vector: anywhere(chance) }))
      const { hits } = await index.search(question(text, { vector, background, threshold: 0.7 }))
      expect(hits.map(({ id }) => id)).toEqual([peanuts])
    }
  })

  it('stays below it, as the only memory too, for what was never said', async () => {
    const chance = chanceOf(2)
    const background = backgroundBy(chance)
    for (const size of [1, 5, 20, 100, 1_000]) {
      const index = new PassageIndex('memory')
      for (let n = 0; n < size; n++) index.add(passage(`The ${n}th train was late.`, { vector: anywhere(chance) }))
      const vector = anywhere(chance)
      const query = question('Which bike do I have?', { vector, background, threshold: 0.7 })
      expect(await found(index, query)).toEqual([])
    }
  })

  it.each([5, 20, 100])('stays below it by words alone for one common word of two, among %i memories', async (size) => {
    const index = new PassageIndex('memory')
    index.add(passage('we finally got round to painting the garden shed last Sunday and it looks splendid in green'))
    for (let n = 1; n < size; n++) index.add(passage(`The ${n}th train was late.`))
    expect(await found(index, question('What phone have I got?', { threshold: 0.7 }))).toEqual([])
  })

  it('does not depend on the position of the memory among the others', async () => {
    const chance = chanceOf(3)
    const background = backgroundBy(chance)
    const vector = anywhere(chance)
    const index = new PassageIndex('memory')
    const others = [0.8, 0.75, 0.7].map((cosine, n) =>
      passage(`Sentence ${n}`, { vector: near(vector, cosine, chance) }),
    )
    const own = passage('Some words', { vector: near(vector, 0.6, chance) })
    for (const each of [own, passage('a', { vector: anywhere(chance) }), passage('b'), passage('c')]) index.add(each)
    const first = await scoreOf(index, ['Anything?', { vector, background }], own.id)
    for (const id of ['a', 'b', 'c']) index.remove(id)
    for (const each of others) index.add(each)
    expect(await scoreOf(index, ['Anything?', { vector, background }], own.id)).toBeCloseTo(first, 5)
  })

  it('is the same for cosines of any height, as far as they stand out from those of unrelated texts', async () => {
    const scores: number[] = []
    // every vector of the second embedder shares a direction, so that all its cosines are high
    for (const common of [0, 2]) {
      const chance = chanceOf(4)
      const lifted = (vector: Float32Array): Float32Array => Float32Array.from([...vector, common])
      const background = new Background(
        referenceTexts.map(() => lifted(anywhere(chance))),
        referenceTexts.map(() => lifted(anywhere(chance))),
      )
      const vector = anywhere(chance)
      const index = new PassageIndex('memory')
      index.add(passage('I live in Porto.', { vector: lifted(near(vector, 0.7, chance)) }))
      const query = { vector: lifted(vector), background }
      scores.push(await scoreOf(index, ['Where is my home?', query], 'I live in Porto.'))
    }
    expect(scores[1]).toBeCloseTo(scores[0] ?? 0, 1)
  })

  it('is by words alone for a memory without a vector yet, and puts it first for a word that no other has', async () => {
    const chance = chanceOf(5)
    const background = backgroundBy(chance)
    const vector = anywhere(chance)
    const index = new PassageIndex('memory')
    for (let n = 0; n < 30; n++)
      index.add(passage(`The ${n}th train was late.`, { vector: near(vector, 0.1 + n / 100, chance) }))
    const fresh = 'The code word of the cellar is Zanzibar'
    index.add(passage(fresh))
    const { hits } = await index.search(question('What is Zanzibar the code word of?', { vector, background }))
    expect(hits[0]?.id).toBe(fresh)
    expect(hits[0]?.score ?? 0).toBeGreaterThan(0.7)
  })

  it('of a memory is not raised by one beside it that the search may not find', async () => {
    const chance = chanceOf(6)
    const background = backgroundBy(chance)
    const vector = anywhere(chance)
    const cat = passage('My cat sleeps a lot', { group: 's', order: 1, vector: near(vector, 0.05, chance) })
    const bike = passage('My bike is a Brompton', { group: 's', order: 2, vector: near(vector, 0.8, chance) })
    const parts = async (passages: readonly (typeof cat)[]) => {
      const index = new PassageIndex('memory')
      for (const each of passages) index.add(each)
      const accepts = (id: string): boolean => id === cat.id
      const query = { vector, background, accepts, explain: true }
      return (await index.search(question('Which bike do I have?', query))).hits.find(({ id }) => id === cat.id)
    }
    const [beside, alone] = [await parts([cat, bike]), await parts([cat])]
    expect(beside?.score).toBeLessThan(0.3)
    expect(beside?.parts?.words_around).toBe(0)
    expect(beside?.parts?.group).toBe(0)
    expect(beside?.parts?.window).toBeCloseTo(alone?.parts?.window ?? 1, 5)
  })
})
