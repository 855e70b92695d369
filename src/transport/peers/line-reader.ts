const newline = 10

/** A line exceeds the maximum length. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

/** Splits a byte stream into lines, across chunk boundaries. */
export class LineReader {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #bytes = 0

  /** @param maxBytes maximum length of a line, without its end. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Calls `take` with each line that ends in these bytes. @throws {LineTooLong} */
  push(bytes: Buffer, take: (line: string) => void): void {
    let from = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      this.#check(end - from)
      take(this.#line(bytes, from, end))
      from = end + 1
    }
    if (from === bytes.length) return
    this.#check(bytes.length - from)
    this.#parts.push(from === 0 ? bytes : bytes.subarray(from))
    this.#bytes += bytes.length - from
  }

  #check(more: number): void {
    if (this.#bytes + more > this.#maxBytes) throw new LineTooLong(`a line of more than ${this.#maxBytes} bytes`)
  }

  #line(bytes: Buffer, from: number, end: number): string {
    if (this.#bytes === 0) return bytes.toString('utf8', from, end)
    this.#parts.push(bytes.subarray(from, end))
    const whole = Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    this.#bytes = 0
    return whole
  }
}
