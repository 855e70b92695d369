import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'

/** Responses of the host of a customer, by path. */
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/good': (response) => response.end('good'),
  '/missing': (response) => response.writeHead(404).end(),
  '/long': (response) => response.end('x'.repeat(100_000)),
  '/breaks': (response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('x', () => setImmediate(() => response.destroy()))
  },
  '/stalls': (response) => {
    response.writeHead(200)
    response.write('x')
  },
  '/silent': () => {},
  '/inward': (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  '/around': (response) => response.writeHead(302, { location: '/around' }).end(),
}

const server = createServer((request, response) => answers[request.url ?? '']?.(response))
const counted: string[] = []
const unread: string[] = []
let guard: SsrfGuard
let host: string

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port }: AddressInfo = Object(server.address())
  host = `127.0.0.1:${port}`
  guard = openSsrfGuard({
    allowedPrivateHosts: [host, '127.0.0.1:1'],
    watch: {
      requested: (kind, outcome, ms) => counted.push(ms >= 0 ? `${kind} ${outcome}` : 'no duration'),
      unread: (kind, reason) => unread.push(`${kind} ${reason}`),
    },
  })
})

afterAll(async () => {
  await guard.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** Sends a request and reads at most 1,000 bytes of its body; a failure is counted like a success. */
const request = async (url: string, { signal = new AbortController().signal, maxRedirects = 2 } = {}) => {
  counted.length = 0
  unread.length = 0
  try {
    const answer = await guard.request(url, { kind: 'mcp', method: 'GET', headers: {}, signal, maxRedirects })
    const closed = once(answer.body, 'close')
    await boundedBody(answer.body, { maxBytes: 1000, partial: true })
    await closed
  } catch (error) {
    expect(error).toBeInstanceOf(Error)
  }
}

it.each([
  ['/good', ['mcp 2xx'], []],
  ['/missing', ['mcp 4xx'], []],
  ['/long', ['mcp 2xx'], ['mcp cut']],
  ['/breaks', ['mcp 2xx'], ['mcp broken']],
  ['/inward', ['mcp refused'], []],
  ['/around', ['mcp redirect_failed'], []],
])('a request to %s is counted once, and so is a body that is not read to its end', async (path, outcomes, left) => {
  await request(`http://${host}${path}`)
  expect([counted, unread]).toEqual([outcomes, left])
})

it.each([
  ['http://10.0.0.1/', 'mcp refused'],
  ['ftp://example.com/', 'mcp refused'],
  ['http://127.0.0.1:1/', 'mcp unreachable'],
])('a request to %s, which is not reached, is counted', async (url, outcome) => {
  await request(url)
  expect(counted).toEqual([outcome])
})

it('a timeout is counted as such, before the response and within its body', async () => {
  await request(`http://${host}/silent`, { signal: AbortSignal.timeout(50) })
  expect([counted, unread]).toEqual([['mcp timeout'], []])
  const limit = new AbortController()
  const about = { kind: 'mcp', method: 'GET', headers: {}, signal: limit.signal, maxRedirects: 0 } as const
  const { body } = await guard.request(`http://${host}/stalls`, about)
  const closed = new Promise((resolve) => body.once('close', resolve))
  limit.abort(new DOMException('too long', 'TimeoutError'))
  await closed
  expect(unread).toEqual(['mcp timeout'])
})

it('a request that its caller cancels is counted as cancelled, not as a failure of the host', async () => {
  await request(`http://${host}/silent`, { signal: AbortSignal.abort() })
  expect(counted).toEqual(['mcp cancelled'])
})

it('a connection of a browser is counted, and so is a refused one', async () => {
  counted.length = 0
  const [name = '', port] = host.split(':')
  const socket = await guard.connect({ hostname: name, port: Number(port) })
  socket.destroy()
  await expect(guard.connect({ hostname: '10.0.0.1', port: 80 })).rejects.toThrow('not public')
  expect(counted).toEqual(['browser connected', 'browser refused'])
})
