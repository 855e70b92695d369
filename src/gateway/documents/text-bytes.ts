import { isObject } from '#outgoing/wire.ts'

/** What a number, a list or an object counts for beside its texts. */
const valueBytes = 12

/**
 * Bytes of all texts and names in a document, and a dozen for each other value: no model counts more tokens. Nothing is
 * written for it, so that a long document takes no more than its texts take to be counted.
 */
export const textBytes = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  let bytes = valueBytes
  if (Array.isArray(value)) for (const item of value) bytes += textBytes(item)
  else if (isObject(value))
    for (const name of Object.keys(value)) bytes += Buffer.byteLength(name) + textBytes(value[name])
  return bytes
}
