import { createHash } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

const base32 = (value: number, length: number): string => {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = alphabet.charAt(rest % 32) + text
  return text
}

/**
 * The id of a log event: the time of its commit, its sequence, and a mark of its actor. It is derived, so it costs no
 * storage and is the same whenever it is read; ids of one actor sort by sequence within a millisecond.
 */
export const eventId = (actor: string, sequence: number, at: number): string => {
  const mark = createHash('sha256').update(actor).digest().readUIntBE(0, 6)
  return `evt_${base32(at, 10)}${base32(sequence, 7)}${base32(mark, 9)}`
}
