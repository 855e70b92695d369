import { AsyncLocalStorage } from 'node:async_hooks'
import { childOf, type TraceContext } from './trace-context.ts'

/** What OTLP knows of a span's place: `client` calls another server, `server` is called. */
export type SpanKind = 'internal' | 'server' | 'client'

/** Attributes of a span by their OpenTelemetry names; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/** A span that is over. */
export interface EndedSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly context: TraceContext
  readonly parentSpanId: string | null
  /** ms since the epoch, with fractions. */
  readonly startedMs: number
  readonly endedMs: number
  readonly attributes: Attributes
  /** null: it went well. */
  readonly error: string | null
}

/** Receives spans. Never waits, never throws. */
export interface SpanSink {
  take(span: EndedSpan): void
}

/** What a span is begun with. */
export interface SpanOptions {
  readonly kind?: SpanKind
  readonly attributes?: Attributes
  /** Left out: the span in which this is called. */
  readonly parent?: TraceContext | null
}

const nowMs = (): number => performance.timeOrigin + performance.now()

/** A span under way. */
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

  /** Ends it, once. @param error what went wrong; null when nothing did. */
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

/** Makes spans, and knows in which one the code runs. There is none where traces are not wanted: nothing is paid then. */
export class Tracer {
  readonly #sink: SpanSink
  readonly #current = new AsyncLocalStorage<TraceContext>()

  constructor(sink: SpanSink) {
    this.#sink = sink
  }

  /** The span in which this is called; null outside any. */
  get current(): TraceContext | null {
    return this.#current.getStore() ?? null
  }

  /** Begins a span that the caller ends. */
  begin(name: string, options: SpanOptions = {}): Span {
    return new Span(name, { parent: this.current, ...options }, this.#sink)
  }

  /** Runs `work` as within a span. */
  within<T>(context: TraceContext, work: () => T): T {
    return this.#current.run(context, work)
  }

  /** Runs `work` in a span of its own, which ends when the promise does. */
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
