import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { completionOf } from '#gateway/providers/completion-of.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import type { Answer } from '../call/scripted-upstream.ts'
import { whole } from '../call/scripted-upstream.ts'
import { type ChatWorld, framesOf, goodAnswer, goodStream, hello, json, openChatWorld } from './chat-world.ts'

let world: ChatWorld

beforeEach(async () => {
  world = await openChatWorld()
})
afterEach(() => world.close())

const usage = { inputTokens: 12, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0 }
const counted = { ...hello, stream_options: { include_usage: true } }
const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'model-1-2026' }
const said = { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }] }
const over = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }

/** An answer in these pieces, each written separately. */
const inPieces =
  (...pieces: readonly string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const next = (at: number): void => {
      const piece = pieces[at]
      if (piece === undefined) response.end()
      else response.write(piece, () => setImmediate(next, at + 1))
    }
    next(0)
  }

describe('a streamed answer to a request without streaming', () => {
  it.each([goodStream, `: hello\n\n${goodStream}`, `\uFEFF\n${goodStream}`])(
    'is assembled into a completion',
    async (stream) => {
      world.first.script(whole(stream))
      const { whole: answer } = await world.request()
      expect(answer).toMatchObject({ bytes: null, usage, finishReason: 'stop', model: 'model-1-2026' })
      expect(answer?.completion).toMatchObject({
        ...{ id: 'chatcmpl-1', object: 'chat.completion', model: 'model-1-2026', usage: goodAnswer.usage },
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello wörld 🌍 "error": {"usage":{}}' } }],
      })
      expect(world.recorded).toMatchObject([{ status: 200, streamed: false, units: { tokens: usage } }])
    },
  )

  it.each([
    ['broke off', goodStream.slice(0, 200), 'provider_stream_broken'],
    ['has an error in it', framesOf({ error: { type: 'overloaded_error' } }), 'provider_unavailable'],
  ])('causes an error when it %s', async (_, stream, code) => {
    world.first.script(whole(stream))
    expect(await world.request()).toMatchObject({ whole: null, error: { code } })
  })
})

describe('an answer without streaming to a streaming request', () => {
  it('is passed on, priced and recorded as a stream', async () => {
    world.first.script(json(goodAnswer))
    const { chunks, summary, begun } = await world.request({ stream: true, body: counted })
    expect(begun).toBe(true)
    expect(chunks).toEqual([said, over, { ...head, choices: [], usage: goodAnswer.usage }])
    expect(summary).toMatchObject({ usage, finishReason: 'stop', model: 'model-1-2026' })
    expect(world.recorded).toMatchObject([{ status: 200, error: null, streamed: true, units: { tokens: usage } }])
    expect(JSON.parse(String(world.recorded[0]?.bodies?.().response ?? ''))).toMatchObject({
      choices: [{ message: { content: 'Hello' } }],
    })
  })

  it('has no usage chunk when the request did not set include_usage', async () => {
    world.first.script(json(goodAnswer))
    expect((await world.request({ stream: true, frames: false })).chunks).toEqual([said, over])
  })

  it('keeps every choice, the order of tool calls, and additional fields of the provider', async () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'look_up', arguments: '{"q":1}' } })
    const message = {
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm.',
      tool_calls: [call('call_1'), call('call_2')],
    }
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'A' }, finish_reason: 'length' },
      { index: 1, message, logprobs: { content: [] } },
    ]
    world.first.script(json({ ...goodAnswer, system_fingerprint: 'fp_1', choices }))
    const { chunks } = await world.request({ stream: true, body: { ...hello, n: 2 } })
    expect(chunks).toHaveLength(4)
    expect(chunks[1]).toMatchObject({ choices: [{ index: 1, logprobs: { content: [] } }] })
    expect(completionOf(chunks)).toMatchObject({
      choices: [
        { index: 0, message: { content: 'A' }, finish_reason: 'length' },
        { index: 1, message, finish_reason: 'tool_calls' },
      ],
    })
    expect(chunks.every((chunk) => chunk.system_fingerprint === 'fp_1')).toBe(true)
  })

  it('is recognised by its content, also after blank lines', async () => {
    world.first.script(inPieces('\n\n', ' \r\n', '{', ...JSON.stringify(goodAnswer).slice(1).split(/(?=,)/)))
    expect((await world.request({ stream: true })).chunks).toEqual([said, over])
  })

  it('is not confused with a stream that begins with blank lines', async () => {
    world.first.script(inPieces('\n', '\n\n', goodStream))
    const { frames, summary } = await world.request({ stream: true })
    expect(frames).toContain('wörld')
    expect(summary).toMatchObject({ usage })
  })

  it('has tokens estimated by length when the provider reports no usage', async () => {
    const { usage: _none, ...uncounted } = goodAnswer
    world.first.script(json(uncounted))
    const { summary } = await world.request({ stream: true })
    expect(summary?.usage).toMatchObject({ estimated: true, outputTokens: 2 })
  })

  it.each([
    ['an error', json({ error: { message: 'overloaded', type: 'overloaded_error' } }), 'provider_unavailable'],
    ['no answer', json('{"ok":true}'), 'provider_error'],
    ['cut short', json(JSON.stringify(goodAnswer).slice(0, 90)), 'provider_error'],
    ['nothing but blank lines', inPieces('\n', '\n'), 'provider_stream_broken'],
  ])('starts no stream when it is %s, and the next provider is called', async (_, trouble, code) => {
    world.first.script(trouble)
    const failed = await world.request({ stream: true })
    expect(failed).toMatchObject({ begun: false, chunks: [], error: { code } })
    world.second.script(whole(goodStream))
    world.routes.set('model-1', [world.routeTo(world.first), world.routeTo(world.second)])
    const { frames, error } = await world.request({ stream: true })
    expect(error).toBeNull()
    expect(frames).toContain('wörld')
  })

  it('has personal data restored', async () => {
    const policy = policyBy({ types: ['email'], input: true, toolArguments: true, restore: true, region: 'US' })
    world.world.redaction = { policyOf: () => policy, forLog: (body) => body }
    world.first.script((response, { body }) => {
      const content = /\[EMAIL_\d+\]/.exec(JSON.stringify(body))?.[0] ?? 'nothing'
      const answer = {
        ...goodAnswer,
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
    const body = { ...hello, messages: [{ role: 'user', content: 'Write to ann@example.org' }] }
    const { chunks } = await world.request({ stream: true, body })
    expect(completionOf(chunks)).toMatchObject({ choices: [{ message: { content: 'ann@example.org' } }] })
    expect(JSON.stringify(world.first.received[0]?.body)).not.toContain('ann@example.org')
  })
})
