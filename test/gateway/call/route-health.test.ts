import { expect, it } from 'vitest'
import { type Lease, RouteHealth } from '#gateway/call/pools/route-health.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { managedRoute } from '../ledger/calls.ts'

const unavailable = new ModelError('provider_unavailable', 'down')

it('a failing route rests for ten seconds, but not after the clock was set back', () => {
  let now = 1_700_000_000_000
  const health = new RouteHealth(() => now)
  for (let failure = 0; failure < 3; failure++) health.failed(managedRoute, unavailable)
  now += 9_999
  expect(health.rests(managedRoute)).toBe(true)
  now -= 24 * 60 * 60_000
  expect(health.rests(managedRoute)).toBe(false)
})

it('after a rest one attempt at a time tries the route, until one succeeds', () => {
  let now = 1_700_000_000_000
  const health = new RouteHealth(() => now)
  for (let failure = 0; failure < 3; failure++) health.failed(managedRoute, unavailable)
  now += 10_000
  expect(health.rests(managedRoute)).toBe(false)
  const probe = health.begin(managedRoute)
  expect(health.rests(managedRoute)).toBe(true)
  probe?.release()
  expect(health.rests(managedRoute)).toBe(false)
  health.failed(managedRoute, unavailable)
  expect(health.rests(managedRoute)).toBe(true)
  now += 10_000
  health.worked(managedRoute)
  health.failed(managedRoute, unavailable)
  expect(health.rests(managedRoute)).toBe(false)
})

it.each([
  ['whose answer has begun', (probe: Lease | null) => probe?.answered(), 0],
  ['that waits for an answer for ten seconds', () => undefined, 10_000],
])('an attempt after a rest %s keeps no other from trying the route', (_, proceed, ms) => {
  let now = 1_700_000_000_000
  const health = new RouteHealth(() => now)
  for (let failure = 0; failure < 3; failure++) health.failed(managedRoute, unavailable)
  now += 10_000
  const probe = health.begin(managedRoute)
  expect(health.rests(managedRoute)).toBe(true)
  proceed(probe)
  now += ms
  expect(health.rests(managedRoute)).toBe(false)
  const second = health.begin(managedRoute)
  probe?.release()
  expect(health.rests(managedRoute)).toBe(true)
  second?.release()
})

it('a rate limit rests a key of a pool for the wait that its provider names, and no other route', () => {
  let now = 1_700_000_000_000
  const health = new RouteHealth(() => now)
  const pooled = { ...managedRoute, pool: { strategy: 'weighted', sticky: true } } as const
  const limited = new ModelError('provider_rate_limited', 'slow', { retryAfterMs: 7_000 })
  for (const route of [pooled, managedRoute]) health.failed(route, limited)
  expect(health.rests(managedRoute)).toBe(false)
  now += 6_999
  expect(health.rests(pooled)).toBe(true)
  now += 1
  expect(health.rests(pooled)).toBe(false)
})
