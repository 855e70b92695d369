import type { Idempotency } from '#actors/call/call.ts'
import { newIdFor } from '#runtime/internal.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * Returns a UUID (version 7) with the time and randomness that `newIdFor` would give an id: it sorts by creation, and a
 * repeated call with the same Idempotency-Key gets the same one.
 */
export const newUuidFor = (call: { readonly idempotency: Idempotency | null }): string => {
  const ulid = newIdFor(call, 'uuid').slice(-26)
  let bits = 0n
  for (const letter of ulid) bits = bits * 32n + BigInt(alphabet.indexOf(letter))
  const hex = (bits & ((1n << 128n) - 1n)).toString(16).padStart(32, '0')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `7${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-')
}
