import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Embedder } from '#retrieval/index.ts'
import { type ChatOptions, type ChatWorld, caller, goodAnswer, hello, json, openChatWorld } from './chat-world.ts'

/** Finds every text equal, so that they differ only by what is compared beside the vectors. */
const alike: Embedder = {
  ...{ id: 'test/alike', dimensions: 2 },
  embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
}
const [one, other] = ['How do I reset my password?', 'How can I reset my password?']
let world: ChatWorld

const by = (more: object): ChatOptions => ({ caller: { ...caller, ...more } })
const saying = (content: unknown, more: object = {}): ChatOptions => ({
  body: { ...hello, messages: [{ role: 'user', content }], ...more },
})
const cacheOf = async (request: ChatOptions) =>
  (await world.request(request)).whole?.headers.find(([name]) => name === 'x-cache')?.[1]

beforeEach(async () => {
  world = await openChatWorld({ caching: true, embedder: alike })
  world.world.caching = { mode: 'semantic', ttlMs: 60_000, threshold: 0.95, anyTemperature: false, judge: null }
  world.routes.set('model-2', [world.routeTo(world.first)])
  world.first.script(json(goodAnswer))
  await world.request(saying(one))
  // the question is added after its answer was given
  await new Promise((resolve) => setImmediate(resolve))
})
afterEach(() => world.close())

it('a question in other words gets the stored answer, which costs nothing', async () => {
  const again = await world.request(saying(other))
  expect([again.whole?.costUsd, world.first.received.length]).toEqual(['0', 1])
  expect(world.recorded.at(-1)?.reuse?.status).toBe('hit')
})

it.each<[string, ChatOptions]>([
  ['with a tool', saying(other, { tools: [{ type: 'function', function: { name: 'act' } }] })],
  ['with another model', saying(other, { model: 'model-2' })],
  ['with another parameter', saying(other, { max_tokens: 7 })],
  [
    'after another message',
    {
      body: {
        ...hello,
        messages: [
          { role: 'system', content: 'x' },
          { role: 'user', content: other },
        ],
      },
    },
  ],
  [
    'with an image',
    saying([
      { type: 'text', text: other },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ]),
  ],
  ['of another tenant', { ...saying(other), ...by({ tenant: 'ten_b' }) }],
  ['of a user with memories', { ...saying(other), reuse: { user: 'ann' } }],
  ['of a caller that wants equal requests', { ...saying(other), ...by({ headers: { cacheMode: 'exact' } }) }],
  ['that negates', saying('How can I not reset my password?')],
  ['with another number', saying('How can I reset my password 2?')],
])('a question in other words %s does not', async (_, request) => {
  expect(await cacheOf(request)).toBe('miss')
})

it('a question is called anew once its project forgot', async () => {
  await world.forget()
  expect(await cacheOf(saying(one))).toBe('miss')
  expect(await cacheOf(saying(one))).toBe('hit')
})
