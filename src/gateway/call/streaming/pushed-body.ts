import type { ByteSink, ByteStream, StreamControl } from '#actors/call/call.ts'
import { Ticker, type Ticking, tickMsFor } from '#runtime/ticker.ts'
import { atEndOfTask } from './end-of-task.ts'

/** Headers of an answer. */
export type AnswerHeaders = readonly (readonly [name: string, value: string])[]

/** Who writes a pushed body. */
export interface BodyWriter {
  /**
   * The head of the answer goes out, once: with its first frame, so that a refusal before it has a status of its own; or,
   * when the model is silent for long, with a comment, so that no proxy takes the connection for dead. Absent: it went out.
   */
  open?(headers: AnswerHeaders): void
  /** The reader takes frames again. */
  resume(): void
  /** The reader is gone. */
  gone?(): void
}

/** How silence is kept alive. */
export interface KeepAlive {
  readonly ticker: Ticker
  /** Ticks of silence after which a comment shows that the connection lives. */
  readonly ticks: number
}

/** The content type of event streams. */
export const eventStream = 'text/event-stream; charset=utf-8'

/** Headers of every stream: no cache, and no proxy that gathers it. */
export const streamHeaders: AnswerHeaders = [
  ['cache-control', 'no-store'],
  ['x-accel-buffering', 'no'],
]

/** A comment after this many ms of silence, by a timer of its own. */
export const keptAliveAfter = (ms: number): KeepAlive => {
  const ticker = new Ticker(tickMsFor(ms))
  return { ticker, ticks: ticker.ticks(ms) }
}

/** ms of silence after which a stream shows that it lives. */
export const keepAliveMs = 15_000
const every15s = keptAliveAfter(keepAliveMs)
const comment = Buffer.from(': keep-alive\n\n')

/**
 * A `text/event-stream` body that is written frame by frame: all that comes in one task is one part. Frames that come
 * before the body is read are kept.
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

  /** Whether the head has gone out: what goes wrong after that is said inside. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  open(headers: AnswerHeaders): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#writer.open?.(headers)
  }

  /** @returns false when the reader is slow: no more, please, until `resume`. The frames are taken all the same. */
  write(frames: Buffer | string): boolean {
    if (this.#over || this.#ending !== null || frames.length === 0) return !this.#blocked
    this.#pending.push(typeof frames === 'string' ? Buffer.from(frames) : frames)
    if (!this.#scheduled) {
      this.#scheduled = true
      atEndOfTask(this.#flush)
    }
    return !this.#blocked
  }

  /** A sign of life, also before there is anything to say. */
  keepAlive(): void {
    this.write(comment)
  }

  /** The body is whole. */
  end(): void {
    this.#finish('clean')
  }

  /** It broke, after all that was written: never a clean end. */
  abort(): void {
    this.#finish('broken')
  }

  /** Nothing more is read or written. */
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

  /** Of a tick that threw. */
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

  /** All that waits, as one part; undefined for nothing. */
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
