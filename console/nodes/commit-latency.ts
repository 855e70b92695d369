/** in ms */
export type Latency = ReturnType<typeof latencyIn>

const series = 'troupe_commit_duration_seconds'

/**
 * Latency of durable commits of a process, from the histogram in its metrics: upper bounds of the buckets that contain
 * the quantiles.
 *
 * @param metrics in Prometheus' text format
 * @returns null when the metrics have no such series, or it is empty
 */
export const latencyIn = (metrics: string) => {
  const buckets = [...metrics.matchAll(new RegExp(`^${series}_bucket\\{[^}]*le="([^"]+)"[^}]*\\} (\\d+)`, 'gm'))].map(
    ([, le, count]) => ({ seconds: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count: Number(count) }),
  )
  const commits = buckets.at(-1)?.count ?? 0
  if (commits === 0) return null
  const within = (share: number) => {
    const seconds = buckets.find(({ count }) => count >= share * commits)?.seconds ?? Number.POSITIVE_INFINITY
    return Number.isFinite(seconds) ? seconds * 1000 : null
  }
  return { commits, p50: within(0.5), p95: within(0.95), p99: within(0.99) }
}
