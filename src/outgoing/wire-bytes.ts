import type { Socket } from 'node:net'
import { undici } from './undici.ts'

/** Bytes allowed in addition to a body: heads have up to 16 KB, and some servers send informational answers first. */
const freeBytes = 256 * 1024
/** Bytes allowed per byte of a body: a body sent in chunks of one byte takes six. */
const bytesPerBodyByte = 16

/** A server has sent bytes that are not part of an answer for too long. */
class NoAnswerInBytes extends Error {
  override readonly name = 'NoAnswerInBytes'
  readonly code = 'ANSWER_WITHOUT_CONTENT'
  constructor() {
    super('the server sends bytes that are no part of an answer')
  }
}

/**
 * Cuts a connection that receives bytes without an answer: endless informational answers, empty lines, a status line or
 * chunk extensions. Limits of bodies and heads do not count such bytes, and reading them at 70 MB/s would occupy a core
 * until the timeout.
 *
 * After each read it compares the received bytes with those that the parser has reported, since nothing else observes
 * such bytes.
 */
export const boundSilence = (socket: Socket): void => {
  const read = socket.read.bind(socket)
  let written = -1
  let came = 0
  socket.read = (size?: number) => {
    const part = read(size)
    if (part === null) return part
    // another request was sent
    if (socket.bytesWritten !== written) came = 0
    written = socket.bytesWritten
    came += part.length
    if (came <= freeBytes + bytesPerBodyByte * undici().bodyBytesOf(socket) + part.length) return part
    socket.destroy(new NoAnswerInBytes())
    return null
  }
}
