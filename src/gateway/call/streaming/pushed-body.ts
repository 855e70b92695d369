import type { ByteSink, ByteStream } from '#actors/call/call.ts'
import type { StreamControl } from '#runtime/index.ts'
import { Ticker, type Ticking, tickMsFor } from '#runtime/internal.ts'
import { atEndOfTask } from './end-of-task.ts'

export type AnswerHeaders = readonly (readonly [name: string, value: string])[]

/** Callbacks to the producer of a {PushedBody}. */
export interface BodyWriter {
  /**
   * Sends the head of the answer, once. It is sent with the first frame, so that a failure before that can still get an
   * error status; or with a keep-alive comment when the model is silent for long, so that no proxy considers the
   * connection dead. Absent: the head has already been sent.
   */
  open?(headers: AnswerHeaders): void
  /** The reader accepts frames again. */
  resume(): void
  /** The reader has disconnected. */
  gone?(): void
}

/** When keep-alive comments are sent. */
export interface KeepAlive {
  readonly ticker: Ticker
  /** Ticks of silence after which a comment is sent. */
  readonly ticks: number
}

/** The content type of event streams. */
export const eventStream = 'text/event-stream; charset=utf-8'

/** Headers of every stream: no caching, and no buffering by proxies. */
export const streamHeaders: AnswerHeaders = [
  ['cache-control', 'no-store'],
  ['x-accel-buffering', 'no'],
]

/** Sends a comment after this many ms of silence; creates its own ticker. */
export const keptAliveAfter = (ms: number): KeepAlive => {
  const ticker = new Ticker(tickMsFor(ms))
  return { ticker, ticks: ticker.ticks(ms) }
}

/** ms of silence after which a stream sends a keep-alive comment. */
export const keepAliveMs = 15_000
const every15s = keptAliveAfter(keepAliveMs)
const comment = Buffer.from(': keep-alive\n\n')

/**
 * A `text/event-stream` body that is written frame by frame. Frames written in one task are sent as one part; frames
 * written before the body is read are kept.
 */
export class PushedBody implements ByteStream, Ticking {
  place = -1
  readonly #writer: BodyWriter
  readonly #keepAlive: KeepAlive
  #sink: ByteSink | null = null
  #pending: Buffer[] = []
  #isOpen: boolean
  #scheduled = false
  #blocked = false
  #ending: 'clean' | 'broken' | null = null
  #over = false
  #quietTicks = 0

  constructor(writer: BodyWriter, keepAlive: KeepAlive = every15s) {
    this.#writer = writer
    this.#keepAlive = keepAlive
    this.#isOpen = writer.open === undefined
    if (!this.#isOpen) keepAlive.ticker.add(this)
  }

  /** Whether the head has been sent; later errors have to be reported inside the stream. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  open(headers: AnswerHeaders): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#writer.open?.(headers)
  }

  /**
   * Queues frames, even when it returns false.
   * @returns false when the reader is slow: the producer should pause until `resume`.
   */
  write(frames: Buffer | string): boolean {
    if (this.#over || this.#ending !== null || frames.length === 0) return !this.#blocked
    this.#pending.push(typeof frames === 'string' ? Buffer.from(frames) : frames)
    if (!this.#scheduled) {
      this.#scheduled = true
      atEndOfTask(this.#flush)
    }
    return !this.#blocked
  }

  /** Sends a keep-alive comment, also before the first frame. */
  keepAlive(): void {
    this.write(comment)
  }

  /** Ends the body as complete. */
  end(): void {
    this.#finish('clean')
  }

  /** Ends the body as broken, after everything that was written: the reader must not take it for complete. */
  abort(): void {
    this.#finish('broken')
  }

  /** Discards everything that is queued; nothing more is read or written. */
  close(): void {
    this.#over = true
    this.#pending = []
    this.#keepAlive.ticker.delete(this)
  }

  start(sink: ByteSink): StreamControl {
    this.#sink = sink
    if (this.#ending === null) this.#keepAlive.ticker.add(this)
    this.#flush()
    return { resume: () => this.#resume(), stop: () => this.#gone() }
  }

  tick(): void {
    if (this.#blocked || ++this.#quietTicks < this.#keepAlive.ticks) return
    this.#quietTicks = 0
    this.#pending.push(comment)
    this.open([])
    this.#flush()
  }

  /** Called when a tick threw. */
  fail(): void {
    this.abort()
  }

  #finish(ending: 'clean' | 'broken'): void {
    if (this.#over || this.#ending !== null) return
    this.#ending = ending
    this.#keepAlive.ticker.delete(this)
    this.#flush()
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    const sink = this.#sink
    if (sink === null || this.#over) return
    const part = this.#taken()
    if (this.#ending === 'clean') sink.end(part)
    else if (part !== undefined && !sink.push(part)) this.#blocked = true
    if (this.#ending === 'broken') sink.abort()
    if (this.#ending !== null) this.close()
  }

  /** Takes all queued frames as one part; undefined when there are none. */
  #taken(): Buffer | undefined {
    const [first] = this.#pending
    if (first === undefined) return undefined
    const part = this.#pending.length === 1 ? first : Buffer.concat(this.#pending)
    this.#pending = []
    this.#quietTicks = 0
    return part
  }

  #resume(): void {
    if (!this.#blocked || this.#over) return
    this.#blocked = false
    this.#writer.resume()
  }

  #gone(): void {
    this.close()
    this.#writer.gone?.()
  }
}
