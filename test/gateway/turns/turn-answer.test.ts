import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OpenAiDecoder } from '#gateway/chat/openai-decoder.ts'
import { maxAnswerCalls, maxAnswerLength, TurnReader } from '#gateway/turns/turn-answer.ts'
import { openAi } from '../call/wire-samples.ts'
import { delta, framesOf } from '../chat/chat-world.ts'

/** The deltas and the answer of a turn for a stream that arrives in these parts. */
const read = async (...parts: readonly (string | Uint8Array)[]) => {
  const deltas: string[] = []
  const reader = new TurnReader((text) => deltas.push(text))
  const decoder = new OpenAiDecoder()
  for (const part of parts) {
    for (const chunk of decoder.push(typeof part === 'string' ? Buffer.from(part) : part)) reader.chunk(chunk)
    await new Promise(setImmediate)
  }
  return { deltas, answer: reader.answer(decoder.finish().end.finishReason) }
}

describe('the answer of a turn', () => {
  it('passes on the text of the first network chunk as one delta, followed by one delta per chunk', async () => {
    const { deltas, answer } = await read(
      framesOf(delta({ role: 'assistant', content: '' })),
      framesOf(delta({ content: 'a' }), delta({ content: 'b' })),
      framesOf(delta({ content: 'c' }), delta({ content: 'd' }), delta({}, 'stop')),
    )
    expect(deltas).toEqual(['ab', 'c', 'd'])
    expect(answer).toEqual({ text: 'abcd', toolCalls: [], finishReason: 'stop' })
  })

  it('passes on its text as one delta when it ends in the same task', async () => {
    const { deltas } = await read(framesOf(delta({ content: 'a' }), delta({ content: 'b' }, 'stop'), '[DONE]'))
    expect(deltas).toEqual(['ab'])
  })

  it('passes on what the model reasons where that is shown, in order with its text', async () => {
    const parts: string[] = []
    const reader = new TurnReader(
      (text) => parts.push(`text ${text}`),
      (text) => parts.push(`reasoning ${text}`),
    )
    reader.chunk(delta({ reasoning_content: 'a' }))
    reader.chunk(delta({ reasoning: 'b' }))
    reader.chunk(delta({ content: 'c' }))
    reader.chunk(delta({ reasoning_content: 'd' }))
    reader.close()
    reader.chunk(delta({ reasoning_content: 'e' }))
    expect(parts).toEqual(['reasoning a', 'reasoning b', 'text c', 'reasoning d'])
    expect(reader.answer('stop').text).toBe('c')
  })

  it('passes on nothing after it was closed', async () => {
    const deltas: string[] = []
    const reader = new TurnReader((text) => deltas.push(text))
    reader.chunk(delta({ content: 'a' }))
    reader.close()
    reader.flush()
    await new Promise(setImmediate)
    expect(deltas).toEqual([])
  })

  it('accepts complete tool calls without an index or a finish reason of their own', async () => {
    const call = (name: string) => delta({ tool_calls: [{ id: `id_${name}`, function: { name, arguments: '{}' } }] })
    const { answer } = await read(framesOf(call('a'), call('b'), delta({}, 'stop')))
    expect(answer.finishReason).toBe('tool_calls')
    expect(answer.toolCalls.map((made) => made.callId)).toEqual(['id_a', 'id_b'])
  })

  it('ends as too large beyond 128 calls or 4 MB, and hands on nothing more', async () => {
    const call = (index: number) => delta({ tool_calls: [{ index, function: { name: 'a', arguments: '{}' } }] })
    const calls = (count: number) =>
      framesOf(...Array.from({ length: count }, (_, index) => call(index)), delta({}, 'tool_calls'))
    expect((await read(calls(maxAnswerCalls))).answer.toolCalls).toHaveLength(maxAnswerCalls)
    await expect(read(calls(maxAnswerCalls + 1))).rejects.toMatchObject({ code: 'answer_too_large' })
    const text = 'x'.repeat(maxAnswerLength / 4)
    const texts = (count: number) => [
      ...Array.from({ length: count }, () => framesOf(delta({ content: text }))),
      framesOf(delta({}, 'stop')),
    ]
    expect((await read(...texts(4))).answer.text).toHaveLength(maxAnswerLength)
    const reader = new TurnReader(() => {})
    for (let part = 0; part < 5; part++) reader.chunk(delta({ content: text }))
    expect(reader.endless).toBe(false)
    for (let part = 0; part < 12; part++) reader.chunk(delta({ content: text }))
    expect(reader.endless).toBe(true)
    expect(() => reader.answer('stop')).toThrow(expect.objectContaining({ code: 'answer_too_large' }))
  })

  it('refuses a tool call without a name', async () => {
    await expect(read(framesOf(delta({ tool_calls: [{ index: 0, id: 'x' }] }, 'tool_calls')))).rejects.toMatchObject({
      code: 'provider_stream_broken',
    })
  })

  it('is the same for any split of the bytes', async () => {
    const bytes = Buffer.from(openAi.calls)
    const expected = (await read(bytes)).answer
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (places) => {
        const ends = [...places.sort((a, b) => a - b), bytes.length]
        const chunks = ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end))
        expect((await read(...chunks)).answer).toEqual(expected)
      }),
    )
  })
})
