import { Histogram } from 'prom-client'
import { boundsS, type DurationSeries, type Durations, type Labels } from '../telemetry/series.ts'

/** Exposes buckets that are counted elsewhere; prom-client's own histogram would have to observe every value. */
export class DurationHistogram extends Histogram<string> {
  readonly #series: Pick<DurationSeries, 'name' | 'help' | 'lines'>

  constructor(series: Pick<DurationSeries, 'name' | 'help' | 'lines'>) {
    super({ name: series.name, help: series.help, registers: [] })
    this.#series = series
  }

  /** Called by prom-client to write a histogram; its types do not declare it. */
  async getForPromString() {
    const { name, help } = this.#series
    const values = this.#series.lines().flatMap(({ labels, value }) => valuesOf(name, labels, value))
    return { name, help, type: 'histogram', values, aggregator: 'sum' }
  }
}

/** Labels of all lines; prom-client requires the field. */
const sharedLabels = {}

const valuesOf = (name: string, labels: Labels, { buckets, sumS, count }: Durations) => {
  let below = 0
  const cumulated = boundsS.map((le, at) => {
    below += buckets[at] ?? 0
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, sharedLabels, value: below }
  })
  return [
    ...cumulated,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, sharedLabels, value: count },
    { metricName: `${name}_sum`, labels, sharedLabels, value: sumS },
    { metricName: `${name}_count`, labels, sharedLabels, value: count },
  ]
}
