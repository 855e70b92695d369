import { createHash } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

const base32 = (value: number, length: number): string => {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = alphabet.charAt(rest % 32) + text
  return text
}

/**
 * Returns the id of a log event: its commit time, its sequence, and a hash of its actor. The id is derived, so it takes
 * no storage and is the same at each read. Ids of one actor sort by sequence within a millisecond.
 */
export const eventId = (actor: string, sequence: number, at: number): string => {
  const mark = createHash('sha256').update(actor).digest().readUIntBE(0, 6)
  return `evt_${base32(at, 10)}${base32(sequence, 7)}${base32(mark, 9)}`
}
