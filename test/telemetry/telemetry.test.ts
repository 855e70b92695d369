import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { Commit } from '#storage/ports.ts'
import { Telemetry } from '#telemetry/telemetry.ts'
import { readTraceparent, traceparent } from '#telemetry/trace-context.ts'
import { type EndedSpan, Tracer } from '#telemetry/tracer.ts'

const logged = () => {
  const lines: { readonly msg: string }[] = []
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { telemetry: new Telemetry(log), lines }
}

const commit = (facts: Partial<Commit>): Commit => ({
  ...{ actor: 'run_1', seq: 1, shard: 0, epoch: 1, at: 1000, project: 'prj_1', tenant: null, machine: 'run@1' },
  ...{ cause: 'c', nonce: 'n', event: { type: 'x' }, events: [], last_sequence: 0, effects: [], messages: [] },
  ...{ reminders: {}, in_flight: {}, open: false, due: null },
  ...facts,
})

const event = (event_type: string, payload: object = {}) => ({ sequence: 1, event_type, payload: { ...payload } })

describe('the telemetry of commits', () => {
  it('counts a run with its outcome and duration, and logs a failed run with its ids', () => {
    const { telemetry, lines } = logged()
    telemetry.committed(commit({ events: [event('run.queued')] }))
    expect(telemetry.queuedRuns).toBe(1)
    telemetry.committed(
      commit({ at: 3000, events: [event('run.failed', { error: { code: 'tool_failed', message: 'no' } })] }),
    )
    expect(telemetry.queuedRuns).toBe(0)
    expect(telemetry.metrics.runs.lines()).toEqual([{ labels: { outcome: 'failed' }, value: 1 }])
    expect(telemetry.metrics.runDuration.lines()[0]?.value).toMatchObject({ count: 1, sumS: 2 })
    expect(lines).toMatchObject([{ msg: 'run failed', actorId: 'run_1', project: 'prj_1', code: 'tool_failed' }])
  })

  it('counts each attempt of a webhook delivery, and logs each failed one', () => {
    const { telemetry, lines } = logged()
    const attempt = (type: string, facts: object, reminders: Commit['reminders'] = {}) =>
      telemetry.committed(commit({ machine: 'delivery@1', actor: 'whd_1', event: { type, ...facts }, reminders }))
    const backoff = { 'xstate.after.backoff.delivery.waiting': { due: 1, event: { type: 'x' }, n: 1 } }
    attempt('attempt_failed', { status: 500, error: 'http_500', final: false }, backoff)
    attempt('attempt_failed', { status: 410, error: 'http_410', final: true })
    attempt('attempt_succeeded', { status: 200 })
    const counts = telemetry.metrics.deliveries.lines().map(({ labels, value }) => [labels.outcome, value])
    expect(counts).toEqual([
      ['retried', 1],
      ['failed', 1],
      ['delivered', 1],
    ])
    expect(lines.map(({ msg }) => msg)).toEqual(['webhook not delivered, trying again', 'webhook not delivered'])
    expect(lines[1]).toMatchObject({ actorId: 'whd_1', status: 410, reason: 'http_410' })
  })
})

describe('labels', () => {
  it('beyond the maximum number of lines share one line', () => {
    const { telemetry } = logged()
    for (let at = 0; at < 2000; at++) telemetry.metrics.effects.add(1, `effect ${at}`, 'done')
    expect(telemetry.metrics.effects.lines().length).toBeLessThan(510)
    expect(telemetry.metrics.effects.line('other', 'other').value).toBeGreaterThan(1000)
  })
})

describe('a traceparent', () => {
  it('is read and written according to the W3C format', () => {
    const header = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const read = readTraceparent(header)
    expect(read).toEqual({ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', sampled: true })
    expect(read === null ? '' : traceparent(read)).toBe(header)
  })

  it.for([
    undefined,
    '',
    'nonsense',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
    'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ])('is not read from %s', (header) => expect(readTraceparent(header)).toBeNull())
})

describe('a span', () => {
  it('has the enclosing span as parent, keeps its error, and is not exported if the caller is unsampled', async () => {
    const spans: EndedSpan[] = []
    const tracer = new Tracer({ take: (span) => void spans.push(span) })
    const failing = tracer.run('outer', {}, async () => {
      await tracer.run('inner', { kind: 'client' }, async () => {})
      throw new Error('broken')
    })
    await expect(failing).rejects.toThrow('broken')
    const [inner, outer] = spans
    expect(inner).toMatchObject({ name: 'inner', parentSpanId: outer?.context.spanId, error: null })
    expect(outer).toMatchObject({ name: 'outer', parentSpanId: null, error: 'broken' })
    const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: false }
    await tracer.run('unsampled', { parent }, async () => {})
    expect(spans).toHaveLength(2)
    expect(tracer.current).toBeNull()
  })
})
