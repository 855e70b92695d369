import { describe, expect, it, vi } from 'vitest'
import { OpenAiDecoder } from '#gateway/chat/openai-decoder.ts'
import { RepeatedChunk } from '#gateway/chat/repeated-chunk.ts'

const more = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const choiceOf = (delta: object, finish_reason: string | null = null) => ({ index: 0, delta, finish_reason })
const chunkOf = (content: string): string => JSON.stringify({ ...more, choices: [choiceOf({ content })] })
const noted = (data: string): RepeatedChunk => {
  const repeated = new RepeatedChunk()
  repeated.note(data, JSON.parse(data))
  return repeated
}

describe('a chunk that repeats an earlier one with another text', () => {
  it.each([
    ['of a word', 'one'],
    ['of nothing', ''],
    ['of a long text', 'a text that is longer than twelve units '.repeat(100)],
    ['of quotes, backslashes and lines', 'say "yes" \\ "no"\n\t\u0000'],
    ['of letters of all planes', 'ü 水 😀'],
    ['of half a letter', '\ud83d'],
    ['of what looks like the chunk itself', '"},"finish_reason":null}]}'],
  ])('%s is read as by JSON.parse', (_, content) => {
    expect(noted(chunkOf('first')).read(chunkOf(content))).toEqual(JSON.parse(chunkOf(content)))
  })

  it('is read as by JSON.parse when the provider adds spaces or repeats the text elsewhere', () => {
    const spaced = (content: string) =>
      `{"content": "same", "note": "\\"content\\": \\"same\\"", "choices": [{"delta": {"content" : "${content}"}, "index": 0}]}`
    expect(noted(spaced('same')).read(spaced('other'))).toBeNull()
    const late = (content: string) =>
      `{"choices": [{"index": 0, "delta": {"content" : "${content}"}}], "content": "same"}`
    expect(noted(late('same')).read(late('other'))).toEqual(JSON.parse(late('other')))
  })

  it('is left to JSON.parse when a field occurs twice', () => {
    const twice = (first: string, last: string) =>
      `{"choices":[{"index":0,"delta":{"content":"${first}","content":"${last}"}}]}`
    expect(noted(twice('a', 'a')).read(twice('b', 'a'))).toBeNull()
  })

  it.each([
    ['has a field more', JSON.stringify({ ...more, choices: [choiceOf({ content: 'a' })], obfuscation: 'x' })],
    ['says why it stopped', JSON.stringify({ ...more, choices: [choiceOf({ content: 'a' }, 'stop')] })],
    ['is of another choice', JSON.stringify({ ...more, choices: [{ ...choiceOf({ content: 'a' }), index: 1 }] })],
    ['ends in the middle of its text', chunkOf('a').replace('"a"', '"a')],
    ['holds a line that JSON does not take', chunkOf('a').replace('"a"', '"a\nb"')],
    ['closes its text and adds a field', chunkOf('a').replace('"a"', '"a","role":"user"')],
    ['ends in a backslash', chunkOf('a').replace('"a"', '"a\\"')],
    ['is shorter than the other was', '{}'],
  ])('is left to JSON.parse when it %s', (_, data) => {
    expect(noted(chunkOf('first')).read(data)).toBeNull()
  })

  it.each([
    ['an error', { ...more, error: { message: 'x' }, choices: [choiceOf({ content: 'a' })] }],
    ['usage', { ...more, usage: { total_tokens: 1 }, choices: [choiceOf({ content: 'a' })] }],
    ['a reason to stop', { ...more, choices: [choiceOf({ content: 'a' }, 'stop')] }],
    ['a role', { ...more, choices: [choiceOf({ role: 'assistant', content: 'a' })] }],
    ['a call of a tool', { ...more, choices: [choiceOf({ content: 'a', tool_calls: [] })] }],
    ['two choices', { ...more, choices: [choiceOf({ content: 'a' }), choiceOf({ content: 'a' })] }],
    ['no text', { ...more, choices: [choiceOf({ content: '' })] }],
    ['4,096 units', { ...more, system: 'x'.repeat(4_096), choices: [choiceOf({ content: 'a' })] }],
  ])('with %s is not used as a pattern', (_, chunk) => {
    const data = JSON.stringify(chunk)
    expect(noted(data).read(data)).toBeNull()
  })

  it('is looked for at most twice in an answer without repeated chunks', () => {
    const repeated = new RepeatedChunk()
    const parse = vi.spyOn(JSON, 'parse')
    for (let id = 0; id < 10; id++) {
      const chunk = { ...more, id: `c${id}`, choices: [choiceOf({ content: 'a' })] }
      repeated.note(JSON.stringify(chunk), chunk)
    }
    expect(parse).toHaveBeenCalledTimes(2)
    parse.mockRestore()
  })
})

it('an answer of repeated chunks is decoded like its separate chunks', () => {
  const said = ['', 'To', ' be', ' or "not"', '\n', ' 水', ' that is more than twelve units', '']
  const chunks = [
    { ...more, choices: [choiceOf({ role: 'assistant', content: '' })] },
    ...said.map((content) => ({ ...more, choices: [choiceOf({ content })] })),
    { ...more, choices: [choiceOf({}, 'stop')] },
  ]
  const stream = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
  const decoder = new OpenAiDecoder()
  const decoded = [...Buffer.from(stream)].flatMap((byte) => [...decoder.push(Buffer.from([byte]))])
  expect(decoded).toEqual(chunks)
  expect(decoder.finish().end.finishReason).toBe('stop')
})

it.each([1, 7, 64, 100_000])(
  'text in place of chunks keeps the order of an answer that arrives %i bytes at a time',
  (size) => {
    const called = choiceOf({ tool_calls: [{ index: 0, id: 'a', function: { name: 'find', arguments: '{}' } }] })
    const texts = ['To', ' be', ' or "not"', ' 水', ' that is more than twelve units']
    const choices = [
      choiceOf({ role: 'assistant', content: '' }),
      ...texts.map((content) => choiceOf({ content })),
      called,
    ]
    const chunks = [...choices, ...texts.map((content) => choiceOf({ content })), choiceOf({}, 'stop')].map(
      (choice) => ({
        ...more,
        choices: [choice],
      }),
    )
    const stream = Buffer.from(
      `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`,
    )
    const decoder = new OpenAiDecoder(undefined, true)
    const order: string[] = []
    for (let at = 0; at < stream.length; at += size) {
      const read = decoder.push(stream.subarray(at, at + size))
      order.push(...[...decoder.words], ...read.flatMap(({ choices }) => [...partsOf(choices)]))
    }
    expect(order.join('')).toBe(`${texts.join('')}[call]${texts.join('')}`)
  },
)

const partsOf = (choices: unknown): string =>
  JSON.parse(JSON.stringify(choices))
    .map(({ delta }: { readonly delta: { readonly content?: string; readonly tool_calls?: object } }) =>
      delta.tool_calls === undefined ? (delta.content ?? '') : '[call]',
    )
    .join('')
