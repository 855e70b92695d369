import type { Logger } from 'pino'
import { OtlpExporter } from './otlp-exporter.ts'
import { readTraceparent, traceparent } from './trace-context.ts'
import { Tracer } from './tracer.ts'

export interface TraceSettings {
  /** OTEL_EXPORTER_OTLP_ENDPOINT; null: no traces. */
  readonly otelEndpoint: string | null
  readonly nodeId: string | null
}

/** Traces of this process. */
export interface Traces {
  readonly tracer: Tracer
  /** Headers of an outgoing request with the current span. */
  readonly headers: () => Readonly<Record<string, string>>
  /** `traceparent` of the current span; null outside any. */
  readonly current: () => string | null
  /** Runs work in the span of another node; in the current one if its `traceparent` is invalid. */
  readonly within: <T>(traceparent: string, work: () => T) => T
  /** Sends all ended spans, or gives them up. */
  close(): Promise<void>
}

/** Opens traces to the OTLP receiver; null when none is configured. */
export const openTraces = ({ otelEndpoint, nodeId }: TraceSettings, log: Logger): Traces | null => {
  if (otelEndpoint === null) return null
  const resource = { 'service.name': 'troupe', 'service.instance.id': nodeId ?? String(process.pid) }
  const failed = (reason: string, lost: number): void => log.warn({ reason, lost }, 'traces not sent')
  const exporter = new OtlpExporter({ endpoint: otelEndpoint, resource, failed })
  const tracer = new Tracer(exporter)
  const current = (): string | null => (tracer.current === null ? null : traceparent(tracer.current))
  const headers = (): Record<string, string> => {
    const span = current()
    return span === null ? {} : { traceparent: span }
  }
  const within = <T>(text: string, work: () => T): T => {
    const sender = readTraceparent(text)
    return sender === null ? work() : tracer.within(sender, work)
  }
  return { tracer, headers, current, within, close: () => exporter.close() }
}
