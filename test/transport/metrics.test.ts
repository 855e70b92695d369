import { describe, expect, it } from 'vitest'
import { Metrics } from '#transport/metrics.ts'
import { FakeResponse } from './http/fakes.ts'

describe('metrics', () => {
  it('show requests by operation and status, with the same values at every scrape', async () => {
    const metrics = new Metrics()
    const turns = metrics.requests.of('sessions.turns')
    turns.record(200, 0.002)
    turns.record(200, 0.02)
    metrics.requests.of('sessions.turns').record(409, 100)
    await metrics.text()
    const text = await metrics.text()
    expect(text).toContain('troupe_http_requests_total{operation="sessions.turns",status="200"} 2')
    expect(text).toContain('troupe_http_requests_total{operation="sessions.turns",status="409"} 1')
  })

  it('show durations as a cumulative histogram', async () => {
    const metrics = new Metrics()
    const turns = metrics.requests.of('a')
    for (const seconds of [0.001, 0.0011, 0.3, 1000]) turns.record(200, seconds)
    const text = await metrics.text()
    const name = 'troupe_http_request_duration_seconds'
    expect(text).toContain(`# TYPE ${name} histogram`)
    for (const [le, count] of [
      ['0.001', 1],
      ['0.0025', 2],
      ['0.25', 2],
      ['0.5', 3],
      ['60', 3],
      ['+Inf', 4],
    ]) {
      expect(text).toContain(`${name}_bucket{operation="a",le="${le}"} ${count}`)
    }
    expect(text).toContain(`${name}_count{operation="a"} 4`)
    expect(text).toContain(`${name}_sum{operation="a"} 1000.3021`)
  })

  it('read plain counters at the scrape', async () => {
    const metrics = new Metrics()
    let commits = 5
    metrics.counter('troupe_commits_total', 'Commits.', () => commits)
    metrics.streams.openStreams = 3
    metrics.streams.eventsSent = 7
    expect(await metrics.text()).toMatch(
      /troupe_open_streams 3\n[\s\S]*troupe_stream_events_total 7\n[\s\S]*troupe_commits_total 5\n/,
    )
    commits = 6
    expect(await metrics.text()).toContain('troupe_commits_total 6')
  })

  it('have the Prometheus text format, with the process and its event loop', async () => {
    const response = new FakeResponse()
    await new Metrics().answer(response)
    expect([response.status, Object.fromEntries(response.headers)['content-type']]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
    expect(response.text).toContain('nodejs_eventloop_lag_seconds')
    expect(response.text).toContain('process_resident_memory_bytes')
  })
})
