import { describe, expect, it } from 'vitest'
import { latencyIn } from '../../console/nodes/commit-latency.ts'

const metrics = `# TYPE troupe_commit_duration_seconds histogram
troupe_commit_duration_seconds_bucket{le="0.005"} 60
troupe_commit_duration_seconds_bucket{le="0.025"} 96
troupe_commit_duration_seconds_bucket{le="+Inf"} 100
troupe_commit_duration_seconds_count 100
`

describe('the latency of commits', () => {
  it('is read from the histogram of a process', () => {
    expect(latencyIn(metrics)).toEqual({ commits: 100, p50: 5, p95: 25, p99: null })
  })

  it('is unknown without a histogram or without commits', () => {
    expect(latencyIn('')).toBeNull()
    expect(latencyIn(metrics.replaceAll(/ (60|96|100)$/gm, ' 0'))).toBeNull()
  })
})
