import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AnswerLog } from '#gateway/chat/answer-log.ts'
import { completionOf } from '#gateway/providers/completion-of.ts'
import { delta, framesOf, usageChunk } from './chat-world.ts'

const logged = (frames: string): unknown => {
  const log = new AnswerLog()
  log.frames(Buffer.from(frames))
  return JSON.parse(log.toString())
}

describe('the log of a streamed answer', () => {
  it('contains the completion of all its chunks, for any text', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 12 })), (texts) => {
        const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
        const chunks = [
          delta({ role: 'assistant', content: '' }),
          ...texts.map((content) => delta({ content })),
          delta({ tool_calls: [call] }),
          delta({ content: '"delta":{"content":"' }),
          delta({ content: '!' }, 'stop'),
          usageChunk,
        ]
        expect(logged(framesOf(...chunks))).toEqual(JSON.parse(JSON.stringify(completionOf(chunks))))
      }),
      { numRuns: 100 },
    )
  })

  it('is empty for an answer that did not begin', () => {
    expect(new AnswerLog().toString()).toBe('')
  })
})
