import type { ByteSink, ByteStream } from '#actors/call/call.ts'
import type { BytesResult } from '#actors/call/use-cases.ts'
import type { StreamControl } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Maximum number of bytes of a stream that are kept for an Idempotency-Key. */
const maxBytes = 8 * 1024 * 1024

/** A streamed answer, and the copy that is kept once it has ended. */
export interface Recorded {
  readonly result: BytesResult
  /** Resolves when the source has ended, cleanly or not. @throws {ServiceError} `idempotency_answer_not_kept` */
  readonly recorded: Promise<BytesResult>
}

/**
 * Records a streamed answer while it is sent. The source continues to its end when the reader disconnects, so that a
 * repeated request gets the whole answer. Null for an answer that is no stream.
 */
export const recordedStream = (answer: BytesResult): Recorded | null => {
  const { bytes, ...head } = answer
  if (typeof bytes === 'string' || bytes instanceof Uint8Array || 'base64' in bytes) return null
  const recorder = new Recorder()
  recorder.record('start' in bytes ? bytes : streamOf(bytes))
  const recorded = recorder.recorded.then((kept) => ({ ...head, bytes: kept }))
  return { result: { ...head, bytes: recorder }, recorded }
}

class Recorder implements ByteStream, ByteSink {
  readonly #recorded = Promise.withResolvers<{ readonly base64: string; readonly broken: boolean }>()
  #parts: Buffer[] = []
  #bytes = 0
  #isTooLong = false
  #isBroken: boolean | null = null
  #source: StreamControl | null = null
  #reader: ByteSink | null = null
  /** Whether a reader has got the parts so far: until then all of them are held for it. */
  #isRead = false

  get recorded() {
    return this.#recorded.promise
  }

  record(source: ByteStream): void {
    this.#source = source.start(this)
  }

  start(reader: ByteSink): StreamControl {
    this.#reader = reader
    if (this.#parts.length > 0) reader.push(Buffer.concat(this.#parts))
    this.#isRead = true
    this.#bound()
    if (this.#isBroken === false) reader.end()
    if (this.#isBroken === true) reader.abort()
    return { resume: () => this.#source?.resume(), stop: () => this.#readerGone() }
  }

  push(part: string | Uint8Array): boolean {
    this.#note(part)
    return this.#reader?.push(part) ?? true
  }

  end(last?: string | Uint8Array): void {
    if (last !== undefined) this.#note(last)
    this.#ended(false)
    this.#reader?.end(last)
  }

  abort(): void {
    this.#ended(true)
    this.#reader?.abort()
  }

  /** Resumes a source that the reader had paused. */
  #readerGone(): void {
    this.#reader = null
    this.#source?.resume()
  }

  #note(part: string | Uint8Array): void {
    if (this.#isTooLong) return
    const bytes = Buffer.from(part)
    this.#bytes += bytes.length
    this.#parts.push(bytes)
    this.#bound()
  }

  #bound(): void {
    if (this.#bytes <= maxBytes || !this.#isRead) return
    this.#isTooLong = true
    this.#parts = []
  }

  #ended(isBroken: boolean): void {
    this.#isBroken = isBroken
    if (this.#bytes > maxBytes) this.#recorded.reject(new ServiceError('idempotency_answer_not_kept'))
    else this.#recorded.resolve({ base64: Buffer.concat(this.#parts).toString('base64'), broken: isBroken })
  }
}

/** Pushes parts as the source yields them, no faster than the sink accepts them. */
const streamOf = (parts: AsyncIterable<string | Uint8Array>): ByteStream => ({
  start: (sink) => {
    let resume: (() => void) | null = null
    const pour = async (): Promise<void> => {
      for await (const part of parts) {
        if (sink.push(part)) continue
        await new Promise<void>((resolve) => {
          resume = resolve
        })
      }
      sink.end()
    }
    pour().catch(() => sink.abort())
    return { resume: () => resume?.(), stop: () => {} }
  },
})
