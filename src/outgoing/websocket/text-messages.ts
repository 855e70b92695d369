import { MessageBuffer } from './message-buffer.ts'
import { type Frame, FrameError, opcodes } from './websocket-frames.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Assembles the messages of one direction of a connection, which are texts, from their fragments. */
export class TextMessages {
  readonly #maxBytes: number
  readonly #received = new MessageBuffer()
  /** Opcode of the message being assembled; null between messages. */
  #kind: number | null = null

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether a message has begun and has not ended. */
  get isWithinMessage(): boolean {
    return this.#kind !== null
  }

  /** Adds a data frame. @returns the message that it completes; null before. @throws {FrameError} */
  add(frame: Frame): string | null {
    const continues = frame.opcode === opcodes.continuation
    if (continues !== this.isWithinMessage) throw new FrameError(1002, 'fragments out of order')
    this.#kind ??= frame.opcode
    if (this.#received.length + frame.payload.length > this.#maxBytes) throw new FrameError(1009, 'message too large')
    this.#received.append(frame.payload)
    if (!frame.final) return null
    const kind = this.#kind
    this.#kind = null
    return decode(this.#received.take(), kind)
  }
}

/** Some peers send text in binary frames, so that any valid UTF-8 is accepted as text. */
const decode = (bytes: Buffer, kind: number): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw kind === opcodes.binary ? new FrameError(1003, 'text only') : new FrameError(1007, 'text is not UTF-8')
  }
}
