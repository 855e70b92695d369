import { Counter, Histogram, type Registry } from 'prom-client'

/** Upper bounds of the duration buckets, in seconds. */
const boundsS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const

const durationName = 'troupe_http_request_duration_seconds'
const durationHelp = 'Seconds until the answer, by operation.'

/** Requests of one operation, in plain numbers: counting one costs some nanoseconds. */
export class OperationStats {
  readonly operation: string
  readonly byStatus = new Map<number, number>()
  /** Requests per bucket, not cumulated; the last is what is above every bound. */
  readonly buckets = new Float64Array(boundsS.length + 1)
  sumS = 0
  count = 0

  constructor(operation: string) {
    this.operation = operation
  }

  /** @param seconds from the head of the request to the end of its answer, or to its head for a stream. */
  record(status: number, seconds: number): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1)
    let bucket = 0
    while (bucket < boundsS.length && seconds > (boundsS[bucket] ?? 0)) bucket++
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1
    this.sumS += seconds
    this.count++
  }
}

/** The statistics of all operations, shown as Prometheus metrics when those are read. */
export class RequestStats {
  readonly #operations = new Map<string, OperationStats>()

  constructor(registry: Registry) {
    const requests = new Counter({
      name: 'troupe_http_requests_total',
      help: 'Requests answered, by operation and status.',
      labelNames: ['operation', 'status'],
      registers: [registry],
      collect: () => {
        requests.reset()
        for (const { operation, byStatus } of this.#operations.values()) {
          for (const [status, count] of byStatus) requests.inc({ operation, status }, count)
        }
      },
    })
    registry.registerMetric(new DurationHistogram(this.#operations))
  }

  /** The statistics of one operation; keep the object. */
  of(operation: string): OperationStats {
    const known = this.#operations.get(operation)
    if (known !== undefined) return known
    const made = new OperationStats(operation)
    this.#operations.set(operation, made)
    return made
  }
}

/** Shows ready buckets: prom-client's own would have to be told of every request. */
class DurationHistogram extends Histogram<'operation'> {
  readonly #operations: ReadonlyMap<string, OperationStats>

  constructor(operations: ReadonlyMap<string, OperationStats>) {
    super({ name: durationName, help: durationHelp, registers: [] })
    this.#operations = operations
  }

  /** What prom-client itself calls to write a histogram out; its types do not show it. */
  async getForPromString() {
    const values = [...this.#operations.values()].flatMap(durationValues)
    return { name: durationName, help: durationHelp, type: 'histogram', values, aggregator: 'sum' }
  }
}

/** Labels of all lines; prom-client wants the field. */
const sharedLabels = {}

const durationValues = ({ operation, buckets, sumS, count }: OperationStats) => {
  let below = 0
  const cumulated = boundsS.map((le, at) => {
    below += buckets[at] ?? 0
    return { metricName: `${durationName}_bucket`, labels: { operation, le }, sharedLabels, value: below }
  })
  return [
    ...cumulated,
    { metricName: `${durationName}_bucket`, labels: { operation, le: '+Inf' }, sharedLabels, value: count },
    { metricName: `${durationName}_sum`, labels: { operation }, sharedLabels, value: sumS },
    { metricName: `${durationName}_count`, labels: { operation }, sharedLabels, value: count },
  ]
}
