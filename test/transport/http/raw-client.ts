import { connect, type Socket } from 'node:net'

/** A client that sends and receives raw bytes, for what a well-behaved client never does. */
export interface RawClient {
  readonly socket: Socket
  /** All received bytes, as Latin-1. */
  readonly received: string
  write(text: string | Buffer): void
  /** Resolves with all received bytes once they contain `text`; rejects if the connection closes before. */
  until(text: string): Promise<string>
  /** Resolves with all received bytes when the connection closes, for any reason. */
  readonly closed: Promise<string>
}

/** Connects to a server on this machine. */
export const rawClient = async (port: number): Promise<RawClient> => {
  const socket = connect({ host: '127.0.0.1', port })
  const parts: string[] = []
  const received = (): string => parts.join('')
  const listeners = new Set<() => void>()
  socket.on('data', (part) => {
    parts.push(part.toString('latin1'))
    for (const listener of listeners) listener()
  })
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received())))
  socket.on('error', () => socket.destroy())
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return {
    socket,
    closed,
    get received() {
      return received()
    },
    write: (text) => void socket.write(text),
    until: (text) =>
      new Promise((resolve, reject) => {
        const recheck = (): void => {
          if (!received().includes(text)) return
          listeners.delete(recheck)
          resolve(received())
        }
        listeners.add(recheck)
        socket.once('close', () => reject(new Error(`closed after ${JSON.stringify(received().slice(-500))}`)))
        recheck()
      }),
  }
}

/** Head of a request without a body. */
export const head = (method: string, path: string, ...lines: string[]): string =>
  `${[`${method} ${path} HTTP/1.1`, 'host: here', ...lines].join('\r\n')}\r\n\r\n`

/** A masked client frame. `first` is the byte with FIN, RSV and opcode. */
export const clientFrame = (first: number, payload: Buffer | string, masked = true): Buffer => {
  const bytes = Buffer.from(payload)
  const mask = Buffer.from([0x12, 0x34, 0x56, 0x78])
  const lengthBytes =
    bytes.length < 126
      ? Buffer.from([bytes.length])
      : bytes.length < 65_536
        ? Buffer.from([126, bytes.length >> 8, bytes.length & 255])
        : Buffer.from([127, 0, 0, 0, 0, ...Buffer.from(Uint32Array.of(bytes.length).buffer).reverse()])
  if (masked) lengthBytes[0] = (lengthBytes[0] ?? 0) | 0x80
  const body = masked ? bytes.map((byte, at) => byte ^ (mask[at & 3] ?? 0)) : bytes
  return Buffer.concat([Buffer.from([first]), lengthBytes, masked ? mask : Buffer.alloc(0), body])
}
