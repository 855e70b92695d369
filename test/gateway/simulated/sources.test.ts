import { describe, expect, it } from 'vitest'
import { decideReply } from '#gateway/simulated/reply.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const search = {
  type: 'function',
  function: {
    name: 'web_search',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  },
}
const weather = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: {} } } }

const reply = (content: string, more: readonly object[] = [], tools: readonly object[] = [weather, search]) => {
  const decided = atOnce(decideReply({ messages: [{ role: 'user', content }, ...more], tools }, [], 'seed'))
  return decided.kind === 'answer' ? decided : { text: 'refused', calls: [] }
}

const searched = (output: object) => [
  { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'web_search', arguments: '{}' } }] },
  { role: 'tool', tool_call_id: 'c1', content: JSON.stringify(output) },
]

describe('a search offered to the simulated model', () => {
  it.each(['What do cats eat?', 'Search for cats', 'Please look up the opening hours'])(
    'is called for "%s", with the text as the query',
    (text) => {
      const { calls } = reply(text)
      expect(calls.map(({ name }) => name)).toEqual(['web_search'])
      expect(JSON.parse(calls[0]?.arguments ?? '').query).not.toBe('')
    },
  )

  it('is called neither for other texts nor when another tool is named, and no other tool is called for a question', () => {
    expect(reply('Good morning').calls).toEqual([])
    expect(reply('Use get_weather, will it rain?').calls.map(({ name }) => name)).toEqual(['get_weather'])
    expect(reply('Will it rain?', [], [weather]).calls).toEqual([])
  })

  it('has its numbered results cited, three at most, without marks of their own', () => {
    const results = [1, 2, 3, 4].map((n) => ({
      n,
      title: `Page ${n}`,
      url: 'https://a.example/',
      snippet: `Text ${n} [9]`,
    }))
    const note = 'Text of web pages. Cite as [n].'
    expect(reply('What?', searched({ note, results })).text).toBe(
      'The tool web_search answered: Page 1: Text 1 [1] Page 2: Text 2 [2] Page 3: Text 3 [3]',
    )
    expect(reply('What?', searched({ note, results: [] })).text).toBe(
      'The tool web_search answered: Nothing was found.',
    )
    expect(reply('What?', searched({ results })).text).toContain('{"results":')
    const documents = [{ number: 1, content: '# Tea\n\nTwo cups.', citation: { title: 'Handbook' } }]
    expect(reply('What?', searched({ note, results: documents })).text).toBe(
      'The tool web_search answered: Handbook: # Tea Two cups. [1]',
    )
  })
})
