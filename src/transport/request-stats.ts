import { Counter, type Registry } from 'prom-client'
import { DurationSeries, type Durations } from '../telemetry/series.ts'
import { DurationHistogram } from './duration-histogram.ts'

const durationName = 'troupe_http_request_duration_seconds'
const durationHelp = 'Time until the response, in seconds, by operation.'

/** Counts of one operation in plain numbers, so that counting a request costs nanoseconds. */
export class OperationStats {
  readonly byStatus = new Map<number, number>()
  readonly durations: Durations

  constructor(durations: Durations) {
    this.durations = durations
  }

  /** @param seconds from the head of the request to the end of its answer; for a stream, to the head of its answer. */
  record(status: number, seconds: number): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1)
    this.durations.record(seconds)
  }
}

/** Statistics of all operations, converted to Prometheus metrics at each scrape. */
export class RequestStats {
  readonly #operations = new Map<string, OperationStats>()
  readonly #durations = new DurationSeries(durationName, durationHelp, ['operation'])

  constructor(registry: Registry) {
    const requests = new Counter({
      name: 'troupe_http_requests_total',
      help: 'Requests, by operation and status.',
      labelNames: ['operation', 'status'],
      registers: [registry],
      collect: () => {
        requests.reset()
        for (const [operation, { byStatus }] of this.#operations) {
          for (const [status, count] of byStatus) requests.inc({ operation, status }, count)
        }
      },
    })
    registry.registerMetric(new DurationHistogram(this.#durations))
  }

  /** Statistics of one operation; callers should keep the object. */
  of(operation: string): OperationStats {
    const known = this.#operations.get(operation)
    if (known !== undefined) return known
    const made = new OperationStats(this.#durations.line(operation).value)
    this.#operations.set(operation, made)
    return made
  }
}
