import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { ProductMetrics } from '../telemetry/product-metrics.ts'
import type { CounterSeries, Labels } from '../telemetry/series.ts'
import { DurationHistogram } from './duration-histogram.ts'
import type { HttpResponse } from './http/http-port.ts'
import { RequestStats } from './request-stats.ts'
import type { StreamCounters } from './streams/sse.ts'

/**
 * The metrics at /metrics. Hot paths count in plain fields (`requests`, `streams`, the callbacks of `counter` and
 * `gauge`), which are converted to Prometheus metrics at each scrape.
 */
export class Metrics {
  readonly requests: RequestStats
  readonly streams: StreamCounters = { openStreams: 0, eventsSent: 0 }
  readonly #registry = new Registry()

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
    this.requests = new RequestStats(this.#registry)
    this.gauge('troupe_open_streams', 'Open SSE and WebSocket streams.', () => this.streams.openStreams)
    this.counter('troupe_stream_events_total', 'Events sent to streams.', () => this.streams.eventsSent)
  }

  /** Registers a number that only rises, read at each scrape; e.g. the runtime's `troupe_commits_total`. */
  counter(name: string, help: string, read: () => number): void {
    const counter = new Counter({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        counter.reset()
        counter.inc(read())
      },
    })
  }

  /** Registers a number that rises and falls, read at each scrape. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect: async () => {
        gauge.set(await read())
      },
    })
  }

  /** Registers a number for each combination of labels, read at each scrape. */
  gauges(name: string, help: string, read: () => readonly (readonly [Labels, number])[]): void {
    const labelNames = Object.keys(read()[0]?.[0] ?? { machine: '', state: '' })
    const gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect: () => {
        gauge.reset()
        for (const [labels, value] of read()) gauge.set({ ...labels }, value)
      },
    })
  }

  /** Registers the product's metrics. */
  product({ counters, durations }: ProductMetrics): void {
    for (const series of counters) this.#counters(series)
    for (const series of durations) this.#registry.registerMetric(new DurationHistogram(series))
  }

  #counters({ name, help, labelNames, lines }: CounterSeries): void {
    const counter = new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.#registry],
      collect: () => {
        counter.reset()
        for (const { labels, value } of lines()) counter.inc({ ...labels }, value)
      },
    })
  }

  /** All metrics in Prometheus' text format. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }

  /** Answers GET /metrics. */
  async answer(response: HttpResponse): Promise<void> {
    const text = await this.text()
    response.send(200, [['content-type', this.#registry.contentType]], text)
  }
}
