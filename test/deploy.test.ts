import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ProductMetrics } from '../src/telemetry/product-metrics.ts'

const product = new ProductMetrics()

/** Every metric of ours: the product's, and those that src/transport names. */
const known = new Set([
  ...product.counters.map(({ name }) => name),
  ...product.durations.flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]),
  ...[
    'src/transport/product-gauges.ts',
    'src/transport/open-transport.ts',
    'src/transport/metrics.ts',
    'src/transport/request-stats.ts',
  ]
    .flatMap((file) => readFileSync(file, 'utf8').match(/troupe_[a-z_]+/g) ?? [])
    .flatMap((name) => [name, `${name}_bucket`]),
])

it.for(['deploy/grafana/troupe.json', 'deploy/prometheus/troupe-alerts.yml'])(
  '%s names only metrics that the server has',
  (file) => {
    const named = new Set(readFileSync(file, 'utf8').match(/troupe_[a-z_]+/g) ?? [])
    expect(named.size).toBeGreaterThan(8)
    expect([...named].filter((name) => !known.has(name))).toEqual([])
  },
)

it('nginx passes no metrics on', () => {
  const [, location] = /location = \/metrics \{([^}]*)\}/.exec(readFileSync('deploy/nginx.conf', 'utf8')) ?? []
  expect(location?.trim()).toBe('return 404;')
})
