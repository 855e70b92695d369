import { beginningOfJson, isLong } from '#outgoing/shares/encode-in-steps.ts'

/** A request or an answer for the log: all of it, or the beginning of what is longer than the log keeps. */
export type LoggedText = string | { readonly beginning: string }

/** Bytes that have more than the log keeps of any text. */
const longBytes = 128 * 1024

/** A document as JSON. Of a long one no more is written than the log keeps. */
export const loggedJson = (document: object): LoggedText =>
  isLong(document) ? { beginning: beginningOfJson(document) } : JSON.stringify(document)

/** Bytes as text. */
export const loggedBytes = (bytes: Uint8Array): LoggedText => {
  const { buffer, byteOffset, length } = bytes
  if (length <= longBytes) return Buffer.from(buffer, byteOffset, length).toString('utf8')
  return { beginning: Buffer.from(buffer, byteOffset, longBytes).toString('utf8') }
}
