import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { callWithInput } from '#actors/mcp/agents/input/call-with-input.ts'
import { HeldCalls } from '#actors/mcp/agents/input/held-calls.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { watchedTurns } from '#test/support/cpu-ms.ts'
import { type Answering, startHostileServer } from './hostile-server.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const called = async (answering: Answering) => {
  const server = await startHostileServer(answering)
  const guard = openSsrfGuard({ allowedPrivateHosts: [server.host] })
  open.push(server, guard)
  const target = { url: server.url, transport: 'streamable_http', headers: {} } as const
  const tool = { name: 'send', input_schema: { type: 'object' } }
  const call = { actionId: 'act_1', arguments: {}, signal: new AbortController().signal, progress: async () => {} }
  const request = { server: 'hostile', target, tool, timeoutMs: 40_000 }
  return callWithInput({ guard, held: new HeldCalls() }, call, request).catch((error: unknown) => error)
}

const count = 20_000
const flood = (response: ServerResponse, of: (n: number) => object, last: object | null): void => {
  const events = Array.from({ length: count }, (_, n) => of(n))
  const text = [...events, ...(last === null ? [] : [last])].map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
}

const serverRequests: readonly (readonly [string, (n: number) => object])[] = [
  ['pings', (n) => ({ jsonrpc: '2.0', id: `p${n}`, method: 'ping' })],
  ['pings of one id', () => ({ jsonrpc: '2.0', id: 'p', method: 'ping' })],
  ['requests that are called as what every object inherits', (n) => ({ jsonrpc: '2.0', id: n, method: 'constructor' })],
]

describe('a hostile server', () => {
  it.each(serverRequests)(
    'that sends 20,000 %s gets few of them answered, and does not block the event loop',
    async (_what, of) => {
      let posts = 0
      const { result, turnMs } = await watchedTurns(() =>
        called((received, response) => {
          if (received.method !== 'tools/call') {
            posts++
            return void response.writeHead(202).end()
          }
          flood(response, of, null)
        }),
      )
      expect(result).toMatchObject({ code: 'answer_too_large' })
      expect(posts).toBeLessThan(500)
      expect(turnMs).toBeLessThan(400)
    },
  )

  it('that sends 20,000 progress reports does not block the event loop, and its call succeeds', async () => {
    const { result, turnMs } = await watchedTurns(() =>
      called((received, response) => {
        const progress = (n: number) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: received.id, progress: n },
        })
        flood(response, progress, {
          jsonrpc: '2.0',
          id: received.id,
          result: { content: [{ type: 'text', text: 'Done.' }] },
        })
      }),
    )
    expect(result).toEqual({ ok: true, output: 'Done.' })
    expect(turnMs).toBeLessThan(400)
  })

  it.each(['[', ' \n[', '\ufeff['])('that responds with a list of messages is refused: %j', async (begin) => {
    const answering: Answering = (_request, response) => {
      const pings = Array.from({ length: 1000 }, (_, n) => JSON.stringify({ jsonrpc: '2.0', id: n, method: 'ping' }))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`${begin}${pings}]`)
    }
    expect(await called(answering)).toMatchObject({ code: 'answer_too_large' })
  })
})
