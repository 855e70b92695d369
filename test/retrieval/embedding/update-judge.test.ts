import { afterEach, describe, expect, it } from 'vitest'
import { PackagedEmbedder } from '#retrieval/embedding/packaged-embedder.ts'
import type { ModelPlace, ReadersOff } from '#retrieval/embedding/schema.ts'
import { modelFolder } from './model-folder.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const update = { file: 'update.json', states: 'inner' }
/** Weighs the first number of the newer text's mean state, and the product of the second numbers of both. */
const weights = { 'update.json': { states: [2, 0], cosines: [0, 0], mean: [0, 0], products: [0, 8], older: [1, 0] } }
const updateReader = { file: 'update.onnx', states: 'inner' }
const car = { text: 'car', vector: Float32Array.of(0, 1) }
const tea = { text: 'tea', vector: Float32Array.of(1, 0) }

const opened = async (place: Pick<ModelPlace, 'update' | 'updateReader'>) => {
  const { folder, remove } = modelFolder({ also: { ...weights, 'update.onnx': {} } })
  closers.push(remove)
  const reasons: ReadersOff[] = []
  const parts = { off: () => undefined, readersOff: (off: ReadersOff) => reasons.push(off) }
  const embedder = new PackagedEmbedder({ place: { folder, threads: 1, ...place }, ...parts })
  closers.push(() => embedder.close())
  return { embedder, reasons }
}

describe('judging which older texts a text updates', () => {
  it('returns the odds of each in their order, once the model is open', async () => {
    const { embedder } = await opened({ update })
    expect(await embedder.compare('car', [car])).toBeNull()
    await embedder.embed(['tea'], 'passage')
    expect((await embedder.compare('car', [car, tea]))?.map(Math.round)).toEqual([8, 1])
    expect((await embedder.compare('tea', [car, tea]))?.map(Math.round)).toEqual([3, 3])
    expect(await embedder.compare('car', [])).toEqual([])
  })

  it('reads the eight likeliest together with it, and adds what it makes of them', async () => {
    const { embedder } = await opened({ update, updateReader })
    await embedder.embed(['tea'], 'passage')
    const long = { ...tea, text: 'tea '.repeat(6) }
    expect((await embedder.compare('coffee car', [car, long]))?.map(Math.round)).toEqual([109, 704])
    const many = await embedder.compare('car', [...new Array<typeof car>(9).fill(car), tea])
    expect(many?.map((odds) => odds > 100)).toEqual([...new Array<boolean>(8).fill(true), false, false])
    // whatever is made of those that are read, none of the others is taken for what is updated
    expect(many?.map((odds) => odds < -1_000)).toEqual([...new Array<boolean>(8).fill(false), true, true])
  })

  it('is by vectors alone where the file of the reader is missing or was changed, which is said', async () => {
    const { embedder: without } = await opened({ update })
    await without.embed(['tea'], 'passage')
    const changed = { ...updateReader, hashes: { 'update.onnx': 'abc' } }
    for (const [place, reason] of [
      [changed, 'update.onnx was changed'],
      [{ ...updateReader, file: 'no.onnx' }, 'no.onnx'],
    ] as const) {
      const { embedder, reasons } = await opened({ update, updateReader: place })
      await embedder.embed(['tea'], 'passage')
      expect(await embedder.compare('car', [car, tea])).toEqual(await without.compare('car', [car, tea]))
      const together = expect.stringContaining(reason)
      expect(reasons).toEqual([{ read: null, judge: null, compare: null, together, suspect: null }])
    }
  })

  it('waits for questions, and goes before what is embedded in the background', async () => {
    const { embedder } = await opened({ update, updateReader })
    await embedder.embed(['tea'], 'passage')
    const done: string[] = []
    const note = (name: string) => () => void done.push(name)
    await Promise.all([
      embedder.compare('tea car', [tea]).then(note('running')),
      embedder.compare('car', [tea]).then(note('comparison')),
      embedder.embed(['coffee'], 'passage').then(note('passage')),
      embedder.embed(['car tea'], 'query').then(note('question')),
    ])
    expect(done).toEqual(['running', 'question', 'comparison', 'passage'])
  })

  it('gives a text that was compared the vector that it has otherwise', async () => {
    const { embedder } = await opened({ update })
    const [before] = await embedder.embed(['coffee car'], 'passage')
    await embedder.compare('coffee car', [car])
    expect(await embedder.embed(['coffee car'], 'passage')).toEqual([before])
  })

  it('is not possible without a judge, and the only thing that is lost when its file was changed', async () => {
    const changed = await opened({ update: { ...update, hashes: { 'update.json': 'abc' } } })
    for (const { embedder } of [await opened({}), changed]) {
      expect((await embedder.embed(['tea'], 'passage'))[0]?.length).toBe(2)
      expect(await embedder.compare('car', [car])).toBeNull()
    }
    const compare = expect.stringContaining('update.json was changed')
    expect(changed.reasons).toEqual([{ read: null, judge: null, compare, together: null, suspect: null }])
  })
})
