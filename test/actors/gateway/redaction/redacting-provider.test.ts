import { describe, expect, it } from 'vitest'
import { piiTypes } from '../../../../specs/resources/redaction.ts'
import {
  type ModelAnswer,
  ModelError,
  type ModelProvider,
  type ModelRequest,
} from '../../../../src/actors/gateway/provider-port.ts'
import { redactingProvider } from '../../../../src/actors/gateway/redaction/redacting-provider.ts'
import { type PolicyChoice, policyBy } from '../../../../src/actors/gateway/redaction/redaction-policy.ts'

const ada = 'ada@example.com'

const request: ModelRequest = {
  model: 'm',
  instructions: [`You answer for ${ada}.`],
  messages: [
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ callId: 'c1', name: 'mail', arguments: `{"to":"${ada}"}`, opaque: 'signed' }],
    },
    { role: 'tool', callId: 'c1', name: 'mail', content: `sent to ${ada}` },
  ],
  tools: [],
  idempotencyKey: 'k',
}

/** A provider that answers these deltas and remembers what it was asked. */
const scripted = (deltas: readonly string[], call: string, error?: Error) => {
  const asked: ModelRequest[] = []
  const provider: ModelProvider = {
    id: 'scripted',
    stream: async (request, onDelta) => {
      asked.push(request)
      for (const delta of deltas) onDelta(delta)
      if (error !== undefined) throw error
      const toolCalls = [{ callId: 'c2', name: 'mail', arguments: call }]
      const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0 }
      return { model: 'm', text: deltas.join(''), toolCalls, usage, finishReason: 'tool_calls' } satisfies ModelAnswer
    },
    embed: () => Promise.reject(new Error('not asked for')),
  }
  return { provider, asked }
}

const policy = (choice: Partial<PolicyChoice> = {}) =>
  policyBy({ types: piiTypes, input: true, toolArguments: true, restore: true, region: 'US', ...choice })

const signal = new AbortController().signal

describe('a model of turns and runs', () => {
  it('is asked without personal data, and answers with it, in deltas and in arguments', async () => {
    const { provider, asked } = scripted(['Dear [EM', 'AIL_1], hello [x'], '{"to":"[EMAIL_1]"}')
    const deltas: string[] = []
    const answer = await redactingProvider(provider, policy()).stream(request, (text) => deltas.push(text), signal)
    expect(asked[0]).toEqual({
      ...request,
      instructions: ['You answer for [EMAIL_1].'],
      messages: [
        request.messages[0],
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ callId: 'c1', name: 'mail', arguments: '{"to":"[EMAIL_1]"}', opaque: 'signed' }],
        },
        { role: 'tool', callId: 'c1', name: 'mail', content: 'sent to [EMAIL_1]' },
      ],
    })
    expect(deltas.join('')).toBe(`Dear ${ada}, hello [x`)
    expect(answer).toMatchObject({ text: deltas.join(''), toolCalls: [{ arguments: `{"to":"${ada}"}` }] })
  })

  it('is asked with the very messages in which there is nothing to take out', async () => {
    const { provider, asked } = scripted(['x'], '{}')
    await redactingProvider(provider, policy()).stream(request, () => {}, signal)
    expect(asked[0]?.messages[0]).toBe(request.messages[0])
  })

  it('is asked by what the project chose', async () => {
    const { provider, asked } = scripted(['[EMAIL_1]'], '{}')
    const chosen = policy({ toolArguments: false, restore: false })
    const answer = await redactingProvider(provider, chosen).stream(request, () => {}, signal)
    expect(asked[0]?.messages[1]).toBe(request.messages[1])
    expect(asked[0]?.messages[2]?.content).toBe('sent to [EMAIL_1]')
    expect(answer.text).toBe('[EMAIL_1]')
  })

  it('hands on what it had kept back when it breaks, and nothing after the caller is gone', async () => {
    const broken = new ModelError('provider_stream_broken', 'It broke.')
    const { provider } = scripted(['see [EMAIL'], '{}', broken)
    const deltas: string[] = []
    const take = (text: string) => deltas.push(text)
    await expect(redactingProvider(provider, policy()).stream(request, take, signal)).rejects.toBe(broken)
    expect(deltas).toEqual(['see ', '[EMAIL'])
    await expect(redactingProvider(provider, policy()).stream(request, take, AbortSignal.abort())).rejects.toBe(broken)
    expect(deltas).toHaveLength(2)
  })
})
