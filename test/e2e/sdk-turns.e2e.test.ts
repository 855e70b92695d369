import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { NotFoundError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from './world.ts'

describe('SDKs from the second turn on', () => {
  let world: World
  let openai: OpenAI

  beforeAll(async () => {
    world = await World.start()
    openai = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
  }, 120_000)
  afterAll(() => world.stop())

  it('a response resolves references to items of an earlier one, as the AI SDK sends them', async () => {
    const model = 'simulated'
    const first = await openai.responses.create({ model, input: 'Say one' })
    const [item] = first.output
    const second = await openai.responses.create({
      model,
      input: [
        { role: 'user', content: 'Say one' },
        { type: 'item_reference', id: item?.id ?? '' },
        { role: 'user', content: 'Say two' },
      ],
    })
    expect(second.status).toBe('completed')
    const { data } = await openai.responses.inputItems.list(second.id, { order: 'asc' })
    expect(data.map((each) => ('role' in each ? each.role : each.type))).toEqual(['user', 'assistant', 'user'])
    expect(data[1]).toMatchObject({ id: item?.id, content: [{ text: first.output_text }] })
    const unknown = openai.responses.create({ model, input: [{ type: 'item_reference', id: 'msg_none' }] })
    await expect(unknown).rejects.toThrow(NotFoundError)
    await openai.responses.delete(first.id)
    const deleted = openai.responses.create({ model, input: [{ type: 'item_reference', id: item?.id ?? '' }] })
    await expect(deleted).rejects.toThrow(NotFoundError)
  })

  it("a thread of Anthropic's SDK keeps its messages", async () => {
    const anthropic = new Anthropic({ apiKey: world.secretKey, baseURL: world.url, maxRetries: 0 })
    const thread = anthropic.beta.messages.thread({ model: 'simulated', max_tokens: 50 })
    const first = await thread.send({ role: 'user', content: 'hello' })
    const second = await thread.send({ role: 'user', content: 'again' })
    expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens)
    expect(second.content).toMatchObject([{ text: 'You said: again' }])
  })
})
