import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { EmbedderUnavailable } from '#retrieval/embedder.ts'
import { LocalEmbedder } from '#retrieval/embedding/local-embedder.ts'
import { modelFolder } from './model-folder.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const opened = async ({ withReader = true } = {}) => {
  const { folder, remove } = modelFolder({ also: { 'reader.onnx': {}, 'judge.onnx': {} } })
  closers.push(remove)
  const reader = withReader ? { reader: { layers: 'reader.onnx', judge: 'judge.onnx', states: 'inner' } } : {}
  const embedder = await LocalEmbedder.open({ folder, threads: 1, ...reader })
  closers.push(() => embedder.close())
  const runs = join(folder, 'node_modules/onnxruntime-node/runs')
  return { embedder, runs: () => (existsSync(runs) ? readFileSync(runs, 'utf8').length : 0) }
}

describe('reading a question and texts', () => {
  it('returns the odds of each text in their order', async () => {
    const { embedder } = await opened()
    const odds = await embedder.read('tea', ['car', 'coffee', 'tea coffee'])
    // product of the vectors, and a token like the question's; the shorter texts are filled up
    expect(odds?.map((each) => Math.round(each * 10))).toEqual([1, 20, 30])
  })

  it('runs a memory that has just been embedded only once, whatever is asked about it', async () => {
    const { embedder, runs } = await opened()
    await embedder.embed(['coffee'], 'passage')
    const before = runs()
    await embedder.read('tea', ['coffee'])
    await embedder.read('car', ['coffee'])
    // both questions
    expect(runs() - before).toBe(2)
  })

  it('is not possible without a model for it', async () => {
    const { embedder } = await opened({ withReader: false })
    expect(await embedder.read('tea', ['coffee'])).toBeNull()
  })

  it('is the only thing that is lost when its files are missing or changed', async () => {
    const { folder, remove } = modelFolder()
    closers.push(remove)
    const reader = { layers: 'reader.onnx', judge: 'judge.onnx', states: 'inner', hashes: { 'reader.onnx': 'abc' } }
    const reasons: string[] = []
    const embedder = new LocalEmbedder({ folder, threads: 1, reader }, ({ read }) => reasons.push(read ?? ''))
    closers.push(() => embedder.close())
    expect((await embedder.embed(['tea'], 'passage'))[0]?.length).toBe(2)
    expect(await embedder.read('tea', ['coffee'])).toBeNull()
    expect(reasons).toEqual([expect.stringContaining('reader.onnx')])
  })

  it('fails when the process ends, and works again once there is another', async () => {
    const { embedder } = await opened()
    await expect(embedder.read('crash', ['coffee'])).rejects.toThrow(EmbedderUnavailable)
    // this waits until it is open, which a search does not
    await embedder.embed(['tea'], 'query')
    expect(await embedder.read('tea', ['coffee'])).toHaveLength(1)
  })

  it('refuses more than 64 questions at a time', async () => {
    const { embedder } = await opened()
    const all = await Promise.all(Array.from({ length: 80 }, () => embedder.read('tea', ['coffee'])))
    expect(all.filter((odds) => odds === null).length).toBeGreaterThan(0)
    expect(all.filter((odds) => odds !== null).length).toBeGreaterThanOrEqual(64)
    expect(await embedder.read('tea', ['coffee'])).toHaveLength(1)
  })

  it('does not work after closing', async () => {
    const { embedder } = await opened()
    await embedder.close()
    expect(await embedder.read('tea', ['coffee'])).toBeNull()
  })
})
