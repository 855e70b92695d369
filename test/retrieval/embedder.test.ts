import { afterEach, describe, expect, it } from 'vitest'
import { openLocalEmbedder } from '#retrieval/embedder.ts'
import { maxKeptQuestions } from '#retrieval/embedding/local-embedder.ts'
import { modelFolder } from './embedding/model-folder.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const opened = async (change: Parameters<typeof modelFolder>[0] = {}) => {
  const { folder, remove } = modelFolder(change)
  closers.push(remove)
  const embedder = await openLocalEmbedder(folder)
  closers.push(() => embedder.close())
  return embedder
}

const rounded = (vector: Float32Array | undefined): readonly number[] =>
  [...(vector ?? [])].map((each) => Math.round(each * 100))

describe('the local embedder', () => {
  it('has the name of its folder and the dimensions of its model', async () => {
    const { id, dimensions } = await opened()
    expect({ id, dimensions }).toEqual({ id: 'local/tiny-model', dimensions: 2 })
  })

  it('returns vectors of length 1 in the order of the texts, whatever their lengths', async () => {
    const embedder = await opened()
    const vectors = await embedder.embed(['tea coffee tea coffee', 'car', 'tea'], 'passage')
    expect(vectors.map(rounded)).toEqual([
      [99, 15],
      [0, 100],
      [100, 10],
    ])
  })

  it('pools by the first token when the model is configured so', async () => {
    const embedder = await opened({ also: { '1_Pooling/config.json': { pooling_mode_cls_token: true } } })
    expect(rounded((await embedder.embed(['car tea tea'], 'query'))[0])).toEqual([0, 100])
  })

  it('adds the query prefix of the model to a question, and nothing to a passage', async () => {
    const prompts = { 'config_sentence_transformers.json': { prompts: { query: 'car ' } } }
    const embedder = await opened({ also: prompts })
    const [query] = await embedder.embed(['tea'], 'query')
    const [passage] = await embedder.embed(['tea'], 'passage')
    expect([rounded(query), rounded(passage)]).toEqual([
      [67, 74],
      [100, 10],
    ])
  })

  it('truncates a text to the length of the model', async () => {
    const embedder = await opened()
    const [vector] = await embedder.embed([`${'tea '.repeat(7)}${'coffee '.repeat(5_000)}tea`], 'passage')
    expect(rounded(vector)).toEqual([100, 10])
  })

  it('returns zeros for a text in a script that its vocabulary does not have, and the vectors of others', async () => {
    const parts = Array.from({ length: 676 }, (_, n) => String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26)))
    const model = { vocab: Object.fromEntries(parts.map((part, n) => [part, n])) }
    const embedder = await opened({ also: { 'tokenizer.json': { words: ['', 'tea', 'coffee', 'car'], model } } })
    const vectors = await embedder.embed(['чай и кофе', 'tea', 'चाय'], 'passage')
    expect(vectors.map(rounded)).toEqual([
      [0, 0],
      [100, 10],
      [0, 0],
    ])
  })

  it('answers 100 concurrent requests', async () => {
    const embedder = await opened()
    const all = await Promise.all(Array.from({ length: 100 }, () => embedder.embed(['tea'], 'query')))
    expect(all.every(([vector]) => rounded(vector)[0] === 100)).toBe(true)
  })

  it.each(['', '\ud800', '\0', 'x'.repeat(1_000_000)])('accepts any text (%#)', async (text) => {
    const embedder = await opened()
    expect((await embedder.embed([text], 'query'))[0]?.length).toBe(2)
  })

  it('fails for a text that crashes the model, and continues with the next', async () => {
    const embedder = await opened()
    await expect(embedder.embed(['crash'], 'passage')).rejects.toThrow('the embedder ended')
    expect(rounded((await embedder.embed(['tea'], 'passage'))[0])).toEqual([100, 10])
  })

  it('keeps the vectors of the questions that were put last, and of no others', async () => {
    const embedder = await opened()
    const vectorOf = async (text: string) => (await embedder.embed([text], 'query'))[0]
    const [first, again] = await Promise.all([vectorOf('tea'), vectorOf('tea')])
    expect(again).toBe(first)
    expect((await embedder.embed(['tea'], 'passage'))[0]).not.toBe(first)
    await Promise.all(Array.from({ length: maxKeptQuestions - 1 }, (_, n) => vectorOf(`tea ${n}`)))
    expect(await vectorOf('tea')).toBe(first)
    await Promise.all(Array.from({ length: maxKeptQuestions }, (_, n) => vectorOf(`coffee ${n}`)))
    expect(await vectorOf('tea')).not.toBe(first)
    const long = 'x'.repeat(4_097)
    expect(await vectorOf(long)).not.toBe(await vectorOf(long))
  })

  it('does not cache a failure', async () => {
    const embedder = await opened()
    await expect(embedder.embed(['crash'], 'query')).rejects.toThrow('the embedder ended')
    await expect(embedder.embed(['crash'], 'query')).rejects.toThrow('the embedder ended')
    expect(rounded((await embedder.embed(['tea'], 'query'))[0])).toEqual([100, 10])
  })

  it('rejects requests after it was closed, also for cached questions', async () => {
    const embedder = await opened()
    await embedder.embed(['tea'], 'query')
    await embedder.close()
    await expect(embedder.embed(['tea'], 'query')).rejects.toThrow('the embedder is closed')
  })

  it.each([
    ['model.onnx', 'no model.onnx in'],
    ['tokenizer.json', 'no tokenizer.json in'],
  ])('does not open without %s, and reports that', async (without, reason) => {
    const { folder, remove } = modelFolder({ without })
    closers.push(remove)
    await expect(openLocalEmbedder(folder)).rejects.toThrow(reason)
  })
})
