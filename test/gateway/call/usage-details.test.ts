import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { usageOf } from '#gateway/call/accounting/openai-usage.ts'
import { ChunkWriter } from '#gateway/providers/chunk-writer.ts'
import { geminiTokens } from '#gateway/providers/google/gemini-audio.ts'
import { googleUsage } from '#gateway/providers/google/google-usage.ts'
import {
  type ChatWorld,
  delta,
  framesOf,
  goodAnswer,
  hello,
  json,
  openChatWorld,
  usageChunk,
} from '../chat/chat-world.ts'
import { whole } from './scripted-upstream.ts'

describe('audio tokens in the usage', () => {
  it('are read from the usage of OpenAI', () => {
    const counted = {
      ...{ prompt_tokens: 100, completion_tokens: 60, total_tokens: 160 },
      prompt_tokens_details: { cached_tokens: 0, text_tokens: 20, audio_tokens: 80 },
      completion_tokens_details: { reasoning_tokens: 0, text_tokens: 10, audio_tokens: 50 },
    }
    expect(usageOf(counted)).toEqual({
      ...{ inputTokens: 100, outputTokens: 60, cachedTokens: 0, reasoningTokens: 0 },
      ...{ audioInputTokens: 80, audioOutputTokens: 50 },
    })
  })

  const counts = {
    ...{ promptTokenCount: 258, candidatesTokenCount: 12, cachedContentTokenCount: 100 },
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 8 },
      { modality: 'AUDIO', tokenCount: 250 },
    ],
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 100 }],
    candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 12 }],
  }
  it('are read from the usage of Google, in chat and transcripts', () => {
    const usage = {
      ...{ inputTokens: 258, outputTokens: 12, cachedTokens: 100, reasoningTokens: 0 },
      ...{ audioInputTokens: 250, audioCachedTokens: 100 },
    }
    expect(googleUsage(counts)).toEqual(usage)
    expect(geminiTokens(counts)).toEqual(usage)
  })

  const geminiUsage = () => {
    const usage = googleUsage(counts)
    if (usage === null) throw new Error('no usage')
    return usage
  }

  it('are returned in the format of OpenAI', () => {
    const { usage } = new ChunkWriter('chatcmpl-1', 'gemini-2.5-flash', 1).usage(geminiUsage())
    expect(usage).toMatchObject({ prompt_tokens_details: { audio_tokens: 250, cached_tokens: 100 } })
  })

  it.each([{}, { audio_tokens: 0 }, { audio_tokens: null }, { audio_tokens: -3 }, { audio_tokens: '7' }])(
    'are absent without a positive count: %j',
    (details) => {
      const plain = usageOf({ prompt_tokens: 1, prompt_tokens_details: details, completion_tokens_details: details })
      expect(Object.keys(plain ?? {})).toEqual(['inputTokens', 'outputTokens', 'cachedTokens', 'reasoningTokens'])
    },
  )
})

describe('the cost that a provider reports', () => {
  let world: ChatWorld
  beforeAll(async () => {
    world = await openChatWorld()
    const model = 'anthropic/claude-sonnet-4'
    world.routes.set('model-1', [world.routeTo(world.first, { provider: 'openrouter', model })])
  })
  afterAll(() => world.close())

  it.each([false, true])('is the cost of the call (streamed: %s)', async (stream) => {
    const usage = { ...goodAnswer.usage, cost: 0.00014235, cost_details: { upstream_inference_cost: null } }
    const last = { ...usageChunk, usage }
    const frames = framesOf(delta({ role: 'assistant', content: 'Hello' }), delta({}, 'stop'), last, '[DONE]')
    world.first.script(stream ? whole(frames) : json({ ...goodAnswer, usage }))
    const came = await world.request({ stream })
    expect((came.summary ?? came.whole)?.costUsd).toBe('0.00014235')
    expect(world.recorded.at(-1)).toMatchObject({ costUsd: '0.00014235' })
    expect(world.settled.at(-1)).toBe('0.00014235')
  })

  it.each([-1, '0.5', null, undefined, 1e-9])('is used when it is a positive number: %s', async (cost) => {
    world.first.script(json({ ...goodAnswer, usage: { ...goodAnswer.usage, cost } }))
    const { whole: answer } = await world.request({ body: hello })
    expect(answer?.costUsd).toBe(cost === 1e-9 ? '0.000000001' : null)
  })
})
