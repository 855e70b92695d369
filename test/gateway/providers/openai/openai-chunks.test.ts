import { describe, expect, it } from 'vitest'
import { OpenAiChunks } from '#gateway/providers/openai/openai-chunks.ts'
import { arrayOf } from '#outgoing/wire.ts'

const chunkOf = (choices: number): string =>
  JSON.stringify({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: Array.from({ length: choices }, (_, index) => ({ index, delta: { content: 'a' }, finish_reason: null })),
  })

describe('a chunk with several choices', () => {
  it('gets the missing role in the first chunk of each choice alone', () => {
    const chunks = new OpenAiChunks()
    const { chunk, changed } = chunks.read(chunkOf(1_000))
    expect(changed).toBe(true)
    expect(arrayOf(chunk.choices)).toHaveLength(1_000)
    for (const choice of arrayOf(chunk.choices)) expect(choice).toMatchObject({ delta: { role: 'assistant' } })
    expect(chunks.begun).toBe(1_000)
    expect(chunks.read(chunkOf(1_000)).changed).toBe(false)
  })

  it('of 100,000 choices ends the answer as broken, and takes no more time than to be parsed', () => {
    const data = chunkOf(100_000)
    const began = process.cpuUsage()
    JSON.parse(data)
    const parsing = process.cpuUsage(began)
    const started = process.cpuUsage()
    expect(() => new OpenAiChunks().read(data)).toThrow()
    const reading = process.cpuUsage(started)
    expect(reading.user + reading.system).toBeLessThan(3 * (parsing.user + parsing.system) + 50_000)
  })
})
