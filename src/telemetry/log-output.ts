import { writeSync } from 'node:fs'

/** Lines that wait for a reader that takes none, in bytes; further ones are lost, and counted. */
const usualMost = 1024 * 1024

/** How soon a full pipe is tried again, in ms. */
const retryMs = 50

/** Pipes that are full, or shared with one that is. */
export const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')

/**
 * Where a process writes its log. A line is written at once, so that a crash loses none; what a full pipe does not take waits,
 * as far as there is room. pino's own destination waits for the pipe with the whole process, keeps all that waits, and never
 * lets a process end before it is read.
 */
export class LogOutput {
  readonly #fd: number
  readonly #most: number
  #waiting: Buffer[] = []
  #bytes = 0
  #lost = 0
  #timer: NodeJS.Timeout | null = null

  constructor(fd = process.stdout.fd, most = usualMost) {
    this.#fd = fd
    this.#most = most
  }

  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#most) {
      this.#lost++
      return
    }
    this.#waiting.push(bytes)
    this.#bytes += bytes.length
    if (this.#timer === null) this.#flush()
  }

  #flush(): void {
    this.#timer = null
    while (this.#writeNext());
    if (this.#bytes > 0) this.#timer = setTimeout(() => this.#flush(), retryMs).unref()
    else if (this.#lost > 0) this.#reportLoss()
  }

  /** @returns whether there is more to write now. */
  #writeNext(): boolean {
    const [first] = this.#waiting
    if (first === undefined) return false
    const written = this.#put(first)
    this.#bytes -= written
    if (written === first.length) this.#waiting.shift()
    else this.#waiting[0] = first.subarray(written)
    return written > 0
  }

  /** @returns bytes that were taken; all of them where no reader is left to take any. */
  #put(bytes: Buffer): number {
    try {
      return writeSync(this.#fd, bytes)
    } catch (error) {
      return isFull(error) ? 0 : bytes.length
    }
  }

  #reportLoss(): void {
    const lost = this.#lost
    this.#lost = 0
    const line = { level: 40, time: Date.now(), lost, msg: 'log lines dropped: the reader is too slow' }
    this.write(`${JSON.stringify(line)}\n`)
  }
}
