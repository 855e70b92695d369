import { describe, expect, it } from 'vitest'
import { lengthBefore, numberedSources } from '#actors/sessions/turns/web-sources.ts'
import type { ModelMessage } from '#gateway/call/provider-port.ts'

const page = (name: string) => ({ n: 1, title: name, url: `https://${name}.example/`, snippet: 'x' })
const tool = (name: string, content: unknown): ModelMessage => ({
  ...{ role: 'tool', callId: 'act', name },
  content: JSON.stringify(content),
})
const search = (...names: readonly string[]): ModelMessage =>
  tool('web_search', { untrusted: true, note: 'x', results: names.map(page) })
const calls = [{ callId: 'act', name: 'web_search', arguments: '{}' }]
const said = (content: string, toolCalls = calls): ModelMessage => ({ role: 'assistant', content, toolCalls })
const question: ModelMessage = { role: 'user', content: 'q' }
const numbersIn = ({ content }: ModelMessage = question): readonly number[] =>
  JSON.parse(content).results.map(({ n }: { n: number }) => n)

describe('the sources of a conversation', () => {
  it('are numbered consecutively over searches and fetched pages', () => {
    const { messages, sources } = numberedSources([
      ...[question, said(''), search('a', 'b'), said(''), search('c')],
      tool('web_fetch', { untrusted: true, n: 1, url: 'https://d.example/', title: 'd', content: 'words' }),
    ])
    expect([numbersIn(messages[2]), numbersIn(messages[4])]).toEqual([[1, 2], [3]])
    expect(JSON.parse(messages[5]?.content ?? '')).toMatchObject({ n: 4, untrusted: true, content: 'words' })
    expect(sources.map(({ title }) => title)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('leave the messages identical each time, and unchanged if none is from the web', () => {
    const conversation = [question, said(''), search('a'), said(''), search('b')]
    const [first, second] = [numberedSources(conversation), numberedSources(conversation)]
    expect(second.messages.every((message, at) => message === first.messages[at])).toBe(true)
    const plain = [question, tool('other', { untrusted: true, results: [page('a')] })]
    expect(numberedSources(plain)).toEqual({ messages: plain, sources: [] })
    expect(numberedSources(plain).messages).toBe(plain)
  })

  it.each<readonly [string, unknown]>([
    ['an error', { error: { code: 'fetch_failed', message: 'x' } }],
    ['no results', { untrusted: true, results: [] }],
    ['results without addresses', { untrusted: true, results: [{ title: 'x' }, null, 3] }],
    ['a list', [1, 2]],
    ['null', null],
  ])('are empty for an output that is %s, which is left unchanged', (_what, content) => {
    const message = tool('web_search', content)
    expect(numberedSources([message])).toEqual({ messages: [message], sources: [] })
  })

  it('are empty for an output that is not JSON', () => {
    const message: ModelMessage = { role: 'tool', callId: 'act', name: 'browse', content: '{"untrusted": tr' }
    expect(numberedSources([message]).messages).toEqual([message])
  })
})

describe('the text of a turn before an answer', () => {
  it('is the text of the earlier answers of the turn', () => {
    expect(lengthBefore([question], 0)).toBe(0)
    expect(lengthBefore([question, said('Let me look.'), search('a')], 1)).toBe(12)
    expect(lengthBefore([said('old'), question, said('ab'), search('a'), said('cde'), search('b')], 2)).toBe(5)
  })

  it('is unknown if the conversation was shortened within the turn', () => {
    expect(lengthBefore([question, said('Summary of my work so far', [])], 1)).toBeNull()
    expect(lengthBefore([question], 1)).toBeNull()
    expect(lengthBefore([], 1)).toBeNull()
  })
})
