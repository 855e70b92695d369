import { isObject } from '#outgoing/wire.ts'

/** Bytes counted for each number, list or object, in addition to its texts. */
const valueBytes = 12

/**
 * Returns the bytes of all texts and names in a document, plus 12 for each other value: an upper bound of its tokens.
 * The document is not serialised for this, so a long one costs no more than counting its texts.
 */
export const textBytes = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  let bytes = valueBytes
  if (Array.isArray(value)) for (const item of value) bytes += textBytes(item)
  else if (isObject(value))
    for (const name of Object.keys(value)) bytes += Buffer.byteLength(name) + textBytes(value[name])
  return bytes
}
