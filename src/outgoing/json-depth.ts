const quote = 0x22
const backslash = 0x5c
const newline = 0x0a
const openers = new Set([0x5b, 0x7b])
const closers = new Set([0x5d, 0x7d])

/**
 * Tracks the nesting of JSON as its bytes arrive, before it is parsed: a recursive parser or validator would overflow
 * its stack on an input that is small enough to be sent. A raw line break, which JSON strings never contain, ends a
 * string, so that the lines of an event stream are counted too.
 */
export class JsonDepth {
  readonly #most: number
  #depth = 0
  #inString = false
  #escaped = false

  constructor(most: number) {
    this.#most = most
  }

  /** @returns false when the nesting exceeds the limit. */
  push(bytes: Uint8Array): boolean {
    for (const byte of bytes) {
      if (this.#inString) this.#inside(byte)
      else if (byte === quote) this.#inString = true
      else if (openers.has(byte)) this.#depth += 1
      else if (closers.has(byte)) this.#depth = Math.max(0, this.#depth - 1)
      if (this.#depth > this.#most) return false
    }
    return true
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
