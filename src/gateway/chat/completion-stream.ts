import type { ByteSink, ByteStream, StreamControl } from '#actors/call/call.ts'
import type { BytesResult } from '#actors/call/use-cases.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { Ticker, Ticking } from '#runtime/ticker.ts'
import type { ChatSummary } from '../call/chat-calls.ts'
import { atEndOfTask } from '../call/end-of-task.ts'
import type { RunListener } from './chat-run.ts'
import type { ChatHandle } from './chats.ts'

/** Receives the beginning of the answer, or the error in its place. */
export interface Opening {
  open(answer: BytesResult): void
  refuse(error: Error): void
  /** How an error looks inside a stream. */
  shown(error: Error): object
}

/** How silence is kept alive. */
export interface KeepAlive {
  readonly ticker: Ticker
  /** Ticks of silence after which a comment shows that the connection lives. */
  readonly ticks: number
}

type Headers = NonNullable<BytesResult['headers']>

const contentType = 'text/event-stream; charset=utf-8'
const uncached: Headers = [
  ['cache-control', 'no-store'],
  ['x-accel-buffering', 'no'],
]
const keepAlive = Buffer.from(': keep-alive\n\n')
const done = Buffer.from('data: [DONE]\n\n')

/**
 * A streamed chat completion on its way to the caller: frames as the provider wrote them, or made of chunks.
 *
 * All that comes in one go is one write. The answer begins with the first frame, or with a comment when the model is
 * silent for long; what goes wrong after that is a frame with an error, and the connection is cut: never a clean end.
 */
export class CompletionStream implements RunListener, ByteStream, Ticking {
  place = -1
  readonly takesFrames = true
  readonly #opening: Opening
  readonly #keepAlive: KeepAlive
  readonly #headers: Headers
  #handle: ChatHandle | null = null
  #sink: ByteSink | null = null
  #pending: Buffer[] = []
  #scheduled = false
  #opened = false
  #blocked = false
  #ending: 'clean' | 'broken' | null = null
  #over = false
  #quietTicks = 0

  /** @param headers beside those that every answer has. */
  constructor(opening: Opening, keepAlive: KeepAlive, headers: Headers) {
    this.#opening = opening
    this.#keepAlive = keepAlive
    this.#headers = headers
    keepAlive.ticker.add(this)
  }

  /** The run that is paused when the reader is slow, and cancelled when it is gone. */
  control(handle: ChatHandle): void {
    this.#handle = handle
  }

  begin({ headers }: Pick<ChatSummary, 'headers'>): void {
    this.#open(headers)
  }

  frames(bytes: Buffer): boolean {
    this.#pending.push(bytes)
    this.#flushSoon()
    return !this.#blocked
  }

  chunk(chunk: WireObject): boolean {
    return this.frames(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))
  }

  whole(): void {}

  end(): void {
    this.#pending.push(done)
    this.#finish('clean')
  }

  fail(error: Error): void {
    if (this.#opened) {
      this.#pending.push(Buffer.from(`data: ${JSON.stringify(this.#opening.shown(error))}\n\n`))
      this.#finish('broken')
      return
    }
    this.#close()
    this.#opening.refuse(error)
  }

  start(sink: ByteSink): StreamControl {
    this.#sink = sink
    this.#flush()
    return { resume: () => this.#resume(), stop: () => this.gone() }
  }

  /** The reader is gone, before the answer began or after. */
  gone(): void {
    this.#close()
    this.#handle?.cancel()
  }

  tick(): void {
    if (this.#blocked || ++this.#quietTicks < this.#keepAlive.ticks) return
    this.#open([])
    this.#pending.push(keepAlive)
    this.#flush()
  }

  #open(headers: Headers): void {
    if (this.#opened) return
    this.#opened = true
    this.#opening.open({ contentType, bytes: this, headers: [...uncached, ...headers, ...this.#headers] })
  }

  #finish(ending: 'clean' | 'broken'): void {
    this.#ending = ending
    this.#flush()
  }

  #flushSoon(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    atEndOfTask(this.#flush)
  }

  readonly #flush = (): void => {
    this.#scheduled = false
    const sink = this.#sink
    if (sink === null || this.#over || this.#pending.length === 0) return
    const [first] = this.#pending
    const part = this.#pending.length === 1 && first !== undefined ? first : Buffer.concat(this.#pending)
    this.#pending = []
    this.#quietTicks = 0
    if (this.#ending === 'clean') sink.end(part)
    else if (!sink.push(part)) this.#blocked = true
    if (this.#ending === 'broken') sink.abort()
    if (this.#ending !== null) this.#close()
  }

  #resume(): void {
    this.#blocked = false
    this.#handle?.resume()
  }

  #close(): void {
    this.#over = true
    this.#pending = []
    this.#keepAlive.ticker.delete(this)
  }
}
