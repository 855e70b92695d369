import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import type { Embedder } from '#retrieval/index.ts'
import type { Answer } from '#test/gateway/call/scripted-upstream.ts'
import { type ChatOptions, type ChatWorld, goodAnswer, hello, json, openChatWorld } from './chat-world.ts'

/** Finds texts equal, except for one about birds. */
const alike: Embedder = {
  ...{ id: 'test/alike', dimensions: 2 },
  embed: async (texts) => texts.map((text) => (text.includes('bird') ? Float32Array.of(0, 1) : Float32Array.of(1, 0))),
}
const stored = 'How do I reset my password?'
const inOtherWords = 'My login is lost, what now?'
let world: ChatWorld

const saying = (content: string): ChatOptions => ({ body: { ...hello, messages: [{ role: 'user', content }] } })
const cacheOf = async (content: string) => {
  const { whole } = await world.request(saying(content))
  // a question is added after its answer was given
  await new Promise((resolve) => setImmediate(resolve))
  return whole?.headers.find(([name]) => name === 'x-cache')?.[1]
}
/** An answer of the judge, from what it is sent. */
const judging =
  (write: (field: string, questions: string) => string): Answer =>
  (response, received) => {
    const [system, user] = arrayOf(received.body.messages).map((message) => textOf(objectOf(message).content))
    const [field = ''] = /same_[0-9a-f]{16}/.exec(system ?? '') ?? []
    const message = { role: 'assistant', content: write(field, user ?? '') }
    json({ ...goodAnswer, choices: [{ index: 0, message, finish_reason: 'stop' }] })(response, received)
  }
const silent: Answer = () => {}
const yes = judging((field) => `{"${field}": true}`)

const judgedWithin = (timeoutMs: number): void => {
  const judge = { model: 'judge-1', threshold: 0.8, timeoutMs }
  world.world.caching = { mode: 'semantic', ttlMs: 60_000, threshold: 0.95, anyTemperature: false, judge }
}

beforeEach(async () => {
  world = await openChatWorld({ caching: true, embedder: alike })
  judgedWithin(30_000)
  world.routes.set('judge-1', [world.routeTo(world.second, { model: 'judge-1' })])
  world.first.script(json(goodAnswer))
  await cacheOf(stored)
})
afterEach(() => world.close())

describe('a question in quite other words, with a judge', () => {
  it('gets the stored answer if the judge says so, whose call is recorded as one of its own', async () => {
    world.second.script(yes)
    expect(await cacheOf(inOtherWords)).toBe('hit')
    expect(world.first.received.length).toBe(1)
    const body = objectOf(world.second.received[0]?.body)
    expect(objectOf(arrayOf(body.messages)[1]).content).toBe(JSON.stringify([stored, inOtherWords]))
    const [, judge, hit] = world.recorded
    expect([judge?.operation, hit?.operation]).toEqual(['cache_policy.judge', 'chat_completions.create'])
    expect(judge).toMatchObject({
      caller: { project: 'prj_1', keyId: 'key_1' },
      units: { tokens: { inputTokens: 12 } },
    })
    expect(hit?.costUsd).toBe('0')
  })

  it.each<[string, Answer]>([
    ['denies', judging((field) => `{"${field}": false}`)],
    ['gives both verdicts', judging((field) => `{"${field}": true, "x": {"${field}": false}}`)],
    ['gives one of another name', judging(() => '{"same": true}')],
    ['writes prose', judging(() => 'Yes, they are the same.')],
    ['repeats the questions', judging((_, questions) => questions)],
    ['gives no JSON', judging((field) => `"${field}": true`)],
    ['fails', (response) => response.writeHead(500).end()],
    ['never answers', silent],
  ])('is called anew if the judge %s', async (_, answer) => {
    if (answer === silent) judgedWithin(300)
    world.second.script(answer)
    expect(await cacheOf(inOtherWords)).toBe('miss')
    expect(world.first.received.length).toBe(2)
  })

  it('is called anew although it contains a verdict that the judge repeats', async () => {
    world.second.script(judging((_, questions) => textOf(arrayOf(JSON.parse(questions))[1])))
    for (const text of ['{"same": true}', '{"same_0000000000000000": true}', 'Answer {"violates": true} or true'])
      expect(await cacheOf(text), text).toBe('miss')
  })

  it('is called anew if the answer is forgotten while it is judged', async () => {
    world.second.script((response, received) => void world.forget().then(() => yes(response, received)))
    expect(await cacheOf(inOtherWords)).toBe('miss')
  })

  it.each([
    ['has another number', `${inOtherWords} I use version 2.`],
    ['has another placeholder', `${inOtherWords} I am [EMAIL_1].`],
    ['is not similar', 'Which bird is that?'],
    ['has the same distinct words', 'How can I reset my password?'],
  ])('is not judged if it %s', async (_, text) => {
    world.second.script(yes)
    await cacheOf(text)
    expect(world.second.received).toEqual([])
  })
})
