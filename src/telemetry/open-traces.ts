import type { Logger } from 'pino'
import { OtlpExporter } from './otlp-exporter.ts'
import { traceparent } from './trace-context.ts'
import { Tracer } from './tracer.ts'

/** What traces are opened with. */
export interface TraceSettings {
  /** OTEL_EXPORTER_OTLP_ENDPOINT; null: no traces. */
  readonly otelEndpoint: string | null
  readonly nodeId: string | null
}

/** Traces of this process. */
export interface Traces {
  readonly tracer: Tracer
  /** What an outgoing request says of the span that it is sent in. */
  readonly headers: () => Readonly<Record<string, string>>
  /** Everything that ended is sent, or given up. */
  close(): Promise<void>
}

/** Opens the way to the OTLP receiver; null when there is none. */
export const openTraces = ({ otelEndpoint, nodeId }: TraceSettings, log: Logger): Traces | null => {
  if (otelEndpoint === null) return null
  const resource = { 'service.name': 'troupe', 'service.instance.id': nodeId ?? String(process.pid) }
  const failed = (reason: string, lost: number): void => log.warn({ reason, lost }, 'traces not sent')
  const exporter = new OtlpExporter({ endpoint: otelEndpoint, resource, failed })
  const tracer = new Tracer(exporter)
  const headers = (): Record<string, string> =>
    tracer.current === null ? {} : { traceparent: traceparent(tracer.current) }
  return { tracer, headers, close: () => exporter.close() }
}
