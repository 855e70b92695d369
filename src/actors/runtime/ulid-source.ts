const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const codes = Uint8Array.from(alphabet, (char) => char.charCodeAt(0))
const timeLength = 10
const randomLength = 16
/** Number of digits before the last two, which are all that differs between ids of a millisecond. */
const headLength = randomLength - 2
const pairs = Array.from({ length: 1024 }, (_, pair) => alphabet.charAt(pair >> 5) + alphabet.charAt(pair & 31))

/** Inputs of id generation: the time in ms since the epoch, and random numbers in [0, 1). */
export interface IdSource {
  readonly now: () => number
  readonly random: () => number
}

/**
 * The lowest ten bits of the FNV-1a hash. They depend only on those of the preceding hash, and `Shards` uses no more
 * (runtime/recovery/shard.ts).
 */
const lowBits = 0x3ff
const lowPrime = 0x193
/** `lowPrime` times this is 1, modulo 1,024. */
const lowInverse = 0x9b
const lowOfNothing = 0x1c5

const lowHash = (text: string): number => {
  let low = lowOfNothing
  for (let index = 0; index < text.length; index++) low = hashed(low, text.charCodeAt(index))
  return low
}

const hashed = (low: number, code: number): number => Math.imul(low ^ code, lowPrime) & lowBits

/** The digit of each character code; -1 for others. */
const digitOf = Int8Array.from({ length: lowBits + 1 }, (_, code) => codes.indexOf(code))

/** Generates strictly increasing lower-case ULIDs, also within a millisecond and when the clock is set back. */
export class UlidSource {
  readonly #source: IdSource
  #time = 0
  #timeText = ''
  /** The ULID up to its last two digits; '' after one of the others has changed. */
  #head = ''
  readonly #digits = new Uint8Array(randomLength)

  constructor(source: IdSource) {
    this.#source = source
  }

  /** Returns the next ULID. */
  next(): string {
    const now = this.#source.now()
    if (now > this.#time) this.#begin(now)
    else this.#increment(randomLength - 1)
    return this.#text()
  }

  /**
   * Returns the next ULID that, appended to `prefix`, is an id of this shard of 1,024: as many numbers further on, at a
   * fraction of the cost of trying each.
   */
  nextIn(prefix: string, shard: number): string {
    this.next()
    for (;;) {
      const before = lowHash(prefix + this.#text().slice(0, -2))
      if (this.#seek(before, shard)) return this.#text()
      this.#increment(randomLength - 3)
    }
  }

  /**
   * Advances the last two digits to the next pair that gives the shard; returns false, with both digits 0, when no pair
   * is left.
   */
  #seek(before: number, shard: number): boolean {
    const digits = this.#digits
    // the last character that gives the shard follows from the hash before it
    const wanted = Math.imul(shard, lowInverse) & lowBits
    for (let first = digits[14] ?? 0, from = digits[15] ?? 0; first < 32; first++, from = 0) {
      const last = digitOf[(hashed(before, codes[first] ?? 0) ^ wanted) & lowBits] ?? -1
      if (last < from) continue
      digits[14] = first
      digits[15] = last
      return true
    }
    digits[14] = 0
    digits[15] = 0
    return false
  }

  #begin(now: number): void {
    this.#time = now
    this.#timeText = timeText(now)
    this.#head = ''
    // the first random number becomes the last digit
    for (let digit = randomLength - 1; digit >= 0; digit--) {
      this.#digits[digit] = Math.floor(this.#source.random() * 32) % 32
    }
  }

  #increment(from: number): void {
    for (let digit = from; digit >= 0; digit--) {
      const next = (this.#digits[digit] ?? 0) + 1
      this.#digits[digit] = next & 31
      if (digit < headLength) this.#head = ''
      if (next < 32) return
    }
    this.#time++
    this.#timeText = timeText(this.#time)
  }

  #text(): string {
    const digits = this.#digits
    if (this.#head === '') {
      this.#head = this.#timeText
      for (let digit = 0; digit < headLength; digit++) this.#head += alphabet[digits[digit] ?? 0]
    }
    return this.#head + (pairs[(digits[14] ?? 0) * 32 + (digits[15] ?? 0)] ?? '')
  }
}

const timeText = (time: number): string => {
  let text = ''
  for (let left = time, place = 0; place < timeLength; place++) {
    text = alphabet[left % 32] + text
    left = Math.floor(left / 32)
  }
  return text
}
