import { createSocket, type Socket } from 'node:dgram'

/** Answer of a name server for a name: addresses, null for an unknown name, undefined for no answer. */
export type Known = (name: string) => readonly string[] | null | undefined

const typeA = 1

/** A DNS server on a loopback port (RFC 1035) with IPv4 addresses. */
export class NameServer {
  readonly requested: string[] = []
  readonly #socket: Socket = createSocket('udp4')

  static async open(known: Known): Promise<NameServer> {
    const server = new NameServer()
    server.#socket.on('message', (message, { port, address }) => {
      const answer = server.#answerTo(message, known)
      if (answer !== null) server.#socket.send(answer, port, address)
    })
    await new Promise<void>((resolve) => server.#socket.bind(0, '127.0.0.1', resolve))
    return server
  }

  /** `address:port` */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }

  #answerTo(message: Buffer, known: Known): Buffer | null {
    const labels: string[] = []
    let at = 12
    for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const question = message.subarray(12, at + 5)
    const name = labels.join('.').toLowerCase()
    this.requested.push(name)
    const found = known(name)
    if (found === undefined) return null
    const records = message.readUInt16BE(at + 1) === typeA ? (found ?? []).map(recordOf) : []
    const head = Buffer.alloc(12)
    message.copy(head, 0, 0, 2)
    head.writeUInt16BE(found === null ? 0x8183 : 0x8180, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(records.length, 6)
    return Buffer.concat([head, question, ...records])
  }
}

/** An A record for the name of the question, with a TTL of one minute. */
const recordOf = (address: string): Buffer =>
  Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)])
