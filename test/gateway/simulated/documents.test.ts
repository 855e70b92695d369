import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SimulatedProvider, startSimulatedProvider } from '#gateway/simulated/server.ts'
import { arrayOf, objectOf } from '#outgoing/wire.ts'
import { watchedTurns } from '#test/support/cpu-ms.ts'

describe('the documents of the simulated model', () => {
  let simulated: SimulatedProvider
  let sdk: OpenAI

  beforeAll(async () => {
    simulated = await startSimulatedProvider({ chunkDelayMs: 0 })
    sdk = new OpenAI({ baseURL: simulated.url, apiKey: 'none', maxRetries: 0 })
  })
  afterAll(() => simulated.close())

  const model = 'simulated-1'
  const rerank = async (body: object) => {
    const sent = { method: 'POST', body: JSON.stringify({ model, ...body }) }
    const response = await fetch(`${simulated.url}/rerank`, sent)
    const text = await response.text()
    const results = arrayOf(objectOf(JSON.parse(text)).results).map(objectOf)
    return { status: response.status, results }
  }

  it('completes each prompt, with n, stop and token limits', async () => {
    const one = await sdk.completions.create({ model, prompt: 'Good morning' })
    expect(one).toMatchObject({
      object: 'text_completion',
      choices: [{ text: 'You said: Good morning', index: 0, finish_reason: 'stop', logprobs: null }],
      usage: { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 },
    })
    const limits = { prompt: ['one two three four', 'reply exactly: a b c'], n: 2, max_tokens: 2, stop: 'b' }
    const { choices } = await sdk.completions.create({ model, ...limits })
    expect(choices.map(({ text, finish_reason }) => [text, finish_reason])).toEqual([
      ...[1, 2].map(() => ['You said', 'length']),
      ...[1, 2].map(() => ['a ', 'stop']),
    ])
    const failing = sdk.completions.create({ model, prompt: ['hi', 'fail please'] })
    await expect(failing).rejects.toBeInstanceOf(OpenAI.InternalServerError)
    await expect(sdk.completions.create({ model, prompt: [] })).rejects.toBeInstanceOf(OpenAI.BadRequestError)
  })

  it('moderates texts by words, one result per text and one for a list of parts', async () => {
    const { results } = await sdk.moderations.create({ model, input: ['I will kill the process', 'I knit'] })
    expect(results.map(({ flagged }) => flagged)).toEqual([true, false])
    expect(results[0]?.categories).toMatchObject({ violence: true, sexual: false, 'self-harm/intent': false })
    expect(results[0]?.category_scores.violence).toBeGreaterThan(0.5)
    const parts = await sdk.moderations.create({
      model,
      input: [
        { type: 'text', text: 'A murder' },
        { type: 'text', text: 'mystery' },
      ],
    })
    expect(parts.results).toHaveLength(1)
    expect(parts.results[0]?.flagged).toBe(true)
    await expect(sdk.moderations.create({ model, input: [] })).rejects.toBeInstanceOf(OpenAI.BadRequestError)
  })

  it('ranks documents by what they share with the query', async () => {
    const documents = ['The weather in Oslo', { text: 'A cat sleeps' }, 'Cats and dogs: the cat']
    const { results } = await rerank({ query: 'a cat', documents, top_n: 2, return_documents: true })
    expect(results.map(({ index }) => index)).toEqual([1, 2])
    expect(results[0]).toMatchObject({ document: { text: 'A cat sleeps' } })
    const [first = 0, second = 0] = results.map(({ relevance_score }) => Number(relevance_score))
    expect(first).toBeGreaterThan(second)
    expect(first).toBeLessThanOrEqual(1)
    expect((await rerank({ query: '', documents })).status).toBe(400)
    expect((await rerank({ query: 'a', documents: [] })).status).toBe(400)
  })

  it('keeps the loop free while it ranks ten thousand long documents', async () => {
    const documents = Array.from({ length: 10_000 }, (_, n) => `document ${n} ${'word '.repeat(200)}`)
    const { result, turnMs } = await watchedTurns(() => rerank({ query: 'document 7', documents, top_n: 1 }))
    expect(result.results).toHaveLength(1)
    expect(turnMs).toBeLessThan(1_000)
  })
})
