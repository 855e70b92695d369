import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whole } from '../call/scripted-upstream.ts'
import { type ChatWorld, goodAnswer, hello, json, openChatWorld } from './chat-world.ts'

/* The limits: the bytes of a request, with what a provider adds, and twice the longest answer. */

let world: ChatWorld
beforeAll(async () => {
  world = await openChatWorld()
  // 3 USD a million tokens in, 15 out, at most 64,000 out
  world.routes.set('claude', [world.routeTo(world.first, { provider: 'anthropic', model: 'claude-sonnet-4-5' })])
  world.routes.set('searching', [world.routeTo(world.first, { model: 'groq/compound' })])
})
afterAll(() => world.close())

const usageOf = (input: number, output = 5) => ({ prompt_tokens: input, completion_tokens: output })
const body = { ...hello, model: 'claude' }
/** Tokens and cost that are recorded of a call whose provider reports this. */
const recordedOf = async (usage: object, more: object = {}) => {
  world.first.script(json({ ...goodAnswer, usage }))
  await world.request({ body: { ...body, ...more } })
  const { units, costUsd } = world.recorded.at(-1) ?? {}
  return { ...units?.tokens, costUsd }
}

describe('a report of more than a request and its answer can hold', () => {
  it.each([
    ['tokens of the input', usageOf(20_000)],
    ['tokens of the input, of which none are new', { ...usageOf(9e8), prompt_tokens_details: { cached_tokens: 9e8 } }],
    ['tokens of the answer', usageOf(12, 300_000)],
    ['tokens of thoughts', { ...usageOf(12, 9e8), completion_tokens_details: { reasoning_tokens: 9e8 } }],
  ])('is as good as none: %s', async (_, usage) => {
    const { estimated, inputTokens = 0, outputTokens = 0, costUsd } = await recordedOf(usage)
    expect([estimated, inputTokens < 50, outputTokens < 50]).toEqual([true, true, true])
    expect(Number(costUsd)).toBeLessThan(0.001)
    expect(Number(costUsd)).toBeGreaterThan(0)
  })

  it('shows the caller what is charged instead', async () => {
    world.first.script(json({ ...goodAnswer, usage: usageOf(9e8) }))
    const { whole: answer } = await world.request({ body })
    const shown = answer?.completion.usage
    expect(shown).toMatchObject({ prompt_tokens: answer?.usage.inputTokens, cost_usd: Number(answer?.costUsd) })
    const delta = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }
    const events = [delta, { choices: [], usage: usageOf(9e8) }].map((event) => `data: ${JSON.stringify(event)}\n\n`)
    world.first.script(whole(`${events.join('')}data: [DONE]\n\n`))
    const streamed = { ...body, stream: true, stream_options: { include_usage: true } }
    const { chunks, summary } = await world.request({ body: streamed, stream: true, frames: false })
    expect(chunks.at(-1)?.usage).toMatchObject({
      ...{ prompt_tokens: summary?.usage.inputTokens, cost_usd: Number(summary?.costUsd) },
    })
    const { frames } = await world.request({ body: streamed, stream: true })
    // the frames of the provider are passed on as they came, but not priced
    expect([frames.includes('900000000'), frames.includes('cost_usd')]).toEqual([true, false])
  })
})

describe('a report is believed', () => {
  const text = (chars: number) => [{ role: 'user', content: 'ab '.repeat(chars / 3) }]
  const parts = (count: number, part: object) => [{ role: 'user', content: Array(count).fill(part) }]
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  it.each<[string, object, object]>([
    ['of the preamble of a provider', usageOf(16_000), {}],
    ['of a long request, however it is split into tokens', usageOf(90_000), { messages: text(90_000) }],
    ['of images', usageOf(400_000), { messages: parts(8, image) }],
    ['of the longest answer, by one or by several', usageOf(12, 1_000_000), { n: 4 }],
    ['of files', usageOf(900_000), { messages: parts(1, { type: 'file', file: { file_id: 'file-1' } }) }],
    ['of what the tools of a provider read', usageOf(900_000), { tools: [{ type: 'web_search_20250305' }] }],
    ['of what fields may mean that are not known', usageOf(900_000), { search_parameters: {} }],
    ['of models that search by themselves', usageOf(900_000), { model: 'searching' }],
  ])('%s', async (_, usage, more) => {
    const { inputTokens, outputTokens, estimated } = await recordedOf(usage, more)
    expect([usageOf(Number(inputTokens), Number(outputTokens)), estimated]).toEqual([usage, undefined])
  })
})
