import { afterEach, describe, expect, it } from 'vitest'
import { LocalEmbedder } from '#retrieval/embedding/local-embedder.ts'
import { PackagedEmbedder } from '#retrieval/embedding/packaged-embedder.ts'
import type { ModelPlace } from '#retrieval/embedding/schema.ts'
import { modelFolder } from './model-folder.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** Weighs the first number of the mean state, and the second of the vector. */
const guard = { file: 'guard.json', states: 'inner' }
const instructions = { bias: -1, weights: [2, 0, 0, 4] }
const both = { instructions, lasting: { bias: -2, weights: [2] } }

const opened = async (place: Pick<ModelPlace, 'guard'> = { guard }, traits: object = both) => {
  const { folder, remove } = modelFolder({ also: { 'guard.json': traits } })
  closers.push(remove)
  const reasons: unknown[] = []
  const embedder = new LocalEmbedder({ folder, threads: 1, ...place }, (off) => reasons.push(off))
  closers.push(() => embedder.close())
  return { embedder, reasons, folder }
}

describe('judging traits of texts', () => {
  it('returns the odds of each text in their order', async () => {
    const { embedder } = await opened()
    // opens the model, for which no text that is judged waits
    await embedder.embed(['tea'], 'passage')
    const odds = await embedder.judge(['car', 'tea', 'tea car'])
    expect(odds?.map((each) => Math.round(each * 10))).toEqual([30, 14, 30])
  })

  it('returns those of the trait in question, and fails for one that it was not trained for', async () => {
    const { embedder } = await opened()
    await embedder.embed(['tea'], 'passage')
    expect(await embedder.judge(['tea', 'car'], 'lasting')).toEqual([0, -2])
    const { embedder: other } = await opened({ guard }, { instructions })
    await other.embed(['tea'], 'passage')
    await expect(other.judge(['tea'], 'lasting')).rejects.toThrow('the model does not judge lasting')
  })

  it('lets sentences of messages wait for questions and for what a write waits for', async () => {
    const { embedder } = await opened()
    await embedder.embed(['tea'], 'passage')
    const done: string[] = []
    const note = (name: string) => () => void done.push(name)
    await Promise.all([
      embedder.judge(['tea car']).then(note('running')),
      embedder.judge(['tea'], 'lasting').then(note('extraction')),
      embedder.embed(['tea car'], 'passage').then(note('passage')),
      embedder.judge(['car']).then(note('write')),
      embedder.embed(['car tea'], 'query').then(note('question')),
    ])
    expect(done.filter((each) => !['running', 'passage'].includes(each))).toEqual(['write', 'question', 'extraction'])
  })

  it('is not possible without a judge', async () => {
    const { embedder } = await opened({})
    expect(await embedder.judge(['car'])).toBeNull()
  })

  it('is the only thing that is lost when its file was changed', async () => {
    const { embedder, reasons } = await opened({ guard: { ...guard, hashes: { 'guard.json': 'abc' } } })
    expect((await embedder.embed(['tea'], 'passage'))[0]?.length).toBe(2)
    expect(await embedder.judge(['car'])).toBeNull()
    expect(reasons).toEqual([
      {
        ...{ read: null, judge: expect.stringContaining('guard.json was changed'), compare: null },
        ...{ together: null, suspect: null },
      },
    ])
  })

  it('is possible once the packaged model is open, which it begins to be with the first text', async () => {
    const { folder, remove } = modelFolder({ also: { 'guard.json': both } })
    closers.push(remove)
    const embedder = new PackagedEmbedder({ place: { folder, threads: 1, guard }, off: () => undefined })
    closers.push(() => embedder.close())
    expect(await embedder.judge(['car'])).toBeNull()
    expect(await embedder.judge(['tea'], 'lasting')).toEqual([0])
    expect(await embedder.judge(['car'])).toEqual([3])
  })
})
