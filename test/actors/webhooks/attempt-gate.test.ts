import { expect, it } from 'vitest'
import { AttemptGate } from '#actors/webhooks/attempt-gate.ts'

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

it('runs so many attempts of one webhook at a time, in order, and holds up no other webhook', async () => {
  const { begun, attempt } = tracked(new AttemptGate({ ofWebhook: 2, ofProject: 9 }))
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

it('passes over an attempt that was given up while it waited', async () => {
  const { begun, attempt } = tracked(new AttemptGate({ ofWebhook: 1, ofProject: 9 }))
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

it('gives its place back when an attempt throws', async () => {
  const gate = new AttemptGate({ ofWebhook: 1, ofProject: 9 })
  await expect(
    gate.run({ webhook: 'whk_a', project: 'prj_a' }, never, () => Promise.reject(new Error('store away'))),
  ).rejects.toThrow('store away')
  expect(await gate.run({ webhook: 'whk_a', project: 'prj_a' }, never, async () => 'next')).toBe('next')
})

it('lets go at once of an attempt that is given up while it waits', async () => {
  const { begun, attempt } = tracked(new AttemptGate({ ofWebhook: 1, ofProject: 9 }))
  const given = new AbortController()
  const first = attempt('whk_a', 'first')
  const waiting = Array.from({ length: 100 }, () => attempt('whk_a', 'waiting', { signal: given.signal }))
  given.abort()
  expect(await Promise.all(waiting.map(({ done }) => done))).toEqual(waiting.map(() => undefined))
  expect(begun).toEqual(['first'])
  first.end()
  expect(await first.done).toBe('first')
})

it('runs so many attempts of one project at a time, and holds up no other project', async () => {
  const { begun, attempt } = tracked(new AttemptGate({ ofWebhook: 2, ofProject: 3 }))
  const slow = ['a', 'b', 'c', 'd'].map((name) => attempt(`whk_${name}`, name))
  const other = attempt('whk_e', 'other', { project: 'prj_b' })
  other.end()
  expect(await other.done).toBe('other')
  expect(begun).toEqual(['a', 'b', 'c', 'other'])
  slow[0]?.end()
  slow[3]?.end()
  expect(await slow[3]?.done).toBe('d')
})
