import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answerMemory } from '#outgoing/answer-memory.ts'
import type { Answer } from '../call/scripted-upstream.ts'
import { whole } from '../call/scripted-upstream.ts'
import { type ChatWorld, goodAnswer, json, openChatWorld } from './chat-world.ts'

const mebibyte = 1024 * 1024

let world: ChatWorld

beforeEach(async () => {
  world = await openChatWorld({ policy: { retries: 0 } })
})
afterEach(() => world.close())

/** The number of bytes that an endless answer sent before its reader left. */
const endless = (beginning: string) => {
  const sent = Promise.withResolvers<number>()
  let bytes = 0
  const answer: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(beginning)
    const part = Buffer.alloc(mebibyte, 'x')
    const more = (): void => {
      bytes += part.length
      response.write(part, (error) => (error === null || error === undefined ? setImmediate(more) : undefined))
    }
    response.once('close', () => sent.resolve(bytes))
    more()
  }
  return { answer, sent: sent.promise }
}

describe('the answer of a provider', () => {
  it.each([
    ['whole', false, '{"choices":[{"message":{"content":"', 32],
    ['whole, where a stream was requested', true, '{"choices":[{"message":{"content":"', 8],
    ['a stream, where a whole one was requested', false, 'data: {"choices":[{"delta":{"content":"', 32],
  ])('without an end, %s, is aborted as broken', async (_, stream, beginning, max) => {
    const { answer, sent } = endless(beginning)
    world.first.script(answer)
    expect(await world.request({ stream })).toMatchObject({ error: { code: 'provider_stream_broken' } })
    // The buffers of both ends add to the limit.
    expect(await sent).toBeLessThan((max + 24) * mebibyte)
  })

  it.each([
    ['whole', false],
    ['whole, where a stream was requested', true],
  ])(
    'that finds no memory beside others, %s, is refused as overloaded, and what it took is given back',
    async (_, stream) => {
      const others = answerMemory.reserve('prj_others')
      others.grow(answerMemory.max)
      const { answer } = endless('{"choices":[{"message":{"content":"')
      world.first.script(answer)
      expect(await world.request({ stream })).toMatchObject({ error: { code: 'overloaded' } })
      others.leave()
      expect(answerMemory.bytes).toBe(0)
      world.first.script(json(goodAnswer))
      expect(await world.request()).toMatchObject({ error: null })
    },
  )

  it('of 20 MB is read completely', async () => {
    const content = '"wörld" 🌍 '.repeat(1_500_000)
    const long = {
      ...goodAnswer,
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    }
    world.first.script(json(long))
    const { whole: answer } = await world.request()
    expect(answer?.completion).toEqual(long)
    expect(answer?.finishReason).toBe('stop')
    expect(world.recorded).toMatchObject([{ status: 200 }])
  })

  it.each([
    ['nests 20 million lists', '['.repeat(20_000_000)],
    ['has four million objects', `{"choices":[${'{},'.repeat(4_000_000)}{}]}`],
    ['ends before its JSON is complete', `{"choices":[{"message":{"content":"${'x'.repeat(2_000_000)}"}}]`],
  ])('that %s is refused', async (_, text) => {
    world.first.script(whole(text))
    expect(await world.request()).toMatchObject({ whole: null, error: { code: 'provider_error' } })
  })
})
