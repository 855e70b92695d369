import type { Socket } from 'node:net'
import { undici } from './undici.ts'

/** Bytes that may come before a body and beside it: heads have 16 KB, and some servers send informational ones first. */
const freeBytes = 256 * 1024
/** Bytes for each of a body: one that comes byte by byte has six. */
const bytesPerBodyByte = 16

/** A server sent bytes that were no answer, as long as the time lasted. */
export class NoAnswerInBytes extends Error {
  override readonly name = 'NoAnswerInBytes'
  readonly code = 'ANSWER_WITHOUT_CONTENT'
  constructor() {
    super('the server sends bytes that are no part of an answer')
  }
}

/**
 * Cuts a connection that brings bytes and no answer: informational answers, empty lines, a status line or extensions of chunks
 * without an end. Limits of bodies and heads do not count them, and a core reads them at 70 MB a second until the time is over.
 *
 * It looks at what the parser has handed on, as each share is read: nothing else hears of such bytes.
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
