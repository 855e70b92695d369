import { describe, expect, it } from 'vitest'
import { grantOf } from '#actors/connections/oauth/grant-event.ts'

const at = Date.UTC(2026, 0, 1)
const granted = (said: { readonly expiresInS?: number | null; readonly scope?: string }) => {
  const answer = { accessToken: 'a', refreshToken: 'r', expiresInS: null, scope: null, answer: {}, ...said }
  return grantOf({ answer, before: null, generation: 1, type: undefined, at }).event
}

describe('the grant of a token', () => {
  it.each([1e15, 1e300, Number.MAX_VALUE])('has a valid expiry time for a lifetime of %d s', (s) => {
    const { expires_at_ms } = granted({ expiresInS: s })
    expect(new Date(expires_at_ms ?? Number.NaN).getUTCFullYear()).toBe(2035)
  })

  it.each([0, 1e-9, 1, 4])('is refreshed after five seconds at the earliest, for a lifetime of %d s', (s) => {
    expect(granted({ expiresInS: s }).refresh_in_ms).toBe(5_000)
  })

  it('is refreshed five minutes before its end', () => {
    expect(granted({ expiresInS: 3600 }).refresh_in_ms).toBe(3_300_000)
  })

  it('keeps at most 100 scopes of limited length', () => {
    const scopes = granted({ scope: `${'x'.repeat(257)} ${'a b,'.repeat(60_000)}` }).granted_scopes
    expect(scopes).toHaveLength(100)
    expect(scopes?.slice(0, 2)).toEqual(['a', 'b'])
  })
})
