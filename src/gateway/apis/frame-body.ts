import type { ByteSink, ByteStream, StreamControl } from '#actors/call/call.ts'

/** How a body is written. */
export interface FrameOptions {
  /** The reader takes frames again. */
  readonly onResume: () => void
  /** ms of silence after which a comment shows that the connection lives. */
  readonly keepAliveMs?: number
}

/** ms of silence after which a stream shows that it lives. */
export const keepAliveMs = 15_000
const keepAlive = ': keep-alive\n\n'

/**
 * A `text/event-stream` body that is written frame by frame.
 *
 * The first frames go out at once; what is written later in one turn of the event loop goes out as one part at its
 * end. Frames that come before the body is read are kept.
 */
export class FrameBody implements ByteStream {
  readonly #onResume: () => void
  readonly #keepAliveMs: number
  #sink: ByteSink | null = null
  #pending = ''
  #opened = false
  #scheduled = false
  #blocked = false
  #ended = false
  #over = false
  #timer: NodeJS.Timeout | undefined

  constructor({ onResume, keepAliveMs: ms = keepAliveMs }: FrameOptions) {
    this.#onResume = onResume
    this.#keepAliveMs = ms
  }

  /** @returns false when the reader is slow: no more, please, until `onResume`. The frames are taken all the same. */
  write(frames: string): boolean {
    if (this.#over || this.#ended || frames === '') return !this.#blocked
    this.#pending += frames
    if (this.#sink !== null) this.#flushSoon()
    return !this.#blocked
  }

  /** A sign of life, also before there is anything to say. */
  keepAlive(): void {
    this.write(keepAlive)
  }

  /** The body is whole. */
  end(): void {
    this.#ended = true
    if (this.#sink !== null) this.#finish()
  }

  start(sink: ByteSink): StreamControl {
    this.#sink = sink
    this.#timer = setTimeout(() => this.#push(keepAlive), this.#keepAliveMs)
    this.#timer.unref()
    this.#flush()
    if (this.#ended) this.#finish()
    return { resume: () => this.#resume(), stop: () => this.#stop() }
  }

  #flushSoon(): void {
    if (!this.#opened) this.#flush()
    else if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => {
        this.#scheduled = false
        this.#flush()
      })
    }
  }

  #flush(): void {
    if (this.#over || this.#pending === '') return
    const frames = this.#pending
    this.#pending = ''
    this.#opened = true
    this.#push(frames)
  }

  #push(frames: string): void {
    if (this.#over || this.#sink === null) return
    this.#timer?.refresh()
    if (!this.#sink.push(frames)) this.#blocked = true
  }

  #finish(): void {
    if (this.#over) return
    this.#flush()
    this.#stop()
    this.#sink?.end()
  }

  #resume(): void {
    if (!this.#blocked || this.#over) return
    this.#blocked = false
    this.#onResume()
  }

  #stop(): void {
    this.#over = true
    this.#pending = ''
    clearTimeout(this.#timer)
  }
}
