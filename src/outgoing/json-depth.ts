const quote = 0x22
const backslash = 0x5c
const newline = 0x0a
const carriageReturn = 0x0d

const [other, string, opener, closer] = [0, 1, 2, 3] as const

/** Kind of each byte outside of strings. */
const kinds = new Uint8Array(256)
kinds[quote] = string
for (const byte of [0x5b, 0x7b]) kinds[byte] = opener
for (const byte of [0x5d, 0x7d]) kinds[byte] = closer

/** Limits of JSON besides its nesting. */
interface JsonShape {
  /** Maximum number of names, strings, objects and arrays of one document: a parser's time grows with it. */
  readonly maxValues?: number
  /** Whether the bytes are an event stream, in which an empty line ends a document. */
  readonly isStream?: boolean
}

/**
 * Tracks the nesting and the size of JSON as its bytes arrive, before it is parsed: a recursive parser or validator
 * would overflow its stack on an input that is small enough to be sent. A raw line break, which JSON strings never
 * contain, ends a string, so that the lines of an event stream are counted too.
 */
export class JsonDepth {
  readonly #max: number
  readonly #maxValues: number
  readonly #isStream: boolean
  #depth = 0
  #values = 0
  #inString = false
  #escaped = false
  /** Whether only carriage returns have arrived since the last line break. */
  #isLineEmpty = false

  constructor(max: number, { maxValues = Number.POSITIVE_INFINITY, isStream = false }: JsonShape = {}) {
    this.#max = max
    this.#maxValues = maxValues
    this.#isStream = isStream
  }

  /** @returns false when the nesting or the number of values exceeds the limit. */
  push(bytes: Uint8Array): boolean {
    const isStream = this.#isStream
    const { length } = bytes
    let inString = this.#inString
    // an indexed loop: it runs for every byte of every response, and takes a quarter of the time of an iterator
    for (let at = 0; at < length; at++) {
      const byte = bytes[at] ?? 0
      if (inString) inString = this.#inside(byte)
      else if (kinds[byte] !== other) {
        if (!this.#outside(kinds[byte])) return false
        inString = kinds[byte] === string
      }
      if (isStream) this.#endOfLine(byte)
    }
    this.#inString = inString
    return true
  }

  #outside(kind: number | undefined): boolean {
    if (kind === string) return ++this.#values <= this.#maxValues
    if (kind === opener) return ++this.#depth <= this.#max && ++this.#values <= this.#maxValues
    if (kind === closer) this.#depth = Math.max(0, this.#depth - 1)
    return true
  }

  /** Whether the string continues after this byte. */
  #inside(byte: number): boolean {
    if (this.#escaped) {
      this.#escaped = false
      return true
    }
    this.#escaped = byte === backslash
    return byte !== quote && byte !== newline
  }

  #endOfLine(byte: number): void {
    if (byte === newline && this.#isLineEmpty) this.#values = 0
    if (byte !== carriageReturn) this.#isLineEmpty = byte === newline
  }
}

/**
 * Maximum nesting of JSON, as in requests (specs/decisions/0010-interface-as-code.md). `JSON.stringify` overflows its
 * stack thousands of levels deep.
 */
const maxLevels = 64

/** Whether JSON from a model or a tool nests deeper than `maxLevels`; it is then treated as plain text. */
export const nestsTooDeep = (text: string): boolean =>
  text.length > maxLevels && !new JsonDepth(maxLevels).push(Buffer.from(text))
