import { describe, expect, it } from 'vitest'
import { grantOf } from '#actors/connections/oauth/grant-event.ts'

const at = Date.UTC(2026, 0, 1)
const granted = (said: { readonly expiresInS?: number | null; readonly scope?: string }) => {
  const answer = { accessToken: 'a', refreshToken: 'r', expiresInS: null, scope: null, answer: {}, ...said }
  return grantOf({ answer, before: null, generation: 1, type: undefined, at }).event
}

describe('what a provider says of a token', () => {
  it.each([1e15, 1e300, Number.MAX_VALUE])(
    'is a time that can be shown, however long its life is said to be: %d s',
    (s) => {
      const { expires_at_ms } = granted({ expiresInS: s })
      expect(new Date(expires_at_ms ?? Number.NaN).getUTCFullYear()).toBe(2035)
    },
  )

  it.each([0, 1e-9, 1, 4])('lets it be refreshed no sooner than after five seconds: a life of %d s', (s) => {
    expect(granted({ expiresInS: s }).refresh_in_ms).toBe(5_000)
  })

  it('lets it be refreshed five minutes before its end', () => {
    expect(granted({ expiresInS: 3600 }).refresh_in_ms).toBe(3_300_000)
  })

  it('keeps as many and as long scopes as may be requested', () => {
    const scopes = granted({ scope: `${'x'.repeat(257)} ${'a b,'.repeat(60_000)}` }).granted_scopes
    expect(scopes).toHaveLength(100)
    expect(scopes?.slice(0, 2)).toEqual(['a', 'b'])
  })
})
