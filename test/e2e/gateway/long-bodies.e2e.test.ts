import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream, whole } from '#test/gateway/call/scripted-upstream.ts'
import { goodStream } from '#test/gateway/chat/chat-world.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { stores, World } from '../world.ts'

const mb = 1024 * 1024

const list = (count: number, item: string | ((at: number) => string)): string =>
  Array.from({ length: count }, (_, at) => (typeof item === 'string' ? item : item(at))).join(',')
const text = (length: number, piece = 'many things, and more '): string =>
  JSON.stringify(piece.repeat(Math.ceil(length / piece.length)).slice(0, length))
const message = (content: string): string => `{"role":"user","content":${content}}`
const chat = (rest: string): string => `{"model":"gpt-4o-mini","stream":true,${rest}}`
const messages = (content: string): string => chat(`"messages":[${message(content)}]`)
const beside = (rest: string): string => chat(`"messages":[${message('"hi"')}],${rest}`)
const chats = '/v1/chat/completions'
const tool = (at: number): string =>
  `{"type":"function","function":{"name":"tool_${at}","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}`

const bodies: readonly (readonly [what: string, path: string, body: string, status?: number])[] = [
  ['a text of 7 MB', chats, messages(text(7 * mb))],
  ['7 MB of personal data', chats, messages(text(7 * mb, 'ada@example.com 4111 1111 1111 1111 +49 170 1234567 '))],
  ['other scripts', chats, messages(text(2 * mb, '東京は晴れ、Привет мир '))],
  ['\\u escapes', chats, messages(`"${'\\u0001'.repeat(1.1 * mb)}"`)],
  ['escaped quotes', chats, messages(`"${'\\"'.repeat(3.5 * mb)}"`)],
  [
    'an image of 5 MB',
    chats,
    messages(
      `[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,${'iVBORw0KGgo'.repeat(mb / 2)}"}}]`,
    ),
  ],
  ['15,000 messages', chats, chat(`"messages":[${list(15_000, message('"hi"'))}]`)],
  ['15,000 parts', chats, messages(`[${list(15_000, '{"type":"text","text":"x"}')}]`)],
  ['3,500 tools', chats, beside(`"tools":[${list(3_500, tool)}]`)],
  ['45,000 names', chats, beside(`"x":{${list(45_000, (at) => `"k${at}":${at}`)}}`)],
  ['85,000 empty objects', chats, beside(`"x":[${list(85_000, '{}')}]`)],
  ['2,500,000 empty objects', chats, beside(`"x":[${list(2_500_000, '{}')}]`), 413],
  ['700,000 numbers', chats, beside(`"x":[${list(700_000, '1')}]`)],
  ['a number of 7 MB', chats, beside(`"x":${'1'.repeat(7 * mb)}`)],
  ['8 MB of brackets', chats, '['.repeat(8 * mb), 400],
  ['a text without an end', chats, `{"a":"${'x'.repeat(7 * mb)}`, 400],
  ['a name that stands twice', chats, `${messages(text(7 * mb)).slice(0, -1)},"model":"b"}`, 400],
  ['7 MB for Messages', '/v1/messages', `{"max_tokens":10,${messages(text(7 * mb)).slice(1)}`],
  ['7 MB for Responses', '/v1/responses', chat(`"store":false,"input":${text(7 * mb)}`)],
  ['8,000 items for Responses', '/v1/responses', chat(`"store":false,"input":[${list(8_000, message('"hi"'))}]`)],
  ['7 MB for the own API', '/api/ai/chat', messages(text(7 * mb))],
  ['7 MB for a response that is stored', '/v1/responses', chat(`"input":${text(7 * mb)}`)],
  ['7 MB under a key', `${chats}#keyed`, messages(text(7 * mb))],
  [
    '48,000 arguments of an action',
    '/v1/actions',
    `{"tool":"t","arguments":{${list(48_000, (at) => `"k${at}":${at}`)}}}`,
    413,
  ],
  [
    '9,000 arguments of an action',
    '/v1/actions',
    `{"tool":"t","arguments":{${list(9_000, (at) => `"the key ${at}":"the value of ${at}"`)}}}`,
    201,
  ],
  ['1 MB of an argument', '/v1/actions', `{"tool":"t","arguments":{"a":${text(mb - 200)}}}`, 201],
  ['an argument like secrets', '/v1/actions', `{"tool":"t","arguments":{"a":${text(mb - 200, 'eyJ-eyJ-')}}}`, 201],
  ['60,000 names of metadata', '/v1/sessions', `{"metadata":{${list(60_000, (at) => `"k${at}":${at}`)}}}`, 413],
  ['a prompt of 1 MB', '/v1/agents', `{"name":"a","config":{"model":"gpt-4o-mini","system_prompt":${text(mb - 200)}}}`],
  ['7 MB to count', '/v1/messages/count_tokens', messages(text(7 * mb))],
]

/** Cases that involve the store and not the gateway alone. */
const stored: ReadonlySet<string> = new Set([
  ...['7 MB for a response that is stored', '7 MB under a key', 'a prompt of 1 MB', '60,000 names of metadata'],
  ...['9,000 arguments of an action', '1 MB of an argument', 'an argument like secrets'],
])

describe.each(stores)('a long body blocks no other request for 50 ms ($store)', ({ store }) => {
  const probe = new LoopProbe()
  let upstream: Upstream
  let world: World
  beforeAll(async () => {
    upstream = await openUpstream()
    upstream.script(whole(goodStream))
    const provider = { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url }
    world = await World.start({ store, env: { ...provider, ...probe.env } })
  }, 240_000)
  afterAll(async () => {
    await world.stop()
    await upstream.close()
    probe.close()
  })

  const send = async (path: string, body: string): Promise<number> => {
    const headers = path.endsWith('#keyed') ? { 'idempotency-key': randomUUID() } : {}
    const answer = await world.api.fetch(path, body, { headers })
    await answer.text()
    return answer.status
  }

  const sent = bodies
    .filter(([what]) => store === 'sqlite' || stored.has(what))
    .map(([what, path, body, status = 200]) => ({ what, path, body, status }))
  it.each(drawnOf(sent, 3))('with $what', async ({ path, body, status }) => {
    const seen = await probe.heldMs(world, async () => expect(await send(path, body)).toBe(status))
    expect(Math.min(...seen), `${seen.map(Math.round)} ms`).toBeLessThan(limitOf(seen))
  })
})
