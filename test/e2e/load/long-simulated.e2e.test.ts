import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drawnOf } from '#test/setup/at-night.ts'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { World } from '../world.ts'

const mb = 1_000_000
const model = 'simulated-1'

const says = (content: string, more: object = {}) => ({ model, messages: [{ role: 'user', content }], ...more })
const of = (length: number, piece: string): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
const tool = (name: string, parameters: object) => ({ type: 'function', function: { name, parameters } })
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const fields = (count: number) =>
  Object.fromEntries(many(count, (at) => [`field_${at}`, { type: 'string', enum: ['one', 'two'] }]))
const nested = (depth: number): object =>
  depth === 0 ? { type: 'string' } : { type: 'array', minItems: 100, items: nested(depth - 1) }
const schema = (of: object) => ({ type: 'json_schema', json_schema: { name: 'answer', schema: of } })

const chats: readonly (readonly [what: string, body: object])[] = [
  ['7 MB of verbs that precede a tool', says(of(7.4 * mb, 'use call run '), { tools: [tool('a', {})] })],
  [
    '7 MB with the names of many tools',
    says(of(4 * mb, 'get weather '), { tools: many(2_000, (at) => tool(`t${at}`, {})) }),
  ],
  [
    'a chain of all tools',
    says('use all tools', { tools: many(2_000, (at) => tool(`t${at}`, { properties: fields(2) })) }),
  ],
  ['7 MB of phrases', says(of(7.4 * mb, 'slow please reply exactly: '))],
  ['7 MB of short words', says(of(7.4 * mb, 'a b '), { stream: true })],
  ['7 MB for 128 choices', says(of(7.4 * mb, 'word '), { n: 128, stream: true })],
  ['7 MB for 128 choices in one document', says(of(7.4 * mb, 'word '), { n: 128 })],
  ['thousands of stop sequences', says(of(3 * mb, 'word '), { stop: many(15_000, (at) => `stop ${at}`) })],
  [
    'thousands of required fields',
    says('Fill it', { response_format: schema({ type: 'object', properties: fields(8_000) }) }),
  ],
  ['lists of lists of a hundred', says('Fill it', { response_format: schema({ properties: { a: nested(5) } }) })],
  [
    'a long constant in a long list',
    says('Fill it', {
      response_format: schema({ properties: { a: { type: 'array', minItems: 100, items: { const: of(mb, 'x') } } } }),
    }),
  ],
  [
    '7 MB with an example of JSON',
    says(of(5 * mb, '{"a": "b"} {"c" : '), { response_format: { type: 'json_object' } }),
  ],
  ['7 MB with schemas in it', says(of(7 * mb, '{"properties": {'))],
  [
    '7 MB of tool results',
    {
      model,
      messages: [
        { role: 'user', content: 'go' },
        { role: 'tool', tool_call_id: 'a', content: of(7 * mb, 'Cite as [n] ') },
      ],
    },
  ],
]

const others: readonly (readonly [what: string, path: string, body: object])[] = [
  ['an embedding of 2 MB', '/v1/embeddings', { model, input: of(2 * mb, 'one two ') }],
  ['2,000 embeddings', '/v1/embeddings', { model, input: many(2_000, (at) => `${at} ${of(500, 'one two ')}`) }],
  ['a moderation of 1 MB', '/v1/moderations', { model, input: of(mb, 'will hate all ') }],
  ['2,000 completions', '/v1/completions', { model, prompt: many(2_000, (at) => `${at} ${of(400, 'use a ')}`) }],
]

describe('a request to the simulated model blocks no other request for 50 ms', () => {
  const probe = new LoopProbe()
  let world: World
  beforeAll(async () => {
    world = await World.start({ env: probe.env })
  }, 240_000)
  afterAll(async () => {
    await world.stop()
    probe.close()
  })

  const sent = [...chats.map(([what, body]) => [what, '/v1/chat/completions', body] as const), ...others]
  it.each(drawnOf(sent, 3))('with %s', async (_, path, body) => {
    const text = JSON.stringify(body)
    const send = async (): Promise<void> => {
      const answer = await world.api.fetch(path, text)
      await answer.text()
      expect(answer.status).toBe(200)
    }
    const seen = await probe.heldMs(world, send)
    expect(Math.min(...seen), `${seen.map(Math.round)} ms`).toBeLessThan(limitOf(seen))
  })
})
