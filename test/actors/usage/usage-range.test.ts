import { expect, it } from 'vitest'
import { rangeOf } from '#actors/usage/usage-range.ts'

const now = Date.UTC(2026, 5, 30, 12)
const dayMs = 24 * 60 * 60 * 1000

it('a usage range covers the last 30 days by default, including this moment', () => {
  expect(rangeOf({}, now)).toEqual({ fromMs: now + 1 - 30 * dayMs, toMs: now + 1 })
})

it('a usage range of some days ends at its end time', () => {
  const to = '2026-02-01T00:00:00Z'
  expect(rangeOf({ days: 31, to }, now)).toEqual({ fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 1, 1) })
})

it('a usage range from a time ends now, or at another time', () => {
  const from = '2026-01-01T01:00:00+01:00'
  expect(rangeOf({ from }, now)).toEqual({ fromMs: Date.UTC(2026, 0, 1), toMs: now + 1 })
  expect(rangeOf({ from, to: '2026-01-02T00:00:00Z' }, now).toMs).toBe(Date.UTC(2026, 0, 2))
  const january = { fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 1, 1) }
  expect(rangeOf({ from: '2026-01-01', to: '2026-02-01' }, now)).toEqual(january)
})

it.each([
  [{ days: 3, from: '2026-01-01T00:00:00Z' }, 'days'],
  [{ from: '2026-01-02T00:00:00Z', to: '2026-01-02T00:00:00Z' }, 'from'],
  [{ from: '2027-01-02T00:00:00Z' }, 'from'],
  [{ from: '2020-01-01T00:00:00Z' }, 'from'],
  [{ to: '2026-06-30T23:59:60Z' }, 'to'],
])('a usage range of %j is refused with the name of the parameter', (query, param) => {
  expect(() => rangeOf(query, now)).toThrow(
    expect.objectContaining({ code: 'invalid_query', details: expect.objectContaining({ param }) }),
  )
})
