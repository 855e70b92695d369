import { BSON, type Document } from 'mongodb'

/** A message of a MongoDB client. */
export interface OpMessage {
  readonly whole: Buffer
  readonly requestId: number
  /** Its command with the document sequences; null for a message of another kind. */
  readonly command: Document | null
}

const headerBytes = 16
const opMsg = 2013
const checksumPresent = 1
const checksumBytes = 4

/** Splits the bytes of a connection into messages. */
export class OpMessages {
  #rest = Buffer.alloc(0)

  /** Returns the messages that are complete with these bytes. */
  take(bytes: Buffer): readonly OpMessage[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const messages: OpMessage[] = []
    while (this.#rest.length >= headerBytes && this.#rest.length >= this.#rest.readInt32LE(0)) {
      const length = this.#rest.readInt32LE(0)
      const whole = this.#rest.subarray(0, length)
      this.#rest = this.#rest.subarray(length)
      const command = whole.readInt32LE(12) === opMsg ? commandIn(whole) : null
      messages.push({ whole, requestId: whole.readInt32LE(4), command })
    }
    return messages
  }
}

/** Returns a message that answers a request. */
export const replyTo = (requestId: number, answer: Document): Buffer => {
  const body = BSON.serialize(answer)
  const head = Buffer.alloc(headerBytes + 5)
  head.writeInt32LE(head.length + body.length, 0)
  head.writeInt32LE(requestId, 8)
  head.writeInt32LE(opMsg, 12)
  return Buffer.concat([head, body])
}

const commandIn = (message: Buffer): Document => {
  const hasChecksum = (message.readUInt32LE(headerBytes) & checksumPresent) !== 0
  const end = message.length - (hasChecksum ? checksumBytes : 0)
  let command: Document = {}
  for (let at = headerBytes + 4; at < end; ) {
    const kind = message[at]
    const length = message.readInt32LE(at + 1)
    const section = message.subarray(at + 1, at + 1 + length)
    at += 1 + length
    if (kind === 0) command = { ...BSON.deserialize(section, { promoteBuffers: false }), ...command }
    else command = { ...command, ...sequenceIn(section) }
  }
  return command
}

const sequenceIn = (section: Buffer): Document => {
  const nameEnd = section.indexOf(0, 4)
  const documents: Document[] = []
  for (let at = nameEnd + 1; at < section.length; at += section.readInt32LE(at))
    documents.push(BSON.deserialize(section.subarray(at, at + section.readInt32LE(at))))
  return { [section.subarray(4, nameEnd).toString()]: documents }
}
