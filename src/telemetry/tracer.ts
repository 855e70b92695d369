import { AsyncLocalStorage } from 'node:async_hooks'
import { childOf, type TraceContext } from './trace-context.ts'

/** OTLP span kind: `client` calls another server, `server` is called. */
export type SpanKind = 'internal' | 'server' | 'client'

/** Attributes of a span by their OpenTelemetry names; undefined ones are omitted. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface EndedSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly context: TraceContext
  readonly parentSpanId: string | null
  /** ms since the epoch, with fractions. */
  readonly startedMs: number
  readonly endedMs: number
  readonly attributes: Attributes
  /** Error message; null when the span succeeded. */
  readonly error: string | null
}

/** Receives spans. Never waits, never throws. */
export interface SpanSink {
  take(span: EndedSpan): void
}

export interface SpanOptions {
  readonly kind?: SpanKind
  readonly attributes?: Attributes
  /** Parent span; default: the span in which the call is made. */
  readonly parent?: TraceContext | null
}

const nowMs = (): number => performance.timeOrigin + performance.now()

/** A span in progress. */
export class Span {
  readonly context: TraceContext
  readonly #name: string
  readonly #kind: SpanKind
  readonly #parent: TraceContext | null
  readonly #startedMs = nowMs()
  readonly #sink: SpanSink
  #attributes: Attributes
  #isOver = false

  constructor(name: string, { kind = 'internal', attributes = {}, parent = null }: SpanOptions, sink: SpanSink) {
    this.context = childOf(parent)
    this.#name = name
    this.#kind = kind
    this.#parent = parent
    this.#attributes = attributes
    this.#sink = sink
  }

  set(attributes: Attributes): void {
    this.#attributes = { ...this.#attributes, ...attributes }
  }

  /** Ends the span; later calls do nothing. @param error the error message; null when there was none. */
  end(error: string | null = null): void {
    if (this.#isOver) return
    this.#isOver = true
    if (!this.context.sampled) return
    this.#sink.take({
      name: this.#name,
      kind: this.#kind,
      context: this.context,
      parentSpanId: this.#parent?.spanId ?? null,
      startedMs: this.#startedMs,
      endedMs: nowMs(),
      attributes: this.#attributes,
      error,
    })
  }
}

/**
 * Creates spans, and tracks the current one across async calls. There is no tracer while traces are off, so that they
 * cost nothing.
 */
export class Tracer {
  readonly #sink: SpanSink
  readonly #current = new AsyncLocalStorage<TraceContext>()

  constructor(sink: SpanSink) {
    this.#sink = sink
  }

  /** The current span; null outside any. */
  get current(): TraceContext | null {
    return this.#current.getStore() ?? null
  }

  /** Starts a span that the caller ends. */
  begin(name: string, options: SpanOptions = {}): Span {
    return new Span(name, { parent: this.current, ...options }, this.#sink)
  }

  /** Runs `work` with this span as the current one. */
  within<T>(context: TraceContext, work: () => T): T {
    return this.#current.run(context, work)
  }

  /** Runs `work` in a new span, which ends when the promise settles. */
  async run<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
    const span = this.begin(name, options)
    try {
      const result = await this.within(span.context, () => work(span))
      span.end()
      return result
    } catch (error) {
      span.end(error instanceof Error ? error.message : String(error))
      throw error
    }
  }
}
