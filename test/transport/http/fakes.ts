import type { EventSink, EventStream, StreamEnding } from '#runtime/messages/event-stream.ts'
import type { Every } from '#runtime/ticker.ts'
import type { LogEvent } from '#storage/ports.ts'
import type { BodyWriter, Headers, HttpResponse, WebSocketPeer } from '#transport/http/http-port.ts'

/** An `Every` whose ticks the test triggers. */
export class ManualTime {
  readonly #runs = new Set<() => void>()

  readonly every: Every = (_, run) => {
    this.#runs.add(run)
    return () => this.#runs.delete(run)
  }

  /** Whether any timer is running. */
  get running(): boolean {
    return this.#runs.size > 0
  }

  pass(ticks: number): void {
    for (let tick = 0; tick < ticks; tick++) for (const run of [...this.#runs]) run()
  }
}

/** A response that records what it is given; its reader takes everything until `blocked`. */
export class FakeResponse implements HttpResponse, BodyWriter {
  status = 0
  headers: Headers = []
  readonly writes: string[] = []
  ending: 'open' | 'ended' | 'aborted' | 'gone' = 'open'
  blocked = false
  bufferedBytes = 0
  #close: () => void = () => {}
  #drain: () => void = () => {}

  get closed(): boolean {
    return this.ending !== 'open'
  }

  get begun(): boolean {
    return this.status !== 0
  }

  fail(): void {
    if (this.begun) this.abort()
    else this.send(500, [], '')
  }

  get text(): string {
    return this.writes.join('')
  }

  /** Reports that the connection has taken the whole response. */
  over: () => void = () => {}

  send(status: number, headers: Headers, body: string | Uint8Array): void {
    this.status = status
    this.headers = headers
    this.end(body)
  }

  stream(status: number, headers: Headers): BodyWriter {
    this.status = status
    this.headers = headers
    return this
  }

  onClose(listener: () => void): void {
    this.#close = listener
  }

  onOver(listener: () => void): void {
    this.over = listener
  }

  write(part: string | Uint8Array): boolean {
    this.writes.push(String(part))
    return !this.blocked
  }

  onDrain(listener: () => void): void {
    this.#drain = listener
  }

  end(part: string | Uint8Array = ''): void {
    if (part.length > 0) this.writes.push(String(part))
    this.ending = 'ended'
  }

  abort(): void {
    this.ending = 'aborted'
  }

  /** The reader disconnects. */
  leave(): void {
    this.ending = 'gone'
    this.#close()
  }

  /** The reader takes the buffered bytes. */
  drain(): void {
    this.blocked = false
    this.#drain()
  }
}

/** A peer that records what it is sent. */
export class FakePeer implements WebSocketPeer {
  readonly sent: string[] = []
  closing: { code: number; reason: string } | null = null
  blocked = false
  bufferedBytes = 0
  #message: (text: string) => void = () => {}
  #close: () => void = () => {}
  #drain: () => void = () => {}

  send(text: string): boolean {
    this.sent.push(text)
    return !this.blocked
  }

  onMessage(listener: (text: string) => void): void {
    this.#message = listener
  }

  onClose(listener: () => void): void {
    this.#close = listener
  }

  onDrain(listener: () => void): void {
    this.#drain = listener
  }

  close(code: number, reason: string): void {
    this.closing ??= { code, reason }
    this.#close()
  }

  /** The client sends a frame. */
  receive(frame: unknown): void {
    this.#message(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  leave(): void {
    this.#close()
  }

  drain(): void {
    this.blocked = false
    this.#drain()
  }
}

/** A log that a test appends to: first the events after `after`, then live ones, as `EventStream` promises. */
export class FakeLog {
  readonly #events: LogEvent[] = []
  readonly #readers = new Set<EventSink>()
  resumes = 0
  /** Called when a reader can take more again. */
  onResume: () => void = () => {}

  /** Streams that were started and not stopped. */
  get following(): number {
    return this.#readers.size
  }

  /** Appends events and pushes them to each follower as one batch. False if one of them cannot take more. */
  append(...events: readonly Omit<LogEvent, 'sequence'>[]): boolean {
    const batch = events.map((event, at) => ({ ...event, sequence: this.#events.length + 1 + at }))
    this.#events.push(...batch)
    return [...this.#readers].map((reader) => reader.push(batch)).every((more) => more)
  }

  follow(after: number | null): EventStream {
    return {
      start: (sink) => {
        this.#readers.add(sink)
        const missed = after === null ? [] : this.#events.filter(({ sequence }) => sequence > after)
        if (missed.length > 0) sink.push(missed)
        return { resume: () => this.#resume(), stop: () => this.#readers.delete(sink) }
      },
    }
  }

  #resume(): void {
    this.resumes++
    this.onResume()
  }

  end(reason: StreamEnding): void {
    for (const reader of [...this.#readers]) reader.end(reason)
  }
}

/** A text event. */
export const delta = (text: string): Omit<LogEvent, 'sequence'> => ({
  event_type: 'output_text.delta',
  payload: { delta: text },
})

/** Resolves at the end of this turn of the event loop, after the work that was scheduled for it. */
export const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
