import type { Socket } from 'node:net'
import { BSON, type Document } from 'mongodb'

/** A command of a client, and how its answer is sent; `noAnswer` is that of an unacknowledged one. */
export interface Request {
  readonly command: Document
  readonly answer: (reply: Document) => Buffer
  readonly noAnswer: boolean
}

const opReply = 1
const opQuery = 2004
const opMsg = 2013
/** Flags of OP_MSG. */
const checksumPresent = 1
const moreToCome = 2
const headerBytes = 16

/** Values keep their types (`Int32`, `Long` …), so that a document passes the proxy unchanged. */
export const asSent = { promoteValues: false, promoteLongs: false, promoteBuffers: false } as const

/** Reads the requests of a connection, in MongoDB's wire protocol: OP_MSG, and the OP_QUERY of a driver's first hello. */
export async function* requestsOf(socket: Socket): AsyncGenerator<Request> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= headerBytes && rest.length >= rest.readInt32LE(0)) {
      const message = rest.subarray(0, rest.readInt32LE(0))
      rest = rest.subarray(message.length)
      yield requestOf(message)
    }
  }
}

const requestOf = (message: Buffer): Request => {
  const [id, code] = [message.readInt32LE(4), message.readInt32LE(12)]
  if (code === opQuery) {
    const name = message.indexOf(0, 20)
    const command = BSON.deserialize(documentAt(message, name + 9), asSent)
    return { command, answer: (reply) => replyOf(id, reply), noAnswer: false }
  }
  if (code !== opMsg) throw new Error(`the proxy does not know the opcode ${code}`)
  const flags = message.readUInt32LE(headerBytes)
  const end = message.length - ((flags & checksumPresent) === 0 ? 0 : 4)
  return {
    command: sectionsOf(message.subarray(headerBytes + 4, end)),
    answer: (reply) => messageOf(id, reply),
    noAnswer: (flags & moreToCome) !== 0,
  }
}

const sectionsOf = (sections: Buffer): Document => {
  let command: Document = {}
  for (let at = 0; at < sections.length; ) {
    const kind = sections.readUInt8(at++)
    const size = sections.readInt32LE(at)
    if (kind === 0) command = { ...BSON.deserialize(documentAt(sections, at), asSent), ...command }
    else {
      const name = sections.indexOf(0, at + 4)
      const documents: Document[] = []
      for (let next = name + 1; next < at + size; next += sections.readInt32LE(next)) {
        documents.push(BSON.deserialize(documentAt(sections, next), asSent))
      }
      command = { ...command, [sections.toString('utf8', at + 4, name)]: documents }
    }
    at += size
  }
  return command
}

const documentAt = (bytes: Buffer, at: number): Buffer => bytes.subarray(at, at + bytes.readInt32LE(at))

const messageOf = (responseTo: number, reply: Document): Buffer =>
  framed(opMsg, responseTo, [Buffer.alloc(5), BSON.serialize(reply)])

/** OP_REPLY: flags, a cursor's id, a position, and the number of documents. */
const replyOf = (responseTo: number, reply: Document): Buffer => {
  const head = Buffer.alloc(20)
  head.writeInt32LE(1, 16)
  return framed(opReply, responseTo, [head, BSON.serialize(reply)])
}

const framed = (code: number, responseTo: number, parts: readonly Uint8Array[]): Buffer => {
  const header = Buffer.alloc(headerBytes)
  const message = Buffer.concat([header, ...parts])
  message.writeInt32LE(message.length, 0)
  message.writeInt32LE(responseTo, 8)
  message.writeInt32LE(code, 12)
  return message
}
