import { describe, expect, it } from 'vitest'
import { type AttemptCounts, AttemptGate, type AttemptLimits } from '#actors/webhooks/attempt-gate.ts'

const roomy: AttemptCounts = { ofWebhook: 1_000, ofProject: 1_000, ofNode: 1_000 }

/** A gate with a clock that a test moves. */
const gateOf = (running: AttemptLimits['running'], waiting = roomy) => {
  const clock = { ms: 0 }
  return { gate: new AttemptGate({ running, waiting }, { steady: () => clock.ms, random: () => 0 }), clock }
}

const never = new AbortController().signal

const tracked = (gate: AttemptGate) => {
  const begun: string[] = []
  const attempt = (webhook: string, name: string, { signal = never, project = 'prj_a' } = {}) => {
    const end = Promise.withResolvers<void>()
    const done = gate.run({ webhook, project }, signal, async () => {
      begun.push(name)
      await end.promise
      return name
    })
    return { end: end.resolve, done }
  }
  return { begun, attempt }
}

it('limits the concurrent attempts of one webhook, in order, without blocking other webhooks', async () => {
  const { begun, attempt } = tracked(gateOf({ ofWebhook: 2, ofProject: 9 }).gate)
  const slow = ['a1', 'a2', 'a3', 'a4'].map((name) => attempt('whk_a', name))
  const other = attempt('whk_b', 'b1')
  await Promise.resolve()
  other.end()
  expect(await other.done).toBe('b1')
  expect(begun).toEqual(['a1', 'a2', 'b1'])
  slow[1]?.end()
  await slow[1]?.done
  slow[0]?.end()
  await slow[0]?.done
  slow[2]?.end()
  slow[3]?.end()
  expect(await slow[3]?.done).toBe('a4')
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})

it('skips an attempt that was aborted while it waited', async () => {
  const { begun, attempt } = tracked(gateOf({ ofWebhook: 1, ofProject: 9 }).gate)
  const given = new AbortController()
  const first = attempt('whk_a', 'first')
  const second = attempt('whk_a', 'second', { signal: given.signal })
  const third = attempt('whk_a', 'third')
  given.abort()
  first.end()
  third.end()
  expect(await second.done).toBeUndefined()
  expect(await third.done).toBe('third')
  expect(begun).toEqual(['first', 'third'])
})

it('releases its place when an attempt throws', async () => {
  const gate = gateOf({ ofWebhook: 1, ofProject: 9 }).gate
  await expect(
    gate.run({ webhook: 'whk_a', project: 'prj_a' }, never, () => Promise.reject(new Error('store away'))),
  ).rejects.toThrow('store away')
  expect(await gate.run({ webhook: 'whk_a', project: 'prj_a' }, never, async () => 'next')).toBe('next')
})

it('releases attempts at once that are aborted while they wait', async () => {
  const { begun, attempt } = tracked(gateOf({ ofWebhook: 1, ofProject: 9 }).gate)
  const given = new AbortController()
  const first = attempt('whk_a', 'first')
  const waiting = Array.from({ length: 100 }, () => attempt('whk_a', 'waiting', { signal: given.signal }))
  given.abort()
  expect(await Promise.all(waiting.map(({ done }) => done))).toEqual(waiting.map(() => undefined))
  expect(begun).toEqual(['first'])
  first.end()
  expect(await first.done).toBe('first')
})

it('limits the concurrent attempts of one project, without blocking other projects', async () => {
  const { begun, attempt } = tracked(gateOf({ ofWebhook: 2, ofProject: 3 }).gate)
  const slow = ['a', 'b', 'c', 'd'].map((name) => attempt(`whk_${name}`, name))
  const other = attempt('whk_e', 'other', { project: 'prj_b' })
  other.end()
  expect(await other.done).toBe('other')
  expect(begun).toEqual(['a', 'b', 'c', 'other'])
  slow[0]?.end()
  slow[3]?.end()
  expect(await slow[3]?.done).toBe('d')
})

describe('a full line', () => {
  it('postpones further attempts, each longer than the one before, and serves other webhooks', async () => {
    const { gate } = gateOf({ ofWebhook: 1, ofProject: 9 }, { ...roomy, ofWebhook: 2 })
    const { begun, attempt } = tracked(gate)
    const first = attempt('whk_a', 'first')
    const second = attempt('whk_a', 'second')
    const third = attempt('whk_a', 'third')
    expect(await attempt('whk_a', 'fourth').done).toEqual({ delayMs: 3_000 })
    expect(await attempt('whk_a', 'fifth').done).toEqual({ delayMs: 4_000 })
    const other = attempt('whk_b', 'other')
    for (const { end } of [first, second, third, other]) end()
    expect(await Promise.all([first, second, third, other].map(({ done }) => done))).toEqual([
      ...['first', 'second', 'third', 'other'],
    ])
    expect(begun).not.toContain('fourth')
    expect(gate.waiting).toBe(0)
  })

  it.each([
    ['of one project', { ...roomy, ofProject: 2 }, 'prj_a', 'prj_b'],
    ['of the node', { ...roomy, ofNode: 2 }, 'prj_b', null],
  ])('can also be one %s', async (_, lines, full, free) => {
    const { attempt } = tracked(gateOf({ ofWebhook: 1, ofProject: 9 }, lines).gate)
    const held = ['whk_a', 'whk_b'].flatMap((webhook) => [attempt(webhook, 'runs'), attempt(webhook, 'waits')])
    attempt('whk_c', 'runs', { project: full }).end()
    expect(await attempt('whk_a', 'postponed', { project: 'prj_a' }).done).toMatchObject({
      delayMs: expect.any(Number),
    })
    if (free !== null) {
      const runs = attempt('whk_d', 'runs', { project: free })
      const waits = attempt('whk_d', 'waits', { project: free })
      for (const { end } of [runs, waits]) end()
      expect(await waits.done).toBe('waits')
    }
    for (const { end } of held) end()
    expect(await Promise.all(held.map(({ done }) => done))).toEqual(['runs', 'waits', 'runs', 'waits'])
  })

  it('postpones attempts according to the pace of the endpoint, at most for an hour', async () => {
    const { gate, clock } = gateOf({ ofWebhook: 1, ofProject: 9 }, { ...roomy, ofWebhook: 1 })
    const { attempt } = tracked(gate)
    let runs = attempt('whk_a', 'runs')
    for (let ended = 0; ended < 40; ended++) {
      const next = attempt('whk_a', 'next')
      clock.ms += 15_000
      runs.end()
      await runs.done
      while (gate.waiting > 0) await Promise.resolve()
      runs = next
    }
    const waits = attempt('whk_a', 'waits')
    const delays: number[] = []
    for (let postponed = 0; postponed < 1_000; postponed++) {
      const outcome = await attempt('whk_a', 'postponed').done
      delays.push(typeof outcome === 'object' ? outcome.delayMs : 0)
    }
    expect(delays[0]).toBeGreaterThan(29_000)
    expect(delays[9]).toBeGreaterThan(160_000)
    expect(Math.max(...delays)).toBe(60 * 60_000)
    for (const { end } of [runs, waits]) end()
    await waits.done
  })
})
