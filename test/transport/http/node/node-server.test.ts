import { describe, expect, it } from 'vitest'
import { sseWireSuite } from '#test/transport/streams/sse-wire-suite.ts'
import { BodyPace } from '#transport/http/body-pace.ts'
import { connectionSuite } from '../connection-suite.ts'
import { framingSuite } from '../framing-suite.ts'
import { httpSuite } from '../http-suite.ts'
import { paceSuite } from '../pace-suite.ts'
import { clientFrame, head } from '../raw-client.ts'
import { serving } from '../serving.ts'
import { streamSuite } from '../stream-suite.ts'
import { websocketSuite } from '../websocket-suite.ts'

describe('node server', () => {
  httpSuite('node')
  paceSuite('node')
  connectionSuite('node')
  framingSuite('node')
  streamSuite('node')
  sseWireSuite('node')
  websocketSuite('node')

  describe('a WebSocket message that is never finished', () => {
    const { serve, client } = serving('node')
    const handshake = head(
      'GET',
      '/',
      ...['upgrade: websocket', 'connection: Upgrade', 'sec-websocket-version: 13'],
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    )

    it.each([
      ['a frame without its end', clientFrame(0x81, 'x'.repeat(1000)).subarray(0, 500)],
      ['a fragment without its last one', clientFrame(0x01, 'x'.repeat(1000))],
    ])('closes its connection, although pings are answered: %s', async (_, bytes) => {
      const pace = new BodyPace({ graceMs: 100, bytesPerS: 16 * 1024, pollMs: 20 })
      const { port } = await serve(
        (_request, response) => response.fail(),
        async () => ({ accept: () => {} }),
        pace,
      )
      const peer = await client(port)
      peer.write(handshake)
      await peer.until('\r\n\r\n')
      peer.write(bytes)
      expect(await peer.closed).toContain('message too slow')
    })
  })
})
