import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type HttpHandler,
  type UpgradeDecision,
  type WebSocketPeer,
  websocketMaxBytes,
} from '#transport/http/http-port.ts'
import { clientFrame, head, type RawClient } from './raw-client.ts'
import { later, serving } from './serving.ts'

const echo = (peer: WebSocketPeer): void => peer.onMessage((text) => void peer.send(text))

const handshake = (path = '/'): string =>
  head(
    'GET',
    path,
    'upgrade: websocket',
    'connection: Upgrade',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  )

/** Contract of every HTTP adapter: WebSockets. */
export const websocketSuite = (adapter: 'uws' | 'node'): void => {
  const sockets: WebSocket[] = []
  const { serve: serveBoth, client } = serving(adapter)

  const serve = (upgrade: HttpHandler['upgrade']) => serveBoth((_, response) => response.send(426, [], ''), upgrade)

  const accepting = (accept: (peer: WebSocketPeer) => void) => serve(() => Promise.resolve({ accept }))

  const dial = async (port: number, path = '/'): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
    sockets.push(socket)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true })
      socket.addEventListener('error', () => reject(new Error('refused')), { once: true })
    })
    return socket
  }

  /** A raw connection after its handshake. */
  const rawDial = async (port: number): Promise<RawClient> => {
    const raw = await client(port)
    raw.write(handshake())
    await raw.until('\r\n\r\n')
    return raw
  }

  const message = (socket: WebSocket): Promise<unknown> =>
    new Promise((resolve) => socket.addEventListener('message', (event) => resolve(event.data), { once: true }))

  const closing = (socket: WebSocket): Promise<{ code: number; reason: string }> =>
    new Promise((resolve) =>
      socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }), { once: true }),
    )

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.close()
  })

  describe('a WebSocket', () => {
    it('returns the hash of the key in its handshake', async () => {
      const { port } = await accepting(echo)
      const raw = await rawDial(port)
      expect(raw.received.toLowerCase()).toContain('101 switching protocols')
      expect(raw.received).toContain('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    })

    it('is accepted or refused by the path, query and headers of its request', async () => {
      const { port } = await serve(async (request): Promise<UpgradeDecision> => {
        await new Promise((resolve) => setImmediate(resolve))
        return request.path === '/yes' && request.query === 'token=1' && request.header('host') !== undefined
          ? { accept: echo }
          : { refuse: { status: 403, headers: [['x-why', 'no']], body: 'no entry' } }
      })
      const socket = await dial(port, '/yes?token=1')
      socket.send('hello')
      expect(await message(socket)).toBe('hello')
      const raw = await client(port)
      raw.write(handshake('/no'))
      expect(await raw.until('no entry')).toMatch(/^HTTP\/1.1 403 Forbidden\r\n[\s\S]*x-why: no/)
    })

    it('answers the subprotocol of its decision', async () => {
      const { port } = await serve(async () => ({ accept: echo, protocol: 'realtime' }))
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ['realtime', 'key.1'])
      await once(socket, 'open')
      expect(socket.protocol).toBe('realtime')
      socket.close()
    })

    it('that is refused leaves no connection, whether the client disconnects or stays', async () => {
      const refuse = { status: 403, headers: [], body: 'no entry' }
      const { server, port } = await serve(() => Promise.resolve({ refuse }))
      for (const bytes of [handshake(), handshake().replace('Version: 13', 'Version: 99'), 'no HTTP\r\n\r\n']) {
        const stays = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
        stays.on('error', () => {})
        stays.write(bytes)
        await once(stays, 'data')
        const leaves = await client(port)
        leaves.write(bytes)
        await leaves.until('HTTP/1.1 ')
        leaves.socket.destroy()
      }
      await expect(server.close(0)).resolves.toBeUndefined()
    })

    it('can read its request after the upgrade', async () => {
      const { port } = await serve(async (request) => ({
        accept: (peer) =>
          peer.onMessage(
            () => void peer.send(`${request.remoteAddress} ${request.header('upgrade')} ${request.query}`),
          ),
      }))
      const socket = await dial(port, '/?a=b')
      socket.send('who am I')
      expect(await message(socket)).toBe('127.0.0.1 websocket a=b')
    })

    it('is refused if the decision fails', async () => {
      const { port } = await serve(() => Promise.reject(new Error('planted')))
      await expect(dial(port)).rejects.toThrow()
    })

    it('does not prevent plain requests to the same server', async () => {
      const { port } = await accepting(echo)
      await dial(port)
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(426)
    })

    it.each([
      ['empty', ''],
      ['short', 'hällo ☃ 😀'],
      ['of 126 bytes', 'x'.repeat(126)],
      ['of 64 KiB', 'x'.repeat(65_536)],
      ['of the largest size', 'x'.repeat(websocketMaxBytes)],
    ])('echoes a message that is %s', async (_, text) => {
      const { port } = await accepting(echo)
      const socket = await dial(port)
      socket.send(text)
      expect(await message(socket)).toBe(text)
    })

    it('is closed by a message above the maximum size', async () => {
      const { port } = await accepting(echo)
      const socket = await dial(port)
      const closed = closing(socket)
      socket.send('x'.repeat(websocketMaxBytes + 1))
      expect([1006, 1009]).toContain((await closed).code)
    })

    it('is closed by fragments that exceed the maximum size together', async () => {
      const { port } = await accepting(echo)
      const raw = await rawDial(port)
      const half = Buffer.alloc(websocketMaxBytes / 2 + 1, 'x')
      raw.write(clientFrame(0x01, half))
      raw.write(clientFrame(0x80, half))
      expect(await raw.closed).not.toContain('x'.repeat(100))
    })

    it('joins fragments, and answers a ping between them at once', async () => {
      const { port } = await accepting(echo)
      const raw = await rawDial(port)
      raw.write(clientFrame(0x01, 'one '))
      raw.write(clientFrame(0x89, 'are you there'))
      await raw.until('\x8a\x0dare you there')
      raw.write(clientFrame(0x00, 'two '))
      raw.write(clientFrame(0x80, 'three'))
      expect(await raw.until('\x81\x0done two three')).toContain('are you there')
    })

    it('reads frames that arrive byte by byte, or many at once', async () => {
      const { port } = await accepting(echo)
      const raw = await rawDial(port)
      raw.socket.setNoDelay(true)
      for (const byte of clientFrame(0x81, 'x'.repeat(200))) {
        await new Promise((resolve) => raw.socket.write(Uint8Array.of(byte), resolve))
      }
      await raw.until('x'.repeat(200))
      raw.write(Buffer.concat(['a', 'b', 'c'].map((text) => clientFrame(0x81, text))))
      expect(await raw.until('\x81\x01a\x81\x01b\x81\x01c')).toContain('\x81\x01a\x81\x01b\x81\x01c')
    })

    it.each([
      ['reserved bits', clientFrame(0xf1, 'x')],
      ['an unknown opcode', clientFrame(0x83, 'x')],
      ['a fragmented ping', clientFrame(0x09, 'x')],
      ['a continuation of nothing', clientFrame(0x80, 'x')],
      ['text that is not UTF-8', clientFrame(0x81, Buffer.from([0xff, 0xfe]))],
    ])('is closed when the client sends %s', async (_, frame) => {
      const heard: string[] = []
      const { port } = await accepting((peer) => peer.onMessage((text) => void heard.push(text)))
      const raw = await rawDial(port)
      raw.write(frame)
      await raw.closed
      expect(heard).toEqual([])
    })

    it.runIf(adapter === 'node')('is closed when the client sends an unmasked frame', async () => {
      const { port } = await accepting(echo)
      const raw = await rawDial(port)
      raw.write(clientFrame(0x81, 'x', false))
      await raw.closed
      expect(raw.received).toContain('\x03\xeaframe not masked')
    })

    it('accepts text in binary frames and in their fragments', async () => {
      const heard: string[] = []
      const both = later<void>()
      const { port } = await accepting((peer) =>
        peer.onMessage((text) => {
          if (heard.push(text) === 2) both.resolve()
        }),
      )
      const raw = await rawDial(port)
      raw.write(clientFrame(0x82, 'wörld'))
      raw.write(clientFrame(0x02, Buffer.from('wö').subarray(0, 2)))
      raw.write(clientFrame(0x80, Buffer.from('wö').subarray(2)))
      await both.promise
      expect(heard).toEqual(['wörld', 'wö'])
    })

    it('refuses bytes that are not text with 1003', async () => {
      const { port } = await accepting(echo)
      const socket = await dial(port)
      const closed = closing(socket)
      socket.send(new Uint8Array([0xff, 0xfe]))
      expect((await closed).code).toBe(1003)
    })

    it('closes with the given code and reason, and reports it once', async () => {
      let reports = 0
      const { port } = await accepting((peer) => {
        peer.onClose(() => reports++)
        peer.onMessage(() => {
          peer.close(4001, 'enough')
          peer.close(4002, 'again')
        })
      })
      const socket = await dial(port)
      const closed = closing(socket)
      socket.send('go')
      expect(await closed).toEqual({ code: 4001, reason: 'enough' })
      expect(reports).toBe(1)
    })

    it('answers a close with its code, and reports that the client left', async () => {
      const left = later<void>()
      const { port } = await accepting((peer) => peer.onClose(left.resolve))
      const socket = await dial(port)
      const closed = closing(socket)
      socket.close(4003, 'bye')
      expect((await closed).code).toBe(4003)
      await left.promise
    })

    it('reports a broken connection, and ignores what is sent to it', async () => {
      const [opened, left] = [later<WebSocketPeer>(), later<void>()]
      const { port } = await accepting((peer) => {
        peer.onClose(left.resolve)
        opened.resolve(peer)
      })
      const raw = await rawDial(port)
      const peer = await opened.promise
      raw.socket.destroy()
      await left.promise
      expect(() => {
        peer.send('nobody')
        peer.close(1000, '')
      }).not.toThrow()
    })

    it('buffers little for a reader that stops, and continues when it reads again', async () => {
      const text = 'x'.repeat(60_000)
      const messages = 500
      const full = later<void>()
      let [sent, drains, maxBuffered] = [0, 0, 0]
      const { port } = await accepting((peer) => {
        const produce = (): void => {
          while (sent < messages) {
            sent++
            const more = peer.send(text)
            maxBuffered = Math.max(maxBuffered, peer.bufferedBytes)
            if (!more) break
          }
          if (sent < messages) full.resolve()
          else peer.close(1000, 'done')
        }
        peer.onDrain(() => {
          drains++
          produce()
        })
        peer.onMessage(produce)
      })
      const raw = await rawDial(port)
      raw.socket.pause()
      raw.write(clientFrame(0x81, 'go'))
      await full.promise
      expect(sent).toBeLessThan(messages)
      raw.socket.resume()
      const seen = await raw.closed
      expect(seen.split(text).length - 1).toBe(messages)
      expect(drains).toBeGreaterThan(0)
      expect(maxBuffered).toBeLessThan(256 * 1024)
    })

    it('is cut off when a client pings without end and reads no answer', async () => {
      const left = later<void>()
      let buffered = 0
      const { port } = await accepting((peer) => {
        peer.onMessage(() => {
          buffered = Math.max(buffered, peer.bufferedBytes)
        })
        peer.onClose(() => left.resolve())
      })
      const raw = await rawDial(port)
      raw.socket.pause()
      raw.socket.on('error', () => {})
      const pings = Buffer.concat([...Array(4_000).fill(clientFrame(0x89, 'x'.repeat(125))), clientFrame(0x81, 'go')])
      let isOpen = true
      void left.promise.then(() => {
        isOpen = false
      })
      for (let sent = 0; isOpen && sent < 400; sent++) {
        if (raw.socket.write(pings)) continue
        await Promise.race([left.promise, once(raw.socket, 'drain').catch(() => {})])
      }
      await left.promise
      expect(buffered).toBeLessThan(64 * 1024 * 1024)
    })

    it('is closed with 1001 when the server closes, and later upgrades are refused', async () => {
      const { server, port } = await accepting(echo)
      const socket = await dial(port)
      const closed = closing(socket)
      const done = server.close(60_000)
      expect((await closed).code).toBe(1001)
      await done
      await expect(dial(port)).rejects.toThrow()
    })
  })
}
