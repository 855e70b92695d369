const quote = 0x22
const backslash = 0x5c
const newline = 0x0a
const carriageReturn = 0x0d
const openers = new Set([0x5b, 0x7b])
const closers = new Set([0x5d, 0x7d])

/**
 * Tracks the nesting of JSON as its bytes arrive, before it is parsed: a recursive parser or validator would overflow
 * its stack on an input that is small enough to be sent. A raw line break, which JSON strings never contain, ends a
 * string, so that the lines of an event stream are counted too.
 */
export class JsonDepth {
  readonly #most: number
  readonly #mostValues: number
  readonly #isStream: boolean
  #depth = 0
  #values = 0
  #inString = false
  #escaped = false
  #isLineEmpty = false

  /**
   * @param mostValues maximum number of names, strings, objects and arrays of one document: the time that a parser takes
   * grows with it.
   * @param isStream whether the bytes are an event stream, in which an empty line ends a document.
   */
  constructor(most: number, { mostValues = Number.POSITIVE_INFINITY, isStream = false } = {}) {
    this.#most = most
    this.#mostValues = mostValues
    this.#isStream = isStream
  }

  /** @returns false when the nesting or the number of values exceeds the limit. */
  push(bytes: Uint8Array): boolean {
    for (const byte of bytes) {
      if (this.#inString) this.#inside(byte)
      else if (byte === quote) {
        this.#inString = true
        this.#values += 1
      } else if (openers.has(byte)) {
        this.#depth += 1
        this.#values += 1
      } else if (closers.has(byte)) this.#depth = Math.max(0, this.#depth - 1)
      this.#endOfLine(byte)
      if (this.#depth > this.#most || this.#values > this.#mostValues) return false
    }
    return true
  }

  #endOfLine(byte: number): void {
    if (this.#isStream && byte === newline && this.#isLineEmpty) this.#values = 0
    if (byte !== carriageReturn) this.#isLineEmpty = byte === newline
  }

  #inside(byte: number): void {
    if (this.#escaped) this.#escaped = false
    else if (byte === backslash) this.#escaped = true
    else if (byte === quote || byte === newline) this.#inString = false
  }
}

/**
 * Maximum nesting of JSON, as in requests (specs/decisions/0010-interface-as-code.md). `JSON.stringify` overflows its
 * stack thousands of levels deep.
 */
const mostLevels = 64

/** Whether JSON from a model or a tool nests deeper than `mostLevels`; it is then treated as plain text. */
export const nestsTooDeep = (text: string): boolean =>
  text.length > mostLevels && !new JsonDepth(mostLevels).push(Buffer.from(text))
