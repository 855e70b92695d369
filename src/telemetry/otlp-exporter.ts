import type { Attributes, EndedSpan, SpanKind, SpanSink } from './tracer.ts'

export interface ExporterOptions {
  /** Base URL of an OTLP/HTTP receiver (OTEL_EXPORTER_OTLP_ENDPOINT); `/v1/traces` is appended. */
  readonly endpoint: string
  /** Attributes of this process, such as `service.name`. */
  readonly resource: Attributes
  /** @param lost number of spans that were not sent since the start. */
  readonly failed: (reason: string, lost: number) => void
}

const everyMs = 1_000
const batchSize = 512
/** Maximum number of queued spans while the receiver is unavailable; further ones are lost. */
const maxWaiting = 8_192
const timeoutMs = 10_000
/** Time in ms at the end of the process for sending all queued spans; the rest is lost. */
const closingMs = 5_000
/** Maximum number of bytes read of an answer, so that the connection can be reused. */
const maxAnswerBytes = 64 * 1024

const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 }

/**
 * Sends spans in batches by OTLP over HTTP as JSON. While a receiver is unavailable spans are lost, but no request is
 * delayed.
 *
 * The official SDK is not used: it adds 20 packages, and patches modules as they load.
 */
export class OtlpExporter implements SpanSink {
  readonly #options: ExporterOptions
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  readonly #waiting: EndedSpan[] = []
  #sending: Promise<void> | null = null
  #lost = 0

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#flush(), everyMs).unref()
  }

  /** Number of spans that were not sent. */
  get lost(): number {
    return this.#lost
  }

  /** Number of queued spans. */
  get waiting(): number {
    return this.#waiting.length
  }

  take(span: EndedSpan): void {
    if (this.#waiting.length >= maxWaiting) this.#lost++
    else if (this.#waiting.push(span) >= batchSize) this.#flush()
  }

  /** Sends the queued spans; resolves when they are sent or given up. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    const late = setTimeout(() => this.#closing.abort(), closingMs)
    this.#flush()
    await this.#sending
    clearTimeout(late)
  }

  /** Sends one request at a time: while a receiver is slow, spans wait in the queue, which is limited. */
  #flush(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null
    })
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, batchSize * 4))
  }

  async #send(spans: readonly EndedSpan[]): Promise<void> {
    const { endpoint, resource, failed } = this.#options
    try {
      const answer = await fetch(`${endpoint}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(tracesOf(spans, resource)),
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal]),
      })
      let bytes = 0
      for await (const part of answer.body ?? []) {
        bytes += part.length
        if (bytes > maxAnswerBytes) break
      }
      if (!answer.ok) throw new Error(`it answers ${answer.status}`)
    } catch (error) {
      this.#lost += spans.length
      failed(error instanceof Error ? error.message : String(error), this.#lost)
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

const anyValueOf = (value: NonNullable<Attributes[string]>): object => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'object') return { arrayValue: { values: value.map(anyValueOf) } }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
