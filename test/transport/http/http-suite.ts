import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  BodyTooLarge,
  BodyTooSlow,
  ConnectionClosed,
  type HttpRequest,
  type HttpResponse,
} from '#transport/http/http-port.ts'
import { head } from './raw-client.ts'
import { type Answer, later, serving } from './serving.ts'

/** Contract of every HTTP adapter: requests and whole responses. */
export const httpSuite = (adapter: 'uws' | 'node'): void => {
  const { serve, client } = serving(adapter)

  /** Responds with the content of the request, after an await. */
  const echo: Answer = async (request, response) => {
    const body = await request.body(1 << 20).catch(() => Buffer.from('none'))
    await new Promise((resolve) => setImmediate(resolve))
    const { method, path, query, remoteAddress } = request
    const seen = { method, path, query, remoteAddress, x: request.header('x-test') ?? null, body: body.toString() }
    response.send(200, [['content-type', 'application/json']], JSON.stringify(seen))
  }

  const bodyOutcome =
    (maxBytes: number): Answer =>
    (request, response) => {
      request.body(maxBytes).then(
        (body) => response.send(200, [], String(body.length)),
        (error: unknown) => response.send(statusOf(error), [], 'refused'),
      )
    }

  const statusOf = (error: unknown): number =>
    error instanceof BodyTooLarge ? 413 : error instanceof BodyTooSlow ? 408 : 500

  describe('headers of every answer', () => {
    const headersOf = ({ headers }: Response) => [headers.get('x-content-type-options'), headers.get('cache-control')]

    it.each([
      ['a whole answer', (response: HttpResponse) => response.send(200, [], 'x')],
      ['an error', (response: HttpResponse) => response.send(404, [['content-type', 'application/json']], '{}')],
      ['a stream', (response: HttpResponse) => response.stream(200, []).end('x')],
    ])('forbid caches to keep it, and browsers to guess its type: %s', async (_, answer) => {
      const { url } = await serve((_request, response) => answer(response))
      expect(headersOf(await fetch(url))).toEqual(['nosniff', 'no-store'])
    })

    it.each([
      [[['cache-control', 'public, s-maxage=60']], ['nosniff', 'public, s-maxage=60']],
      [[['x-content-type-options', 'nosniff']], ['nosniff', 'no-store']],
      [
        [
          ['cache-control', 'no-cache'],
          ['x-content-type-options', 'nosniff'],
        ],
        ['nosniff', 'no-cache'],
      ],
    ] as const)('are not sent twice when the answer sets them itself: %j', async (own, expected) => {
      const { url } = await serve((_request, response) => response.send(200, own, 'x'))
      expect(headersOf(await fetch(url))).toEqual(expected)
    })
  })

  describe('requests', () => {
    it('provides method, encoded path, query, headers and body, also after an await', async () => {
      const { url } = await serve(echo)
      const answer = await fetch(`${url}/a%20b/%C3%A4/c%2Fd?x=%41&y`, {
        method: 'PATCH',
        headers: { 'X-Test': 'one' },
        body: 'hällo',
      })
      expect(await answer.json()).toEqual({
        method: 'PATCH',
        path: '/a%20b/%C3%A4/c%2Fd',
        query: 'x=%41&y',
        remoteAddress: '127.0.0.1',
        x: 'one',
        body: 'hällo',
      })
    })

    it('provides a long body byte by byte, with and without a declared length', async () => {
      const { url } = await serve(async (request, response) => response.send(200, [], await request.body(4_000_000)))
      const sent = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251))
      const declared = await fetch(url, { method: 'POST', body: sent })
      expect(Buffer.from(await declared.arrayBuffer()).equals(sent)).toBe(true)
      const chunked = await fetch(url, { method: 'POST', body: new Blob([sent]).stream(), duplex: 'half' })
      expect(Buffer.from(await chunked.arrayBuffer()).equals(sent)).toBe(true)
    })

    it('joins a repeated header, and keeps the first value of a header that must not repeat', async () => {
      const { port } = await serve((request, response) =>
        response.send(200, [], `${request.header('x-test')} | ${request.header('authorization')}`),
      )
      const raw = await client(port)
      raw.write(head('GET', '/', 'X-Test: a', 'x-test: b', 'Authorization: first', 'authorization: second'))
      expect(await raw.until('first')).toContain('a, b | first')
      expect(raw.received).not.toContain('second')
    })

    it('accepts a head of 15 KB, and refuses an endless one', async () => {
      const { url } = await serve(echo)
      const large = await fetch(`${url}/?q=${'x'.repeat(9000)}`, { headers: { 'X-Test': 'y'.repeat(6000) } })
      expect(await large.json()).toMatchObject({ query: `q=${'x'.repeat(9000)}`, x: 'y'.repeat(6000) })
      const endless = await fetch(url, { headers: { 'X-Test': 'y'.repeat(20_000) } })
      expect(endless.status).toBe(431)
      await endless.body?.cancel()
    })

    it.each(['100-continue', '100-Continue'])(
      'sends 100 Continue to a client that waits for it: %s',
      async (expected) => {
        const { port } = await serve(echo)
        const raw = await client(port)
        for (const body of ['hello', 'again']) {
          raw.write(head('POST', '/', `Expect: ${expected}`, 'content-length: 5'))
          await raw.until('100 Continue\r\n\r\n')
          raw.write(body)
          expect(await raw.until(`"body":"${body}"`)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
        }
      },
    )

    it('reads a chunked body', async () => {
      const { port } = await serve(echo)
      const raw = await client(port)
      raw.write(`${head('POST', '/', 'transfer-encoding: chunked')}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`)
      expect(await raw.until('world')).toContain('"body":"hello world"')
    })

    it('answers a request that offers HTTP/2 like any other', async () => {
      const { port } = await serve(echo)
      const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAEAAEAA']
      const raw = await client(port)
      raw.write(`${head('POST', '/offer', ...offer, 'content-length: 5')}hello`)
      expect(await raw.until('hello')).toMatch(/^HTTP\/1\.1 200 OK/)
      raw.write(head('GET', '/next'))
      expect(await raw.until('"/next"')).not.toContain('400')
    })

    it('reads an empty body', async () => {
      const { url } = await serve(echo)
      expect(await (await fetch(url, { method: 'POST' })).json()).toMatchObject({ body: '' })
      expect(await (await fetch(url)).json()).toMatchObject({ method: 'GET', body: '' })
    })

    it('reads a body that is requested long after it arrived', async () => {
      const received = later<void>()
      const { port, url } = await serve(async (request, response) => {
        if (request.path === '/turn') {
          response.send(200, [], '')
          return
        }
        await received.promise
        const body = await request.body(8 << 20)
        response.send(200, [], createHash('sha256').update(body).digest('hex'))
      })
      const body = Buffer.alloc(4 << 20, 'abcdefg')
      const raw = await client(port)
      raw.write(head('POST', '/', `content-length: ${body.length}`))
      raw.socket.write(body)
      for (let turn = 0; turn < 20; turn++) await fetch(`${url}/turn`)
      received.resolve()
      expect(await raw.until(createHash('sha256').update(body).digest('hex'))).toContain('200 OK')
    })

    it('refuses a body by its declared length before any of it has arrived', async () => {
      const { port } = await serve(bodyOutcome(10))
      const raw = await client(port)
      raw.write(head('POST', '/', 'content-length: 11'))
      expect(await raw.until('refused')).toContain('413')
    })

    it('refuses a body as soon as it exceeds the limit', async () => {
      const { port } = await serve(bodyOutcome(10))
      const raw = await client(port)
      raw.write(`${head('POST', '/', 'transfer-encoding: chunked')}6\r\nabcdef\r\n6\r\nabcdef\r\n`)
      expect(await raw.until('refused')).toContain('413')
    })

    it('accepts a body of exactly the limit', async () => {
      const { url } = await serve(bodyOutcome(10))
      expect(await (await fetch(url, { method: 'POST', body: '0123456789' })).text()).toBe('10')
    })

    it('lets a client that sends a refused body to its end read the response and reuse the connection', async () => {
      const { port } = await serve((request, response) => {
        if (request.method === 'GET') response.send(200, [], 'alive')
        else bodyOutcome(1000)(request, response)
      })
      const body = Buffer.alloc(3 << 20, 'x')
      const raw = await client(port)
      raw.write(head('POST', '/', `content-length: ${body.length}`))
      await new Promise((resolve) => raw.socket.write(body, resolve))
      expect(await raw.until('refused')).toContain('413')
      raw.write(head('GET', '/'))
      await raw.until('alive')
    })

    it('answers a request whose body is not read', async () => {
      const { port } = await serve((_, response) => response.send(401, [], 'who are you'))
      const raw = await client(port)
      const body = Buffer.alloc(2 << 20, 'x')
      raw.write(head('POST', '/', `content-length: ${body.length}`))
      await new Promise((resolve) => raw.socket.write(body, resolve))
      expect(await raw.until('who are you')).toContain('401 Unauthorized')
    })

    it('reports a client that disconnects within its body', async () => {
      const outcome = later<unknown>()
      const { port } = await serve((request) => void request.body(1000).then(outcome.resolve, outcome.resolve))
      const raw = await client(port)
      raw.write(`${head('POST', '/', 'content-length: 100')}half`)
      raw.socket.end()
      expect(await outcome.promise).toBeInstanceOf(ConnectionClosed)
    })

    it.each(['GET / HTTP/1.1\r\nno colon here\r\n\r\n', 'not http at all\r\n\r\n'])(
      'closes a connection that sends %j',
      async (bytes) => {
        const { port } = await serve(echo)
        const raw = await client(port)
        raw.write(bytes)
        expect(await raw.closed).not.toContain('200 OK')
      },
    )
  })

  describe('connections', () => {
    it('serves further requests on the same connection', async () => {
      const { port } = await serve((request, response) => {
        if (request.method === 'HEAD') response.send(200, [['x-end', '12']], '')
        else echo(request, response)
      })
      const raw = await client(port)
      raw.write(head('GET', '/one'))
      await raw.until('"/one"')
      raw.write(head('GET', '/two'))
      await raw.until('"/two"')
      raw.write(head('HEAD', '/three'))
      await raw.until('x-end')
      raw.write(head('GET', '/four'))
      expect(await raw.until('"/four"')).not.toContain('"/three"')
    })

    it('answers pipelined requests in order or not at all', async () => {
      const { port } = await serve(echo)
      const raw = await client(port)
      raw.write(head('GET', '/first') + head('GET', '/second'))
      const seen = await Promise.race([raw.closed, raw.until('"/second"')])
      const answered = [...seen.matchAll(/"path":"(\/\w+)"/g)].map(([, path]) => path)
      expect(['', '/first', '/first,/second']).toContain(answered.join(','))
    })

    it('answers pipelined requests in order if none has to wait', async () => {
      const { port } = await serve((request, response) => response.send(200, [], `<${request.path}>`))
      const raw = await client(port)
      raw.write(head('GET', '/first') + head('GET', '/second'))
      const seen = await raw.until('</second>')
      expect(seen.indexOf('</first>')).toBeGreaterThan(0)
      expect(seen.indexOf('</first>')).toBeLessThan(seen.indexOf('</second>'))
    })

    it('calls onClose when the client disconnects, and ignores what is sent afterwards', async () => {
      const [arrived, left] = [later<{ request: HttpRequest; response: HttpResponse }>(), later<void>()]
      const { port } = await serve((request, response) => {
        response.onClose(left.resolve)
        arrived.resolve({ request, response })
      })
      const raw = await client(port)
      raw.write(head('GET', '/'))
      const { request, response } = await arrived.promise
      raw.socket.destroy()
      await left.promise
      expect(response.closed).toBe(true)
      expect(request.header('host')).toBe('here')
      expect(['', '127.0.0.1']).toContain(request.remoteAddress)
      response.send(200, [], 'nobody')
      const writer = response.stream(200, [])
      expect([writer.write('x'), writer.bufferedBytes]).toEqual([true, 0])
      writer.end('y')
    })

    it('does not call onClose after the response has ended', async () => {
      let calls = 0
      const { port } = await serve((_, response) => {
        response.onClose(() => calls++)
        response.send(200, [], 'done')
      })
      const raw = await client(port)
      raw.write(head('GET', '/'))
      await raw.until('done')
      raw.socket.end()
      await raw.closed
      expect(calls).toBe(0)
    })
  })

  describe('responses', () => {
    it('sends status, headers and body', async () => {
      const { url } = await serve((_, response) =>
        response.send(
          404,
          [
            ['content-type', 'text/plain'],
            ['x-a', 'é'],
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ],
          'nö',
        ),
      )
      const answer = await fetch(url)
      expect([answer.status, answer.statusText, await answer.text()]).toEqual([404, 'Not Found', 'nö'])
      expect(answer.headers.get('content-length')).toBe('3')
      expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    })

    it('sends bytes unchanged', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)
      const { url } = await serve((_, response) => response.send(200, [], bytes))
      expect(new Uint8Array(await (await fetch(url)).arrayBuffer())).toEqual(bytes)
    })

    it('sends a large body completely to a reader that starts late', async () => {
      const body = 'äbcdefgh'.repeat(2 << 20)
      const { port } = await serve((_, response) => response.send(200, [['x-last', 'yes']], body))
      const raw = await client(port)
      raw.socket.pause()
      raw.write(head('GET', '/', 'connection: close'))
      raw.socket.resume()
      const seen = await raw.closed
      const sent = Buffer.from(seen.slice(seen.indexOf('\r\n\r\n') + 4), 'latin1')
      expect(seen).toContain(`ontent-${adapter === 'node' ? 'l' : 'L'}ength: ${Buffer.byteLength(body)}`)
      expect(sent.equals(Buffer.from(body))).toBe(true)
    })

    it('answers HEAD with the head of GET', async () => {
      const { port } = await serve((_, response) => response.send(200, [], 'twelve bytes'))
      const raw = await client(port)
      raw.write(head('HEAD', '/', 'connection: close'))
      const seen = await raw.closed
      expect(seen.toLowerCase()).toContain('content-length: 12\r\n')
      expect(seen.endsWith('\r\n\r\n')).toBe(true)
    })

    it('answers HEAD for a stream with its head', async () => {
      const { port } = await serve((_, response) => {
        const writer = response.stream(200, [['x-stream', 'yes']])
        writer.write('part')
        writer.end()
      })
      const raw = await client(port)
      raw.write(head('HEAD', '/', 'connection: close'))
      const seen = await raw.closed
      expect(seen).toContain('x-stream: yes')
      expect(seen).not.toContain('part')
    })

    it.each([204, 304])('sends %i without a body', async (status) => {
      const { port } = await serve((_, response) => response.send(status, [['x-a', 'b']], ''))
      const raw = await client(port)
      raw.write(head('GET', '/', 'connection: close'))
      const seen = await raw.closed
      expect(seen).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(seen.endsWith('\r\n\r\n')).toBe(true)
    })

    it.each(['a\r\nx-evil: 1', 'a\nb', 'a\0b', 'snow☃'])(
      'refuses the header value %j before anything is sent',
      async (value) => {
        const { url } = await serve((_, response) => {
          expect(() => response.send(200, [['x-a', value]], '')).toThrow(TypeError)
          expect(() => response.stream(200, [['x-a', value]])).toThrow(TypeError)
          response.send(200, [], 'clean')
        })
        const answer = await fetch(url)
        expect([await answer.text(), answer.headers.get('x-evil')]).toEqual(['clean', null])
      },
    )

    it('responds with 500 if the handler throws', async () => {
      const { url } = await serve(() => {
        throw new Error('planted')
      })
      const answer = await fetch(url)
      expect([answer.status, await answer.text()]).toEqual([500, ''])
    })
  })
}
