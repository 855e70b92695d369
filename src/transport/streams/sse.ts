import type { Logger } from 'pino'
import type { EventSink, EventStream, StreamControl, StreamEnding } from '#runtime/index.ts'
import type { Ticking } from '#runtime/internal.ts'
import type { StreamEndReason } from '#specs/events/events.ts'
import { forEachInSlices } from '#src/concurrency/run-in-slices.ts'
import type { LogEvent } from '#storage/index.ts'
import { Containment } from '../http/containment.ts'
import type { BodyWriter, Headers, HttpResponse } from '../http/http-port.ts'
import { wireLimits } from '../http/wire-limits.ts'
import { CredentialWatch, type Recheck, type StreamTicker } from './credential-watch.ts'
import { endedFrame } from './ended-frame.ts'
import type { Translator } from './protocols/translator.ts'
import { type FrameOptions, sseFrames } from './sse-frames.ts'
import { StreamStarts } from './stream-starts.ts'

/** Pending frames longer than this are written immediately, not at the end of the task. In UTF-16 units. */
const gatheredMaxLength = 64 * 1024

/** Time in ms after which a stream without events sends its head, with a comment. */
const openingMs = 20

/** Stream counters for /metrics. Plain fields, read at each scrape. */
export interface StreamCounters {
  openStreams: number
  eventsSent: number
}

/** Options of one SSE stream. */
export interface SseOptions extends FrameOptions {
  /** Headers in addition to those of every SSE answer. */
  readonly headers: Headers
  /**
   * Whether the stream follows a log and never ends by itself: a shutdown ends it at once, and its client resumes
   * elsewhere.
   */
  readonly endless: boolean
  /**
   * Called with the number of bytes buffered for a slow reader, and with 0 when none are; false: no memory left, so the
   * stream is cut.
   */
  readonly grow?: ((bytes: number) => boolean) | undefined
  /** Writes the stream in the protocol of another client; absent: as the events of the log. */
  readonly translator?: Translator | undefined
  /** Checks the credential every few seconds; the stream ends when it throws. */
  readonly recheck?: Recheck | undefined
}

const resolved = Promise.resolve()

const sseHeaders: Headers = [
  ['content-type', 'text/event-stream; charset=utf-8'],
  ['cache-control', 'no-store'],
  ['x-accel-buffering', 'no'],
]

/**
 * All SSE streams of a process.
 *
 * Events that the running code pushes to a stream go out as one write.
 */
export class SseStreams {
  /** Handles exceptions that a stream throws outside the request that opened it. */
  readonly containment: Containment
  readonly #ticker: StreamTicker
  readonly #counters: StreamCounters
  readonly #open = new Set<SseStream>()
  readonly #starts = new StreamStarts()
  #dirty: SseStream[] = []
  #silent: SseStream[] = []

  /** @param ticker ticks every second. */
  constructor(ticker: StreamTicker, counters: StreamCounters, log: Logger) {
    this.containment = new Containment(log)
    this.#ticker = ticker
    this.#counters = counters
  }

  /** Answers with `stream` until it ends, fails, or the peer disconnects; then the stream is stopped. */
  serve(stream: EventStream, response: HttpResponse, options: SseOptions): void {
    const served = new SseStream({ streams: this, counters: this.#counters }, response, options)
    this.#counters.openStreams++
    this.#open.add(served)
    this.#ticker.add(served)
    this.#watchOpening(served)
    this.#starts.start(
      () => served.start(stream),
      (start) => served.contain(start),
    )
  }

  /** Ends the endless streams at shutdown, in a way that lets their clients resume. */
  endEndless(): void {
    for (const stream of this.#open) if (stream.endless) stream.contain(() => stream.lose())
  }

  /**
   * Schedules a flush of the stream when the running code has ended. At the end of the loop turn, what is pushed there
   * would be written a turn later, after everything that arrives meanwhile.
   */
  flushSoon(stream: SseStream): void {
    if (this.#dirty.push(stream) === 1) void resolved.then(this.#flush)
  }

  /** Removes a stream that has ended. Called once. */
  forget(stream: SseStream): void {
    this.#open.delete(stream)
    this.#ticker.delete(stream)
    this.#counters.openStreams--
  }

  readonly #flush = (): void => {
    const streams = this.#dirty
    this.#dirty = []
    if (streams.length === 1) streams[0]?.flushContained()
    else void forEachInSlices(streams, (stream) => stream.flushContained())
  }

  #watchOpening(stream: SseStream): void {
    if (this.#silent.push(stream) === 1) setTimeout(this.#openSilent, openingMs).unref()
  }

  readonly #openSilent = (): void => {
    const streams = this.#silent
    this.#silent = []
    for (const stream of streams) stream.contain(() => stream.showHead())
  }
}

class SseStream implements EventSink, Ticking {
  place = -1
  readonly endless: boolean
  readonly #streams: SseStreams
  readonly #counters: StreamCounters
  readonly #writer: BodyWriter
  readonly #frames: FrameOptions
  readonly #translator: Translator | undefined
  readonly #watch: CredentialWatch
  readonly #grow: (bytes: number) => boolean
  #control: StreamControl | null = null
  #pending = ''
  #opened = false
  #blocked = false
  #over = false
  #stopped = false
  #quietTicks = 0
  #blockedTicks = 0

  constructor(
    { streams, counters }: { readonly streams: SseStreams; readonly counters: StreamCounters },
    response: HttpResponse,
    options: SseOptions,
  ) {
    this.endless = options.endless
    this.#streams = streams
    this.#counters = counters
    this.#watch = new CredentialWatch(options.recheck ?? (() => {}), (reason) =>
      this.contain(() => this.#refused(reason)),
    )
    this.#frames = { shortNames: options.shortNames, reader: options.reader }
    this.#translator = options.translator
    this.#grow = options.grow ?? (() => true)
    this.#writer = response.stream(200, [...sseHeaders, ...options.headers])
    this.#writer.onDrain(() => this.#onDrain())
    response.onClose(() => this.#stop())
    if (response.closed) this.#stopped = true
  }

  start(stream: EventStream): void {
    if (this.#over) return
    if (this.#stopped) {
      this.#finish()
      return
    }
    try {
      this.#control = stream.start(this)
    } catch (error) {
      this.lose()
      throw error
    }
    if (this.#stopped) this.#control.stop()
  }

  push(events: readonly LogEvent[]): boolean {
    if (this.#over || events.length === 0) return !this.#blocked
    try {
      this.#gather(events)
    } catch (error) {
      this.fail(error)
    }
    return !this.#blocked
  }

  end(reason: StreamEnding): void {
    if (!this.#over) this.contain(() => this.#end(reason))
  }

  fail(error: unknown): void {
    this.#streams.containment.failed('stream', error, this.#break)
  }

  /**
   * Runs work that another component (the feed, a timer) calls: an exception ends this stream and does not reach the
   * caller.
   */
  contain(work: () => void): void {
    this.#streams.containment.run('stream', work, this.#break)
  }

  readonly #break = (): void => {
    try {
      this.lose()
    } finally {
      if (!this.#over) this.#finish()
    }
  }

  #gather(events: readonly LogEvent[]): void {
    const text = this.#translator?.frames(events) ?? sseFrames(events, this.#frames)
    this.#counters.eventsSent += events.length
    if (text === '') return
    if (this.#pending === '') this.#streams.flushSoon(this)
    this.#pending += text
    if (this.#pending.length >= gatheredMaxLength) this.flush()
  }

  #end(reason: StreamEnding): void {
    if (reason === 'lost') {
      this.flush()
      this.#writer.abort()
    } else this.#writer.end(this.#pending + this.#lastText(reason))
    if (!this.#over) this.#finish()
  }

  #lastText(reason: 'done' | StreamEndReason): string {
    return this.#translator?.end(reason) ?? (reason === 'done' ? '' : endedText(reason))
  }

  /** `flush`, without exceptions and, as it is called for each event, without a closure. */
  flushContained(): void {
    try {
      this.flush()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Writes the pending frames. */
  flush(): void {
    if (this.#over || this.#pending === '') return
    const text = this.#pending
    this.#pending = ''
    this.#write(text)
    if (!this.#blocked) return
    const { bufferedBytes } = this.#writer
    if (bufferedBytes > wireLimits.bufferedMaxBytes || !this.#grow(bufferedBytes)) this.lose()
  }

  /**
   * Sends the head with a comment if nothing has been written: otherwise a client of a quiet stream would wait for its
   * head.
   */
  showHead(): void {
    if (!this.#opened && !this.#over) this.#write(': open\n\n')
  }

  recheck(): void {
    this.#watch.recheck()
  }

  tick(): void {
    this.#watch.tick()
    if (this.#blocked) {
      if (++this.#blockedTicks > wireLimits.blockedMaxTicks) this.lose()
    } else if (++this.#quietTicks >= wireLimits.keepAliveTicks) this.#write(': keep-alive\n\n')
  }

  /** Cuts the connection, so that the client notices and resumes after the last event it has received. */
  lose(): void {
    if (this.#over) return
    this.#writer.abort()
    this.#stop()
  }

  #write(text: string): void {
    this.#opened = true
    this.#quietTicks = 0
    if (this.#writer.write(text) || this.#blocked) return
    this.#blocked = true
    this.#blockedTicks = 0
  }

  #onDrain(): void {
    if (!this.#blocked || this.#over) return
    this.#blocked = false
    this.#grow(0)
    this.#control?.resume()
  }

  #refused(reason: StreamEndReason): void {
    if (this.#over) return
    this.#writer.end(this.#pending + this.#lastText(reason))
    this.#stop()
  }

  /** Ends the stream after its reader has disconnected, and stops the producer. */
  #stop(): void {
    if (this.#over) return
    this.#stopped = true
    this.#finish()
    this.#control?.stop()
  }

  #finish(): void {
    this.#over = true
    this.#pending = ''
    if (this.#blocked) this.#grow(0)
    this.#streams.forget(this)
  }
}

const endedText = (reason: StreamEndReason): string => {
  const { event, data } = endedFrame(reason)
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
