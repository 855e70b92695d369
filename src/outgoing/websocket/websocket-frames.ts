/** RFC 6455 framing of both sides. Pure: bytes to frames, and frames to bytes. */

/** Frame types of RFC 6455, section 5.2. */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** One received frame, unmasked. */
export interface Frame {
  readonly opcode: number
  readonly final: boolean
  readonly payload: Buffer
}

/** The peer violated the protocol; `closeCode` is the close code to answer with. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
  readonly closeCode: number
  constructor(closeCode: number, message: string) {
    super(message)
    this.closeCode = closeCode
  }
}

const headMaxBytes = 14

interface Head {
  readonly opcode: number
  readonly final: boolean
  readonly length: number
  readonly maskAt: number
}

interface ReaderLimits {
  readonly maxBytes: number
  readonly isMasked: boolean
}

/** @returns null when more bytes are needed. @throws {FrameError} */
const readHead = (bytes: Buffer, { maxBytes, isMasked }: ReaderLimits): Head | null => {
  if (bytes.length < 2) return null
  const first = bytes.readUInt8(0)
  const second = bytes.readUInt8(1)
  const opcode = first & 0x0f
  const final = (first & 0x80) !== 0
  const short = second & 0x7f
  if ((first & 0x70) !== 0) throw new FrameError(1002, 'reserved bits set')
  if (((second & 0x80) !== 0) !== isMasked)
    throw new FrameError(1002, isMasked ? 'frame not masked' : 'frame of a server is masked')
  checkOpcode(opcode, final, short)
  if (short < 126) return { opcode, final, length: checkLength(short, maxBytes), maskAt: 2 }
  if (bytes.length < (short === 126 ? 4 : 10)) return null
  const length = short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  return { opcode, final, length: checkLength(length, maxBytes), maskAt: short === 126 ? 4 : 10 }
}

const checkOpcode = (opcode: number, final: boolean, short: number): void => {
  if (opcode >= opcodes.close) {
    if (opcode > opcodes.pong) throw new FrameError(1002, 'unknown control frame')
    if (!final || short > 125) throw new FrameError(1002, 'control frame fragmented or too long')
  } else if (opcode > opcodes.binary) throw new FrameError(1002, 'unknown data frame')
}

const checkLength = (length: number, maxBytes: number): number => {
  if (length > maxBytes) throw new FrameError(1009, 'message too large')
  return length
}

/** Applies a mask, four bytes at a time where it can: a long message would otherwise hold the loop. */
const masked = (payload: Buffer, mask: Buffer): Buffer => {
  const { length } = payload
  const result = Buffer.allocUnsafeSlow(length)
  payload.copy(result)
  const words = new Uint32Array(result.buffer, 0, length >> 2)
  const word = new Uint32Array(Uint8Array.from(mask).buffer)[0] ?? 0
  for (let at = 0; at < words.length; at++) words[at] = (words[at] ?? 0) ^ word
  for (let at = words.length * 4; at < length; at++) result[at] = (result[at] ?? 0) ^ (mask[at & 3] ?? 0)
  return result
}

/** Splits a byte stream into frames. */
export class FrameReader {
  readonly #limits: ReaderLimits
  #parts: Buffer[] = []
  #bytes = 0
  /** Number of bytes needed before the next parse attempt can succeed. */
  #wanted = 2

  /** @param isMasked whether the frames are of a client; default true. */
  constructor(maxBytes: number, isMasked = true) {
    this.#limits = { maxBytes, isMasked }
  }

  /** Whether a frame has begun and has not ended. */
  get isWithinFrame(): boolean {
    return this.#bytes > 0
  }

  /** Adds received bytes. */
  push(part: Buffer): void {
    this.#parts.push(part)
    this.#bytes += part.length
  }

  /**
   * Returns the next whole frame; null when it has not arrived.
   *
   * @throws {FrameError} the stream cannot be read any further.
   */
  next(): Frame | null {
    if (this.#bytes < this.#wanted) return null
    const bytes = this.#joined()
    const head = readHead(bytes, this.#limits)
    if (head === null) return this.#wait(Math.min(bytes.length + 1, headMaxBytes))
    const { isMasked } = this.#limits
    const start = head.maskAt + (isMasked ? 4 : 0)
    const end = start + head.length
    if (bytes.length < end) return this.#wait(end)
    this.#keep(bytes.subarray(end))
    const sent = bytes.subarray(start, end)
    const payload = isMasked ? masked(sent, bytes.subarray(head.maskAt, start)) : sent
    return { opcode: head.opcode, final: head.final, payload }
  }

  #joined(): Buffer {
    const [first, second] = this.#parts
    if (first !== undefined && second === undefined) return first
    const whole = Buffer.concat(this.#parts, this.#bytes)
    this.#parts = [whole]
    return whole
  }

  #wait(bytes: number): null {
    this.#wanted = bytes
    return null
  }

  #keep(rest: Buffer): void {
    this.#parts = rest.length > 0 ? [rest] : []
    this.#bytes = rest.length
    this.#wanted = 2
  }
}

/** Encodes a whole message or control frame: of a server, or with a mask of a client, as RFC 6455 requires of each. */
export const encodeFrame = (opcode: number, payload: Buffer, mask?: Buffer): Buffer => {
  const length = payload.length
  const headBytes = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const isMasked = mask === undefined ? 0 : 0x80
  const frame = Buffer.allocUnsafe(headBytes + (mask?.length ?? 0) + length)
  frame.writeUInt8(0x80 | opcode, 0)
  frame.writeUInt8(isMasked | (headBytes === 2 ? length : headBytes === 4 ? 126 : 127), 1)
  if (headBytes === 4) frame.writeUInt16BE(length, 2)
  if (headBytes === 10) frame.writeBigUInt64BE(BigInt(length), 2)
  if (mask === undefined) payload.copy(frame, headBytes)
  else {
    mask.copy(frame, headBytes)
    masked(payload, mask).copy(frame, headBytes + mask.length)
  }
  return frame
}

/** Payload of a close frame: the code, then the reason, cut to what a control frame can hold. */
export const closePayload = (code: number, reason: string): Buffer => {
  const text = Buffer.from(reason).subarray(0, 123)
  const payload = Buffer.allocUnsafe(2 + text.length)
  payload.writeUInt16BE(code, 0)
  text.copy(payload, 2)
  return payload
}

/** The code to answer a peer's close frame with: its own, or 1002 when that code may not be sent. */
export const closeReply = (payload: Buffer): number => {
  if (payload.length === 0) return 1000
  if (payload.length === 1) return 1002
  const code = payload.readUInt16BE(0)
  const defined = code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006
  return defined || (code >= 3000 && code <= 4999) ? code : 1002
}
