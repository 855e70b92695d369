import { beginningOfJson, isLong } from '#outgoing/shares/encode-in-steps.ts'

/**
 * Text of a request or an answer for the log: the whole text, or only its beginning when it is longer than the log
 * keeps.
 */
export type LoggedText = string | { readonly beginning: string }

/** Length in bytes from which a text certainly exceeds what the log keeps. */
const longBytes = 128 * 1024

/** Returns a document as JSON. Of a long document, only the beginning that the log keeps is encoded. */
export const loggedJson = (document: object): LoggedText =>
  isLong(document) ? { beginning: beginningOfJson(document) } : JSON.stringify(document)

/** Returns bytes as UTF-8 text; of long ones, only the beginning that the log keeps. */
export const loggedBytes = (bytes: Uint8Array): LoggedText => {
  const { buffer, byteOffset, length } = bytes
  if (length <= longBytes) return Buffer.from(buffer, byteOffset, length).toString('utf8')
  return { beginning: Buffer.from(buffer, byteOffset, longBytes).toString('utf8') }
}
