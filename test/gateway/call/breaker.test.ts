import { expect, it } from 'vitest'
import { Breaker } from '#gateway/call/breaker.ts'
import { managedRoute } from '../ledger/calls.ts'

it('a failing route rests for ten seconds, but not after the clock was set back', () => {
  let now = 1_700_000_000_000
  const breaker = new Breaker(() => now)
  for (let failure = 0; failure < 3; failure++) breaker.failed(managedRoute, 'provider_unavailable')
  now += 9_999
  expect(breaker.rests(managedRoute)).toBe(true)
  now -= 24 * 60 * 60_000
  expect(breaker.rests(managedRoute)).toBe(false)
})
