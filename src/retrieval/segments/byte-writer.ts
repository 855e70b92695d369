import { grown, uint8s } from '../growing.ts'

/** Writes numbers in bytes of seven bits. */
export class ByteWriter {
  #bytes = uint8s(0)
  length = 0

  /** Writes the distance of a number to the one before, and how often it occurs. Returns the number. */
  pair(before: number, number: number, times: number): number {
    this.number((number - before) * 2 + Number(times > 1))
    if (times > 1) this.number(times)
    return number
  }

  number(value: number): void {
    this.#bytes = grown(this.#bytes, this.length + 5, uint8s)
    let left = value
    while (left > 127) {
      this.#bytes[this.length++] = (left & 127) | 128
      left >>>= 7
    }
    this.#bytes[this.length++] = left
  }

  written(): Uint8Array {
    return this.#bytes.slice(0, this.length)
  }
}
