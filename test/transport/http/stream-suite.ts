import { createHash } from 'node:crypto'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { corsHeaders } from '#transport/cors.ts'
import type { BodyWriter, Headers, HttpRequest, HttpResponse } from '#transport/http/http-port.ts'
import { openServer } from '#transport/http/open-server.ts'
import { head, rawClient } from './raw-client.ts'
import { type Answer, later, noUpgrade, serving } from './serving.ts'

/** Contract of every HTTP adapter: bodies written in parts, and closing. */
export const streamSuite = (adapter: 'uws' | 'node'): void => {
  const { serve, client } = serving(adapter)

  it.each([
    ['a whole answer', (response: HttpResponse, own: Headers) => response.send(200, own, 'x')],
    ['a stream', (response: HttpResponse, own: Headers) => response.stream(200, own).end('x')],
  ])('tells pages of other origins the time of the server, once: %s', async (_, answer) => {
    const own = corsHeaders({ answers: true, allowed: true, origin: 'https://app.example' })
    const { url } = await serve((_request, response) => answer(response, own))
    const sent = Date.parse((await fetch(url)).headers.get('date') ?? '')
    expect(Math.abs(sent - Date.now())).toBeLessThan(60_000)
  })

  describe('streams', () => {
    const stream = (use: (writer: BodyWriter, request: HttpRequest, response: HttpResponse) => void): Answer => {
      return (request, response) => use(response.stream(200, [['content-type', 'text/plain']]), request, response)
    }

    it('sends parts as they are written, then ends', async () => {
      const opened = later<BodyWriter>()
      const { url } = await serve(stream(opened.resolve))
      const pending = fetch(url)
      const writer = await opened.promise
      writer.write('one ')
      const answer = await pending
      const reader = answer.body?.getReader()
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('one ')
      writer.write(Buffer.from('two '))
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('two ')
      writer.end('three')
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('three')
      expect((await reader?.read())?.done).toBe(true)
    })

    it('ends a stream without parts', async () => {
      const { url } = await serve(stream((writer) => writer.end()))
      expect(await (await fetch(url)).text()).toBe('')
    })

    it('makes an aborted stream fail at the client', async () => {
      const { url } = await serve(
        stream((writer) => {
          writer.write('part')
          setImmediate(() => writer.abort())
        }),
      )
      const answer = await fetch(url)
      await expect(answer.text()).rejects.toThrow()
    })

    it('calls onClose when the client leaves a stream, but not when the server aborts it', async () => {
      const left = later<void>()
      let ownAborts = 0
      const { port } = await serve((request, response) => {
        const writer = response.stream(200, [])
        response.onClose(request.path === '/abort' ? () => ownAborts++ : left.resolve)
        writer.write('open')
        if (request.path === '/abort') setImmediate(() => writer.abort())
      })
      const aborted = await client(port)
      aborted.write(head('GET', '/abort'))
      await aborted.closed
      const raw = await client(port)
      raw.write(head('GET', '/'))
      await raw.until('open')
      raw.socket.destroy()
      await left.promise
      expect(ownAborts).toBe(0)
    })

    it('buffers little for a reader that stops, and continues when it reads again', async () => {
      const part = Buffer.alloc(48 * 1024, 'abcdefghij').toString()
      const parts = 1000
      const full = later<void>()
      let [written, drains, maxBuffered] = [0, 0, 0]
      const { port } = await serve(
        stream((writer) => {
          const produce = (): void => {
            while (written < parts) {
              written++
              const more = writer.write(part)
              maxBuffered = Math.max(maxBuffered, writer.bufferedBytes)
              if (!more) break
            }
            if (written < parts) full.resolve()
            else writer.end()
          }
          writer.onDrain(() => {
            drains++
            produce()
          })
          produce()
        }),
      )
      const raw = await client(port)
      raw.socket.pause()
      raw.write(head('GET', '/', 'connection: close'))
      await full.promise
      expect(written).toBeLessThan(parts)
      raw.socket.resume()
      const body = unchunk(await raw.closed)
      expect(body.length).toBe(parts * part.length)
      expect(createHash('sha256').update(body).digest('hex')).toBe(
        createHash('sha256').update(part.repeat(parts)).digest('hex'),
      )
      expect(drains).toBeGreaterThan(0)
      expect(maxBuffered).toBeLessThan(512 * 1024)
    })

    it('sends what a full socket left over, even if nothing more is written', async () => {
      const full = later<string>()
      const { port } = await serve(
        stream((writer) => {
          let parts = 1
          while (writer.write(`<${parts}>${'x'.repeat(15_000)}`)) parts++
          full.resolve(`<${parts}>${'x'.repeat(15_000)}`)
        }),
      )
      const raw = await client(port)
      raw.socket.pause()
      raw.write(head('GET', '/'))
      const last = await full.promise
      raw.socket.resume()
      expect(await raw.until(last)).toContain(last)
    })

    it('reports the buffered bytes to a producer that ignores backpressure, and sends all of them', async () => {
      const part = 'ä☃😀'.repeat(20_000)
      const blocked = later<BodyWriter>()
      const { port } = await serve(
        stream((writer) => {
          while (writer.write(part));
          blocked.resolve(writer)
        }),
      )
      const raw = await client(port)
      raw.socket.pause()
      raw.write(head('GET', '/', 'connection: close'))
      const writer = await blocked.promise
      const before = writer.bufferedBytes
      for (let n = 0; n < 20; n++) expect(writer.write(part)).toBe(false)
      expect(writer.bufferedBytes - before).toBeGreaterThanOrEqual(19 * Buffer.byteLength(part))
      writer.end('the end')
      raw.socket.resume()
      const text = Buffer.from(unchunk(await raw.closed), 'latin1').toString()
      expect(text.endsWith('the end')).toBe(true)
      expect(text.slice(0, -7)).toBe(part.repeat((text.length - 7) / part.length))
    })
  })

  describe('closing', () => {
    it('refuses new connections, lets open ones end, and answers late requests with connection: close', async () => {
      const [opened, received] = [later<BodyWriter>(), later<HttpResponse>()]
      const { server, port } = await serve((request, response) => {
        if (request.path === '/stream') opened.resolve(response.stream(200, []))
        else if (request.path === '/ask') received.resolve(response)
        else response.send(200, [], 'warm')
      })
      const [streaming, upgrading, idle] = [await client(port), await client(port), await client(port)]
      streaming.write(head('GET', '/stream'))
      upgrading.write(head('GET', '/ask'))
      idle.write(head('GET', '/warm'))
      const [writer, response] = [await opened.promise, await received.promise]
      writer.write('begun ')
      await Promise.all([streaming.until('begun'), idle.until('warm')])
      const closing = server.close(60_000)
      await expect(rawClient(port)).rejects.toThrow()
      response.send(200, [], 'answered')
      expect((await upgrading.until('answered')).toLowerCase()).toContain('connection: close')
      writer.end('and ended')
      expect(await streaming.until('and ended')).toContain('0\r\n\r\n')
      await closing
      await Promise.all([streaming.closed, upgrading.closed, idle.closed])
    })

    it('cuts open connections at the end of the grace period', async () => {
      const gone = later<void>()
      const { server, port } = await serve((_, response) => {
        response.onClose(gone.resolve)
        response.stream(200, []).write('begun')
      })
      const raw = await client(port)
      raw.write(head('GET', '/'))
      await raw.until('begun')
      await server.close(1)
      await gone.promise
      expect(await raw.closed).not.toContain('0\r\n\r\n')
    })

    it('leaves a port in use to the server that listens on it', async () => {
      const { port } = await serve((_, response) => response.send(200, [], ''))
      const second = openServer({ request: () => {}, upgrade: noUpgrade }, pino({ level: 'silent' }), { adapter })
      await expect(second.listen('127.0.0.1', port)).rejects.toThrow()
    })
  })
}

/** Body of a complete chunked response. @throws if its last chunk is missing. */
const unchunk = (answer: string): string => {
  const parts: string[] = []
  let at = answer.indexOf('\r\n\r\n') + 4
  for (;;) {
    const lineEnd = answer.indexOf('\r\n', at)
    const length = Number.parseInt(answer.slice(at, lineEnd), 16)
    if (Number.isNaN(length)) throw new Error('body is cut off')
    if (length === 0) return parts.join('')
    parts.push(answer.slice(lineEnd + 2, lineEnd + 2 + length))
    at = lineEnd + 2 + length + 2
  }
}
