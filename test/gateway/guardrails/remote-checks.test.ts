import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { objectOf } from '#outgoing/wire.ts'
import type { GuardCheck } from '#specs/resources/gateway/guardrails.ts'
import {
  answering,
  choiceOf,
  finishes,
  headerOf,
  messagesOf,
  openGuardedWorld,
  saying,
  secret,
  sentTexts,
  streamedText,
  streaming,
  textOf,
  words,
} from './guarded-world.ts'

let world: Awaited<ReturnType<typeof openGuardedWorld>>

beforeEach(async () => {
  world = await openGuardedWorld()
})
afterEach(() => world.close())

const judge = (more: Partial<Extract<GuardCheck, { type: 'model' }>> = {}): GuardCheck => ({
  ...{ type: 'model', model: 'judge-1', instructions: 'No birds.', timeout_ms: 30_000, on: 'both', action: 'block' },
  ...{ on_error: 'block' },
  ...more,
})
const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }

describe('a model as a judge', () => {
  const verdict = (text: string) => answering(text)

  beforeEach(() => {
    world.routes.set('judge-1', [world.routeTo(world.second, { model: 'judge-1' })])
    world.first.script(answering('fine'))
  })

  it('blocks, passes, and is charged to the caller as a call of its own', async () => {
    world.state.checks = [judge({ on: 'input' })]
    world.second.script(verdict('{"violates": true}'))
    expect((await world.request(saying('a bird'))).error?.code).toBe('content_policy_violation')
    world.second.script(verdict('```json\n{ "violates": false }\n```'))
    expect(headerOf(await world.request(saying('a fish')))).toBe('house;passed')
    expect(world.recorded.map(({ operation }) => operation)).toEqual([
      ...['guardrails.judge', 'chat_completions.create', 'guardrails.judge', 'chat_completions.create'],
    ])
    expect(world.recorded[0]).toMatchObject({
      caller: { project: 'prj_1', keyId: 'key_1' },
      units: { tokens: { inputTokens: 12 } },
    })
    expect(messagesOf(world.second.received[0])[1]?.content).toBe('["a fish"]')
  })

  it('that answers neither, both, nothing or never is a failed check, by which the guardrail blocks or lets pass', async () => {
    const hangs = () => {}
    const garbage = [
      '',
      'I think so',
      '{"violates": "true"}',
      '{"violates": true, "no": {"violates": false}}',
      '{"violates": true',
      '"violates": false',
    ]
    for (const answer of [
      ...garbage.map(verdict),
      hangs,
      (response: ServerResponse) => response.writeHead(500).end('x'),
    ]) {
      const limit = answer === hangs ? { timeout_ms: 200 } : {}
      world.second.script(answer, answer, answer, answer)
      world.state.checks = [judge({ on: 'input', ...limit })]
      expect((await world.request(saying('a bird'))).error?.code).toBe('content_policy_violation')
      world.state.checks = [judge({ on: 'input', ...limit, on_error: 'allow' })]
      expect(headerOf(await world.request(saying('a bird')))).toBe('house;failed')
    }
  })

  it('sees the whole of a stream before anything of it is sent', async () => {
    world.state.checks = [judge({ on: 'output' })]
    world.first.script(streaming('a ', 'bird'))
    world.second.script(verdict('{"violates": true}'))
    const blocked = await world.request({ stream: true })
    expect([streamedText(blocked), finishes(blocked)]).toEqual(['', ['content_filter']])
    expect(blocked.begun).toBe(true)
    world.first.script(streaming('a ', 'fish'))
    world.second.script(verdict('{"violates": false}'))
    const passed = await world.request({ stream: true })
    expect([streamedText(passed), finishes(passed)]).toEqual(['a fish', ['stop']])
  })
})

describe('the structure of an answer', () => {
  const structured = (repair: boolean, action: 'block' | 'flag' = 'block'): GuardCheck => ({
    ...{ type: 'json_schema', schema, repair, on: 'output', action },
  })

  it('is repaired by one call of the same model, which sees what is wrong', async () => {
    world.state.checks = [structured(true)]
    world.first.script(answering('{"n": "one"}'), answering('{"n": 1}'))
    const came = await world.request()
    expect(textOf(came)).toBe('{"n": 1}')
    expect(sentTexts(world)[1]).toContain('answer/n must be integer')
    expect(world.recorded.map(({ operation }) => operation)).toEqual(['guardrails.repair', 'chat_completions.create'])
  })

  it('that stays wrong blocks or flags the answer after one repair', async () => {
    for (const [action, text] of [
      ['block', ''],
      ['flag', 'no'],
    ] as const) {
      world.state.checks = [structured(true, action)]
      world.first.script(answering('no'), answering('still no'))
      expect(textOf(await world.request())).toBe(text)
    }
    // the request and one repair, of the second turn
    expect(world.first.received).toHaveLength(2)
  })

  it('is streamed as it was repaired, and a repaired answer passes the other checks', async () => {
    world.state.checks = [structured(true)]
    world.first.script(streaming('{"n": ', '"one"}'), answering('{"n": 2}'))
    expect(streamedText(await world.request({ stream: true }))).toBe('{"n": 2}')
    world.state.checks = [structured(true), words('block', 'output')]
    world.first.script(answering('no'), answering('{"n": 2, "m": "falcon"}'))
    expect(choiceOf(await world.request())).toMatchObject({ finish_reason: 'content_filter' })
  })

  it('by a pattern that never ends in other engines is checked in linear time', async () => {
    world.state.checks = [
      {
        type: 'json_schema',
        repair: false,
        on: 'output',
        action: 'block',
        schema: { type: 'string', pattern: '^(a+)+$' },
      },
    ]
    world.first.script(answering(JSON.stringify(`${'a'.repeat(50_000)}!`)))
    expect(choiceOf(await world.request())).toMatchObject({ finish_reason: 'content_filter' })
  })
})

describe('a hook', () => {
  let server: Server
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  const signedBy = ({ headers }: IncomingMessage) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const verified: unknown[] = []
  const hook = (more: Partial<Extract<GuardCheck, { type: 'http' }>> = {}): GuardCheck => {
    const { port } = objectOf(server.address())
    return {
      type: 'http',
      url: `http://127.0.0.1:${port}/check`,
      timeout_ms: 30_000,
      on: 'both',
      action: 'block',
      on_error: 'block',
      ...more,
    }
  }

  beforeEach(async () => {
    verified.length = 0
    server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const body = Buffer.concat(parts).toString()
        verified.push(new Webhook(secret).verify(body, signedBy(request)))
        answer(request, response)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    world.first.script(answering('fine'))
  })
  afterEach(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(resolve)
      }),
  )

  it('gets the texts, signed, and may block them or put others in their place', async () => {
    answer = (_, response) => response.end('{"flagged": true, "texts": ["a b***"]}')
    world.state.checks = [hook({ on: 'input' })]
    expect((await world.request(saying('a bird'))).error?.code).toBe('content_policy_violation')
    world.state.checks = [hook({ on: 'input', action: 'redact' })]
    expect(headerOf(await world.request(saying('a bird')))).toBe('house;redacted')
    expect(sentTexts(world)).toEqual(['a b***'])
    expect(verified[0]).toMatchObject({ on: 'input', texts: ['a bird'], tenant_id: null })
    world.state.checks = [hook({ on: 'output', action: 'redact' })]
    expect(textOf(await world.request())).toBe('a b***')
  })

  it.each([
    ['hangs', () => {}],
    [
      'redirects',
      (_: IncomingMessage, response: ServerResponse) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
    ],
    [
      'redirects by 307',
      (_: IncomingMessage, response: ServerResponse) => response.writeHead(307, { location: 'http://10.0.0.1/' }).end(),
    ],
    [
      'returns ten megabytes',
      (_: IncomingMessage, response: ServerResponse) => response.end(`{"flagged": false, "x": "${'x'.repeat(1e7)}"}`),
    ],
    ['returns garbage', (_: IncomingMessage, response: ServerResponse) => response.end('<html>')],
    ['fails', (_: IncomingMessage, response: ServerResponse) => response.writeHead(500).end('{"flagged": false}')],
    ['breaks off', (request: IncomingMessage) => request.socket.destroy()],
    [
      'redacts without texts',
      (_: IncomingMessage, response: ServerResponse) => response.end('{"flagged": true, "texts": []}'),
    ],
  ])('that %s blocks the call, or lets it pass where it is declared so', async (name, does) => {
    answer = does
    const limit = name === 'hangs' ? { timeout_ms: 300 } : {}
    world.state.checks = [hook({ on: 'input', action: 'redact', ...limit })]
    expect((await world.request(saying('a bird'))).error?.code).toBe('content_policy_violation')
    world.state.checks = [hook({ on: 'input', on_error: 'allow', ...limit })]
    const open = await world.request(saying('a bird'))
    if (name === 'redacts without texts') expect(open.error?.code).toBe('content_policy_violation')
    else expect(headerOf(open)).toBe('house;failed')
  })

  it('at a private address that is not permitted is a failed check', async () => {
    world.state.checks = [hook({ url: 'http://169.254.169.254/', on: 'input' })]
    expect((await world.request(saying('a bird'))).error?.code).toBe('content_policy_violation')
  })
})
