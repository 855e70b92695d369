import { Histogram } from 'prom-client'
import { boundsS, type DurationSeries, type Durations, type Labels } from '../telemetry/series.ts'

/** Shows ready buckets: prom-client's own would have to be given every value. */
export class DurationHistogram extends Histogram<string> {
  readonly #series: Pick<DurationSeries, 'name' | 'help' | 'lines'>

  constructor(series: Pick<DurationSeries, 'name' | 'help' | 'lines'>) {
    super({ name: series.name, help: series.help, registers: [] })
    this.#series = series
  }

  /** What prom-client itself calls to write a histogram out; its types do not show it. */
  async getForPromString() {
    const { name, help } = this.#series
    const values = this.#series.lines().flatMap(({ labels, value }) => valuesOf(name, labels, value))
    return { name, help, type: 'histogram', values, aggregator: 'sum' }
  }
}

/** Labels of all lines; prom-client wants the field. */
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
