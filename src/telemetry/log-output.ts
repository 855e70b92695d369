import { writeSync } from 'node:fs'

/** Maximum number of bytes buffered for a slow reader; further lines are dropped and counted. */
const defaultMaxBytes = 1024 * 1024

/** Retry interval of a full pipe, in ms. */
const retryMs = 50

/** Whether a write failed because the pipe is full, or shared with a process that fills it. */
export const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')

/**
 * Log output of a process. A line is written synchronously, so that a crash loses none; a line that a full pipe does
 * not accept is buffered, up to a limit. pino's own destination blocks the whole process for the pipe, buffers without
 * limit, and keeps the process from ending until everything is read.
 */
export class LogOutput {
  readonly #fd: number
  readonly #max: number
  #waiting: Buffer[] = []
  #bytes = 0
  #lost = 0
  #timer: NodeJS.Timeout | null = null

  constructor(fd: number = process.stdout.fd, max = defaultMaxBytes) {
    this.#fd = fd
    this.#max = max
  }

  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#max) {
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

  /** @returns whether more can be written now. */
  #writeNext(): boolean {
    const [first] = this.#waiting
    if (first === undefined) return false
    const written = this.#put(first)
    this.#bytes -= written
    if (written === first.length) this.#waiting.shift()
    else this.#waiting[0] = first.subarray(written)
    return written > 0
  }

  /** @returns the number of bytes written; all of them when the pipe has no reader any more. */
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
