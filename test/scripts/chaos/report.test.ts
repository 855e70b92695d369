import { describe, expect, it } from 'vitest'
import { judgeFigures, judgeInterrupted, type Outcome, reportOf, takeoverMaxMs } from '#scripts/chaos/report.ts'
import { quantile } from '#scripts/chaos/takeovers.ts'
import { call, evidence, gated, logOf, session } from './samples.ts'

const outcome: Outcome = {
  seed: 7,
  nodes: 3,
  seconds: 140,
  done: { kill: 24, pause: 3, restart: 2, redis: 2, mongod: 3, cut_mongod: 2, cut_redis: 2, cut_peers: 1 },
  takeoversMs: [900, 1200, 5000],
  restartsMs: [700, 900],
  calmTakeoversMs: [900, 1200],
  calmRestartsMs: [700],
  rows: 12,
  counts: { requests: 100, unavailable: 3, silent: 2, broken: 5 },
  evidence: evidence({ sessions: [session()], gated: [gated()], toolCalls: [call('k')] }),
  problems: [],
}

describe('the report', () => {
  it('has the disturbances, the durations of takeovers and the result', () => {
    const text = reportOf(outcome).join('\n')
    expect(text).toContain('24 nodes killed, 3 paused, 2 restarted')
    expect(text).toContain('takeovers  3, p50 1200 ms, max 5000 ms')
    expect(text).toContain('with nothing else disturbed 2, p50 1200 ms, max 1200 ms')
    expect(text).toContain('100, 10 retries')
    expect(text.endsWith('lost 0, doubled 0, otherwise broken 0')).toBe(true)
  })

  it('lists the problems up to a limit, and counts all', () => {
    const lost = Array.from({ length: 50 }, (_, at) => ({ kind: 'lost', what: `turn ${at}` }) as const)
    const lines = reportOf({ ...outcome, problems: [...lost, { kind: 'doubled', what: 'a tool' }] })
    expect(lines).toContain('LOST turn 0')
    expect(lines).toContain('… and 11 more')
    expect(lines.at(-1)).toBe('lost 50, doubled 1, otherwise broken 0')
  })
})

describe('takeovers', () => {
  it('are in time if half of them are', () => {
    expect(judgeFigures(3, [100, 200, 60_000])).toEqual([])
    expect(judgeFigures(3, [100, takeoverMaxMs, 60_000])).toMatchObject([{ kind: 'broken' }])
  })

  it('are required if a node was killed', () => {
    expect(judgeFigures(1, [])).toMatchObject([{ kind: 'broken' }])
    expect(judgeFigures(0, [])).toEqual([])
  })

  it('are ranked by size for quantiles', () => {
    expect(quantile([30, 10, 20], 0.5)).toBe(20)
    expect(quantile([], 0.5)).toBe(0)
    expect(quantile([1, 2], 1)).toBe(2)
  })
})

describe('interrupted turns', () => {
  const cut = session({
    log: logOf([
      ['turn.started', { turn_number: 1, model: 'm', input_text: 'What is q1z?' }],
      ['turn.failed', { turn_number: 1, error: { code: 'interrupted' } }],
    ]),
  })
  const none = { kill: 0, pause: 0, restart: 0, redis: 0, mongod: 0, cut_mongod: 0, cut_redis: 0, cut_peers: 0 }

  it('are problems if only stores were killed', () => {
    expect(judgeInterrupted({ ...none, mongod: 3, redis: 2 }, evidence({ sessions: [cut] }))).toMatchObject([
      { kind: 'broken', what: '1 turns were interrupted although no node was touched' },
    ])
    expect(judgeInterrupted({ ...none, mongod: 3 }, evidence({ sessions: [session()] }))).toEqual([])
  })

  it('are expected if a node was killed', () => {
    expect(judgeInterrupted({ ...none, mongod: 3, kill: 1 }, evidence({ sessions: [cut] }))).toEqual([])
  })
})
