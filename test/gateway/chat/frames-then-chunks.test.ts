import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FramesThenChunks } from '#gateway/chat/frames-then-chunks.ts'
import { completionOf } from '#gateway/providers/completion-of.ts'
import { ChatRestorer } from '#gateway/redaction/chat-restorer.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { arrayOf, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'
import { runsByDay } from '#test/setup/at-night.ts'

const policy = policyBy({ types: defaultTypes, input: true, toolArguments: true, restore: true, region: 'US' })

const restorer = (): ChatRestorer => {
  const made = policy.redact(['ada@example.com']).restorer
  if (made === null) throw new Error('nothing was replaced')
  return new ChatRestorer(made)
}

/** The stream of an answer with each of these words in a chunk. */
const streamOf = (words: readonly string[], field: 'content' | 'arguments' = 'content'): Buffer => {
  const delta = (word: string) =>
    field === 'content' ? { content: word } : { tool_calls: [{ index: 0, function: { arguments: word } }] }
  const chunks = [
    { model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
    ...words.map((word) => ({ model: 'm', choices: [{ index: 0, delta: delta(word), finish_reason: null }] })),
    { model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { model: 'm', choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
  ]
  return Buffer.from(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
}

/** What a caller receives of a stream that arrives in parts of this length. */
const read = (stream: Buffer, length: number) => {
  const chunks: WireObject[] = []
  let passedOn = 0
  const reader = new FramesThenChunks(
    {
      frames: (bytes) => {
        passedOn += bytes.length
        for (const line of bytes.toString().split('\n')) {
          if (line.startsWith('data: ')) chunks.push(objectOf(parseJson(line.slice(6))))
        }
        return true
      },
      chunk: (chunk) => {
        chunks.push(chunk)
        return true
      },
    },
    { hidesUsage: false, choices: 1, costOf: () => null, restorer: restorer() },
  )
  for (let at = 0; at < stream.length; at += length) reader.push(stream.subarray(at, at + length))
  const end = reader.finish()
  const { message } = objectOf(arrayOf(completionOf(chunks).choices)[0])
  const called = objectOf(objectOf(arrayOf(objectOf(message).tool_calls)[0]).function)
  return { text: textOf(objectOf(message).content), arguments: textOf(called.arguments), end, passedOn, chunks }
}

describe('the stream of an answer to a redacted request', () => {
  it('is passed on as bytes while it cannot contain a placeholder', () => {
    const { text, passedOn, end, chunks } = read(streamOf(['All "is"\n', 'well: 1[0]', ' 東京']), 4096)
    expect(text).toBe('All "is"\nwell: 1[0] 東京')
    expect(passedOn).toBeGreaterThan(300)
    expect(end).toMatchObject({ model: 'm', finishReason: 'stop', usage: { inputTokens: 3, outputTokens: 4 } })
    expect(chunks.filter(({ usage }) => usage !== undefined)).toHaveLength(1)
  })

  it.each(['[EMAIL_1]', '[ email-1 ]', '\\[EMAIL_1\\]', '\\\\[EMAIL\\_1]', '\\u005bEMAIL_1\\u005d'])(
    'has restored values for any split of %s',
    (placeholder) => {
      const expected = policy.redact(['ada@example.com']).restorer?.restore(`So: ${placeholder}.`)
      for (let cut = 0; cut <= placeholder.length; cut++) {
        const words = ['So: ', placeholder.slice(0, cut), placeholder.slice(cut), '.']
        for (const length of [1, 7, 64, 4096]) expect(read(streamOf(words), length).text).toBe(expected)
      }
    },
  )

  it('has restored values in the JSON arguments of tools', () => {
    const stream = streamOf(['{"to":"', '[EMAIL', '_1]","a":[1,"b"]}'], 'arguments')
    for (const length of [1, 5, 100, 4096])
      expect(read(stream, length).arguments).toBe('{"to":"ada@example.com","a":[1,"b"]}')
  })

  it('has the same restored text for any words and any split of the bytes', () => {
    const word = fc.oneof(
      fc.constantFrom('[', ']', '\\', '[EMAIL_1]', 'EMAIL_1', ' ', '"', '\n', '[D', '[DONE]', 'é', '\\u005b', '":['),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), fc.integer({ min: 1, max: 300 }), (words, length) => {
        const expected = policy.redact(['ada@example.com']).restorer?.restore(words.join(''))
        const { text, end } = read(streamOf(words), length)
        expect(text).toBe(expected)
        expect(end.finishReason).toBe('stop')
      }),
      { numRuns: runsByDay(2000) },
    )
  })
})
