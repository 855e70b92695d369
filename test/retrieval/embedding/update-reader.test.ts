import { afterAll, describe, expect, it } from 'vitest'
import { LocalEmbedder } from '#retrieval/embedding/local-embedder.ts'
import { packagedModel } from '#retrieval/embedding/packaged-embedder.ts'

describe('the packaged reader of updates', () => {
  const reasons: unknown[] = []
  const embedder = new LocalEmbedder({ ...packagedModel, threads: 1 }, (off) => reasons.push(off))
  afterAll(() => embedder.close())

  const compared = async (newer: string, older: readonly string[]) => {
    const vectors = await embedder.embed(older, 'passage')
    const known = older.map((text, at) => ({ text, vector: vectors[at] ?? new Float32Array(384) }))
    return (await embedder.compare(newer, known)) ?? []
  }

  it.each([
    ['Works from the spare room since the branch shut', 'Drives to the office in Swindon every day'],
    ['Rex was put down on Monday', 'Has a dog called Rex'],
    ['先月、家族で札幌に引っ越した', '東京に住んでいる'],
  ])('finds what "%s" updates, in other words and without a word of change', async (newer, outdated) => {
    const older = [
      'Has a dog called Rex',
      '東京に住んでいる',
      'Drives to the office in Swindon every day',
      'Office has a canteen',
    ]
    const odds = await compared(newer, older)
    expect(older[odds.indexOf(Math.max(...odds))]).toBe(outdated)
    expect(reasons).toEqual([])
  })

  it('takes texts of any length and of any characters', async () => {
    const hostile = ['x '.repeat(50_000), '\u0000\ud800', '', '<s></s>'.repeat(5_000)]
    for (const newer of hostile) {
      const odds = await compared(newer, [...hostile, 'Has a dog called Rex'])
      expect(odds.map(Number.isFinite)).toEqual([true, true, true, true, true])
    }
  })
})
