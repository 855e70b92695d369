import { crc32 } from 'node:zlib'
import { streamBroken } from '#gateway/call/failure.ts'
import { parseJson } from '#outgoing/wire.ts'

/** A message of an AWS event stream. */
export interface StreamMessage {
  /** Headers that are texts, by name. */
  readonly headers: Readonly<Record<string, string>>
  readonly json: unknown
}

const preludeBytes = 12
const crcBytes = 4
/** Maximum size of a message, which is parsed at once; an event of a chat has a few hundred bytes. */
const maxMessageBytes = 4 * 1024 * 1024
/** Maximum size of the headers of a message, of which there are three. */
const maxHeaderBytes = 16 * 1024
const textType = 7
/** Bytes of a header's value by its type; a length of two bytes precedes the others. */
const fixedSizes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }

/**
 * Splits the bytes of an AWS event stream (`application/vnd.amazon.eventstream`) into messages. A message is a prelude
 * with its lengths, headers, a payload, and checksums of the prelude and of everything.
 */
export class EventStreamDecoder {
  #parts: Buffer[] = []
  #size = 0
  #needed = preludeBytes

  /** Whether bytes of an incomplete message are left. */
  get isInside(): boolean {
    return this.#size > 0
  }

  /** @throws {AttemptFailed} for a wrong checksum or length. */
  push(bytes: Uint8Array): readonly StreamMessage[] {
    this.#parts.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    this.#size += bytes.byteLength
    if (this.#size < this.#needed) return []
    let rest = this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts)
    const messages: StreamMessage[] = []
    this.#needed = preludeBytes
    while (rest.length >= preludeBytes) {
      const total = totalOf(rest)
      if (rest.length < total) {
        this.#needed = total
        break
      }
      messages.push(messageOf(rest.subarray(0, total)))
      rest = rest.subarray(total)
    }
    this.#parts = rest.length === 0 ? [] : [rest]
    this.#size = rest.length
    return messages
  }
}

/** Returns the length of the message that begins here, after its prelude was checked. */
const totalOf = (bytes: Buffer): number => {
  const total = bytes.readUInt32BE(0)
  const headers = bytes.readUInt32BE(4)
  const isWhole = crc32(bytes.subarray(0, 8)) === bytes.readUInt32BE(8)
  const isSmall = total <= maxMessageBytes && headers <= maxHeaderBytes
  if (!isWhole || !isSmall || headers + preludeBytes + crcBytes > total) throw streamBroken()
  return total
}

const messageOf = (bytes: Buffer): StreamMessage => {
  const end = bytes.length - crcBytes
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw streamBroken()
  const payloadAt = preludeBytes + bytes.readUInt32BE(4)
  const headers = headersOf(bytes.subarray(preludeBytes, payloadAt))
  return { headers, json: parseJson(bytes.toString('utf8', payloadAt, end)) }
}

const headersOf = (bytes: Buffer): Readonly<Record<string, string>> => {
  const found: [string, string][] = []
  let at = 0
  try {
    while (at < bytes.length) {
      const nameEnd = at + 1 + bytes.readUInt8(at)
      const name = bytes.toString('utf8', at + 1, nameEnd)
      const type = bytes.readUInt8(nameEnd)
      const fixed = fixedSizes[type]
      const from = nameEnd + 1 + (fixed === undefined ? 2 : 0)
      const end = from + (fixed ?? bytes.readUInt16BE(nameEnd + 1))
      if (end > bytes.length) throw streamBroken()
      if (type === textType) found.push([name, bytes.toString('utf8', from, end)])
      at = end
    }
  } catch {
    throw streamBroken()
  }
  return Object.fromEntries(found)
}
