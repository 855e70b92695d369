import { createHmac, timingSafeEqual } from 'node:crypto'

/** Length of a time step of RFC 6238, in ms. */
export const stepMs = 30_000

const digits = 6

/** Returns the code of a time step: HOTP of RFC 4226 with SHA-1 and six digits. */
export const codeAt = (key: Uint8Array, step: number): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', key).update(counter).digest()
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/**
 * Returns the step of a code that is valid now: of the current step, or of the one before or after it, as clocks differ.
 * Null for every other code.
 */
export const stepOf = (key: Uint8Array, code: string, now: number): number | null => {
  const given = Buffer.from(code)
  const current = Math.floor(now / stepMs)
  const right = [current, current - 1, current + 1].filter((step) => {
    const expected = Buffer.from(codeAt(key, step))
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
  return right[0] ?? null
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Base32 of RFC 4648 without padding, as authenticators read keys. The length must be a multiple of five bytes. */
export const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((group) => alphabet[Number.parseInt(group, 2)]).join('')
}

/** The URI from which authenticators read a key. */
export const otpauthUri = (key: Uint8Array, account: string): string =>
  `otpauth://totp/Troupe:${encodeURIComponent(account)}?secret=${base32(key)}&issuer=Troupe`
