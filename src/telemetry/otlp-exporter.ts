import type { Attributes, EndedSpan, SpanKind, SpanSink } from './tracer.ts'

/** Where spans go. */
export interface ExporterOptions {
  /** The base URL of an OTLP/HTTP receiver, as OTEL_EXPORTER_OTLP_ENDPOINT has it; `/v1/traces` is added. */
  readonly endpoint: string
  /** Attributes of this process, such as `service.name`. */
  readonly resource: Attributes
  readonly failed: (reason: string) => void
}

const everyMs = 1_000
const batchSize = 512
/** What waits when the receiver is away; further spans are lost. */
const maxWaiting = 8_192
const timeoutMs = 10_000

const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 }

/**
 * Sends spans by OTLP over HTTP as JSON, in batches. A receiver that is away costs spans, never a request.
 *
 * The official SDK was not taken: it brings 20 packages, and patches modules as they load.
 */
export class OtlpExporter implements SpanSink {
  readonly #options: ExporterOptions
  readonly #timer: NodeJS.Timeout
  #waiting: EndedSpan[] = []
  #sending: Promise<void> = Promise.resolve()
  #lost = 0

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#flush(), everyMs).unref()
  }

  /** Spans that were not sent. */
  get lost(): number {
    return this.#lost
  }

  take(span: EndedSpan): void {
    if (this.#waiting.length >= maxWaiting) this.#lost++
    else if (this.#waiting.push(span) === batchSize) this.#flush()
  }

  /** Sends what waits; resolves when that is done or given up. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#flush()
    await this.#sending
  }

  #flush(): void {
    const spans = this.#waiting
    if (spans.length === 0) return
    this.#waiting = []
    this.#sending = this.#sending.then(() => this.#send(spans))
  }

  async #send(spans: readonly EndedSpan[]): Promise<void> {
    const { endpoint, resource, failed } = this.#options
    try {
      const answer = await fetch(`${endpoint}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(tracesOf(spans, resource)),
        signal: AbortSignal.timeout(timeoutMs),
      })
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    } catch (error) {
      this.#lost += spans.length
      failed(error instanceof Error ? error.message : String(error))
    }
  }
}

/** One OTLP `ExportTraceServiceRequest`. */
const tracesOf = (spans: readonly EndedSpan[], resource: Attributes): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: 'troupe' }, spans: spans.map(spanOf) }],
    },
  ],
})

const spanOf = ({ name, kind, context, parentSpanId, startedMs, endedMs, attributes, error }: EndedSpan): object => ({
  traceId: context.traceId,
  spanId: context.spanId,
  ...(parentSpanId !== null && { parentSpanId }),
  name,
  kind: kinds[kind],
  startTimeUnixNano: nanoseconds(startedMs),
  endTimeUnixNano: nanoseconds(endedMs),
  attributes: attributesOf(attributes),
  status: error === null ? {} : { code: 2, message: error },
})

const nanoseconds = (ms: number): string => `${Math.trunc(ms)}${String(Math.trunc((ms % 1) * 1e6)).padStart(6, '0')}`

const attributesOf = (attributes: Attributes): readonly object[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValueOf(value) }]))

const anyValueOf = (value: string | number | boolean): object => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
