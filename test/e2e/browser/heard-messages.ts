import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Accepts a WebSocket and calls `heard` with each short text message (RFC 6455, section 5.2). */
export const hearMessages = (request: IncomingMessage, socket: Duplex, heard: (text: string) => void): void => {
  const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${magic}`).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  )
  socket.on('error', () => {})
  let rest = Buffer.alloc(0)
  socket.on('data', (part: Buffer) => {
    rest = Buffer.concat([rest, part])
    for (let length = lengthOf(rest); length !== null; length = lengthOf(rest)) {
      const isText = ((rest[0] ?? 0) & 15) === 1
      const mask = rest.subarray(2, 6)
      const text = Buffer.from(rest.subarray(6, 6 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0))).toString()
      if (isText) heard(text)
      rest = rest.subarray(6 + length)
    }
  })
}

/** Length of the first frame's payload in bytes; null until the frame is complete. */
const lengthOf = (bytes: Buffer): number | null => {
  const length = (bytes[1] ?? 0) & 127
  return bytes.length >= 6 + length ? length : null
}
