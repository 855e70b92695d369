import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OpenAiAnswer } from '../../../src/actors/gateway/openai-answer.ts'
import type { ModelRequest } from '../../../src/actors/gateway/provider-port.ts'
import { openAi } from './wire-samples.ts'

const request: ModelRequest = {
  model: 'm',
  messages: [{ role: 'user', content: '12345678' }],
  tools: [],
  idempotencyKey: 'k',
}
const frame = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\n\n`

const read = (...chunks: readonly (string | Uint8Array)[]) => {
  const deltas: string[] = []
  const answer = new OpenAiAnswer(request, (text) => deltas.push(text))
  for (const chunk of chunks) answer.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  return { deltas, answer: answer.finish() }
}

describe('an answer in OpenAI form', () => {
  it('hands on all text of the first network chunk as one delta, then chunk by chunk', () => {
    const { deltas } = read(
      frame({ role: 'assistant', content: '' }),
      frame({ content: 'a' }) + frame({ content: 'b' }),
      frame({ content: 'c' }) + frame({ content: 'd' }) + frame({}, 'stop'),
    )
    expect(deltas).toEqual(['ab', 'c', 'd'])
  })

  it('estimates usage that the provider left out, and says so', () => {
    const { answer } = read(frame({ content: 'abcd' }), frame({}, 'stop'), 'data: [DONE]\n\n')
    expect(answer.usage).toEqual({
      inputTokens: 2,
      outputTokens: 1,
      cachedTokens: 0,
      reasoningTokens: 0,
      estimated: true,
    })
  })

  it('takes whole tool calls without an index, and without a reason of their own', () => {
    const call = (name: string) => ({ tool_calls: [{ id: `id_${name}`, function: { name, arguments: '{}' } }] })
    const { answer } = read(frame(call('a')), frame(call('b'), 'stop'))
    expect(answer.finishReason).toBe('tool_calls')
    expect(answer.toolCalls.map((made) => made.callId)).toEqual(['id_a', 'id_b'])
  })

  it('refuses an answer that names no reason to stop, even after [DONE]', () => {
    expect(() => read(frame({ content: 'a' }), 'data: [DONE]\n\n')).toThrow(/broke off/)
  })

  it('refuses a tool call without a name', () => {
    expect(() => read(frame({ tool_calls: [{ index: 0, id: 'x' }] }, 'tool_calls'))).toThrow(/broke off/)
  })

  it('is the same wherever the network cuts its bytes', () => {
    const bytes = Buffer.from(openAi.calls)
    const expected = read(bytes).answer
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (places) => {
        const ends = [...places.sort((a, b) => a - b), bytes.length]
        const chunks = ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end))
        expect(read(...chunks).answer).toEqual(expected)
      }),
    )
  })
})
