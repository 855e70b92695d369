import { createServer, type Server, type Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Http1Pool } from '#outgoing/http1/http1-pool.ts'

/** A server that records requests and whose responses a test writes. */
interface Wire {
  readonly port: number
  readonly sockets: Socket[]
  /** All bytes that a connection has sent, as Latin-1. */
  sent(connection: number): string
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('the connection pool of one origin', () => {
  let server: Server
  let wire: Wire
  const pools: Http1Pool[] = []

  beforeEach(async () => {
    const sockets: Socket[] = []
    const received: string[] = []
    server = createServer((socket) => {
      const at = sockets.push(socket) - 1
      received[at] = ''
      socket.on('error', () => {})
      socket.on('data', (part) => {
        received[at] += part.toString('latin1')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    wire = { port, sockets, sent: (connection) => received[connection] ?? '' }
  })
  afterEach(() => {
    for (const pool of pools.splice(0)) pool.destroy()
    for (const socket of wire.sockets) socket.destroy()
    server.close()
  })

  const open = (connections = 8) => {
    const pool = new Http1Pool(`http://127.0.0.1:${wire.port}`, { connections, connectTimeoutMs: 5_000 })
    pools.push(pool)
    return pool
  }
  const post = (pool: Http1Pool, body: string | Uint8Array = '{}', headers = { authorization: 'Bearer k' }) => {
    const done = Promise.withResolvers<string>()
    const request: { control: Dispatcher.DispatchController | null; text: string } = { control: null, text: '' }
    pool.dispatch(
      { path: '/v1/chat', headers, body },
      {
        onRequestStart: (control) => {
          request.control = control
        },
        onResponseData: (_, part) => {
          request.text += part.toString()
        },
        onResponseEnd: () => done.resolve(request.text),
        onResponseError: (_, error) => done.reject(error),
      },
    )
    return Object.assign(request, { answer: done.promise })
  }
  const sentBy = (connection: number, text: string) =>
    vi.waitFor(() => expect(wire.sent(connection)).toContain(text), { timeout: 30_000 })

  it('sends its default headers with every request, unless the request sets them itself', async () => {
    const headers = { via: '1.1 us', 'x-a': '1' }
    const options = { connections: 1, connectTimeoutMs: 5_000, headers }
    const pool = new Http1Pool(`http://127.0.0.1:${wire.port}`, options)
    pools.push(pool)
    const sent: string[] = []
    for (const own of [{ authorization: 'Bearer k' }, { authorization: 'Bearer k', via: '1.1 them' }]) {
      const before = wire.sockets.length === 0 ? 0 : wire.sent(0).length
      const { answer } = post(pool, '{}', own)
      await vi.waitFor(() => expect(wire.sent(0).slice(before)).toContain('{}'), { timeout: 30_000 })
      sent.push(wire.sent(0).slice(before))
      wire.sockets[0]?.write(ok)
      await answer
    }
    expect(sent[0]).toContain('\r\nvia: 1.1 us\r\nx-a: 1\r\nauthorization: Bearer k\r\n')
    expect(sent[1]).toContain('\r\nvia: 1.1 them\r\n')
    expect(sent[1]).not.toContain('1.1 us')
  })

  it.each([
    [
      'in addition to all others',
      { 'idempotency-key': 'one' },
      '\r\nvia: 1.1 us\r\nauthorization: Bearer k\r\nidempotency-key: one\r\n',
    ],
    [
      'in place of the headers of all requests',
      { via: '1.1 them' },
      '\r\nvia: 1.1 them\r\nauthorization: Bearer k\r\n',
    ],
    ['in place of what stays', { authorization: 'Bearer o' }, '\r\nvia: 1.1 us\r\nauthorization: Bearer o\r\n'],
  ])('sends the one-time headers of a request %s, and not with the next request', async (_, once, expected) => {
    const options = { connections: 1, connectTimeoutMs: 5_000, headers: { via: '1.1 us' } }
    const pool = new Http1Pool(`http://127.0.0.1:${wire.port}`, options)
    pools.push(pool)
    const headers = { authorization: 'Bearer k' }
    const sent: string[] = []
    for (const own of [once, undefined]) {
      const before = wire.sockets.length === 0 ? 0 : wire.sent(0).length
      const done = Promise.withResolvers<void>()
      const handler = {
        onResponseEnd: () => done.resolve(),
        onResponseError: (_: unknown, error: Error) => done.reject(error),
      }
      pool.dispatch({ path: '/v1/chat', headers, once: own, body: '{}' }, handler)
      await vi.waitFor(() => expect(wire.sent(0).slice(before)).toContain('{}'), { timeout: 30_000 })
      sent.push(wire.sent(0).slice(before))
      wire.sockets[0]?.write(ok)
      await done.promise
    }
    expect(sent[0]).toContain(expected)
    expect(sent[1]).toContain('\r\nvia: 1.1 us\r\nauthorization: Bearer k\r\ncontent-length')
  })

  it('refuses a one-time header that could start another header', () => {
    const once = { 'idempotency-key': 'one\r\nx-a: 1' }
    expect(() => open().dispatch({ path: '/v1/chat', headers: {}, once, body: '{}' }, {})).toThrow(TypeError)
  })

  it('sends the head of a request byte for byte and reuses the connection', async () => {
    const pool = open()
    for (const body of ['{"a":"ö"}', Buffer.from('{"b":1}')]) {
      const { answer } = post(pool, body)
      await sentBy(0, body.toString('latin1').slice(0, 6))
      wire.sockets[0]?.write(ok)
      expect(await answer).toBe('ok')
    }
    expect(wire.sockets).toHaveLength(1)
    expect(wire.sent(0)).toContain(
      `POST /v1/chat HTTP/1.1\r\nhost: 127.0.0.1:${wire.port}\r\nconnection: keep-alive\r\nauthorization: Bearer k\r\ncontent-length: 10\r\n\r\n`,
    )
  })

  it('sends a body of several megabytes', async () => {
    const body = Buffer.alloc(3 * 1024 * 1024, 'x')
    const { answer } = post(open(), body)
    await vi.waitFor(() => expect(wire.sent(0).length).toBeGreaterThan(body.length), { timeout: 60_000 })
    wire.sockets[0]?.write(ok)
    expect(await answer).toBe('ok')
  })

  it('cancels a request by closing its connection, without affecting other requests', async () => {
    const pool = open()
    const first = post(pool)
    await sentBy(0, '{}')
    wire.sockets[0]?.write(ok)
    await first.answer
    const second = post(pool, '{"second":1}')
    await sentBy(0, 'second')
    // the first request has ended: its abort has no effect
    first.control?.abort(new Error('late'))
    wire.sockets[0]?.write(ok)
    expect(await second.answer).toBe('ok')
    const third = post(pool, '{"third":1}')
    await sentBy(0, 'third')
    const closed = new Promise((resolve) => wire.sockets[0]?.once('close', resolve))
    third.control?.abort(new Error('enough'))
    await closed
    await expect(third.answer).rejects.toThrow('enough')
  })

  it('never treats bytes behind a response as the next response', async () => {
    const pool = open()
    const first = post(pool)
    await sentBy(0, '{}')
    wire.sockets[0]?.write(`${ok}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`)
    await first.answer.catch(() => undefined)
    const second = post(pool, '{"second":1}')
    await sentBy(1, 'second')
    wire.sockets[1]?.write(ok)
    expect(await second.answer).toBe('ok')
  })

  it('queues requests in order when all connections are in use', async () => {
    const pool = open(1)
    const [first, second, third] = [post(pool, '{"at":1}'), post(pool, '{"at":2}'), post(pool, '{"at":3}')]
    for (const [at, request] of [first, second, third].entries()) {
      await sentBy(0, `{"at":${at + 1}}`)
      wire.sockets[0]?.write(ok)
      expect(await request?.answer).toBe('ok')
    }
    expect(wire.sockets).toHaveLength(1)
  })

  it('opens a new connection for a queued request when one is lost', async () => {
    const pool = open(1)
    const first = post(pool)
    const second = post(pool, '{"second":1}')
    await sentBy(0, '{}')
    wire.sockets[0]?.destroy()
    await expect(first.answer).rejects.toThrow()
    await sentBy(1, 'second')
    wire.sockets[1]?.write(ok)
    expect(await second.answer).toBe('ok')
  })

  it('fails requests in flight and queued requests when it is closed', async () => {
    const pool = open(1)
    const requests = [post(pool), post(pool)]
    await sentBy(0, '{}')
    const ended = Promise.allSettled(requests.map(({ answer }) => answer))
    pool.destroy()
    expect(await ended).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  })

  it('refuses header values with line breaks or characters beyond Latin-1', () => {
    expect(() => post(open(), '{}', { authorization: 'Bearer k\r\nx: y' })).toThrow(TypeError)
    expect(() => post(open(), '{}', { authorization: 'Bearer \u{1f600}' })).toThrow(TypeError)
  })
})
