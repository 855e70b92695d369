import { afterAll, describe, expect, it } from 'vitest'
import { hashed } from '#gateway/caching/cache-key.ts'
import { distinctWords } from '#gateway/caching/distinct-words.ts'
import { SimilarQuestions } from '#gateway/caching/similar-questions.ts'
import { PackagedEmbedder, packagedModel } from '#retrieval/index.ts'
import { defaultThreshold } from '#specs/resources/gateway/cache-policy.ts'
import { LocalAnswers } from '#storage/local-answers.ts'
import { different, type Pair, same } from './question-pairs.ts'

const embedder = new PackagedEmbedder({ place: { ...packagedModel, threads: 1 }, off: () => {} })
afterAll(() => embedder.close())

const place = { project: 'prj_1', lane: '|' }
const by = { threshold: defaultThreshold, judge: null }

/** Share of the pairs of which the second question gets the answer to the first. */
const shareOf = async (pairs: readonly Pair[]): Promise<number> => {
  let hits = 0
  for (const [at, [one, other]] of pairs.entries()) {
    const questions = new SimilarQuestions(new LocalAnswers({ steady: () => 0 }), embedder)
    const context = hashed(['context', at]) ?? ''
    await questions.add(place, { context, text: one }, { by, key: 'answer', ttlMs: 60_000, mark: 0 })
    if ((await questions.closest(place, { context, text: other }, by)) !== null) hits++
  }
  return hits / pairs.length
}

describe('questions', () => {
  it('with different answers get no stored answer of each other at the default threshold, of 70 pairs that are alike', async () => {
    await embedder.embed(['the model opens'], 'passage')
    expect(different.length).toBeGreaterThanOrEqual(60)
    expect(await shareOf(different)).toBeLessThanOrEqual(0.01)
  })

  it('with the same answer in other words get the stored answer in a third of the pairs', async () => {
    expect(same.length).toBeGreaterThanOrEqual(60)
    const share = await shareOf(same)
    expect(share).toBeGreaterThanOrEqual(1 / 3)
  })

  it.each<Pair>([
    ['How much is 10 GB?', 'How much is 100 GB?'],
    ['Who is Ann Lee?', 'Who is Ann Leigh?'],
    ['Does Ann know Bob?', 'Does Bob know Ann?'],
    ['Is it safe?', 'Is it not safe?'],
    ['Is it safe?', "Isn't it safe?"],
    ['Say "yes"', 'Say "no"'],
    ['What does `a.b` do?', 'What does `a.c` do?'],
    ['Write to [EMAIL_1]', 'Write to [EMAIL_2]'],
    ['What is your name?', 'What is my name?'],
    ['Mit Zucker?', 'Ohne Zucker?'],
    ['When may I go?', 'Where may I go?'],
  ])('%s and %s differ, whatever their vectors are', (one, other) => {
    expect(distinctWords(one)).not.toBe(distinctWords(other))
  })
})
