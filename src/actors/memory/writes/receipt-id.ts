import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import { isId } from '#runtime/index.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const bitsOfDigit = 5n

/** Returns the id of a write's actor as its receipt shows it: the same 128 bits as a UUID. */
export const requestIdOf = (writeId: string): string => {
  let bits = 0n
  for (const digit of writeId.slice(-26)) bits = (bits << bitsOfDigit) | BigInt(alphabet.indexOf(digit))
  const hex = bits.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Returns the id of the actor of a receipt, which webhooks name directly; null for an id that is not a receipt's. */
export const writeIdOf = (requestId: string): string | null => {
  if (isId(requestId, memoryWriteDefinition.idPrefix)) return requestId
  if (!uuidShape.test(requestId)) return null
  let bits = BigInt(`0x${requestId.replaceAll('-', '')}`)
  let digits = ''
  for (let at = 0; at < 26; at++) {
    digits = (alphabet[Number(bits & 31n)] ?? '') + digits
    bits >>= bitsOfDigit
  }
  return `${memoryWriteDefinition.idPrefix}_${digits}`
}
