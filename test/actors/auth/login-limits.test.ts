import { describe, expect, it } from 'vitest'
import { LoginLimits } from '../../../src/actors/auth/login-limits.ts'

const open = () => {
  const clock = { now: 0 }
  const limits = new LoginLimits(() => clock.now)
  const fail = (times: number, email = 'a@x.org', address = '10.0.0.1') => {
    for (let n = 0; n < times; n += 1) limits.attempt(email, address)
  }
  return { clock, limits, fail }
}

describe('login limits', () => {
  it('let ten attempts fail and say when the next is taken', () => {
    const { clock, fail } = open()
    fail(10)
    clock.now = 60_000
    expect(() => fail(1)).toThrow(
      expect.objectContaining({
        code: 'rate_limit_exceeded',
        details: expect.objectContaining({ retryAfterS: 840 }),
      }),
    )
  })

  it('do not care for the case of the address', () => {
    const { fail } = open()
    fail(10)
    expect(() => fail(1, 'A@X.org')).toThrow()
  })

  it('count each e-mail and each address apart', () => {
    const { fail } = open()
    fail(10)
    expect(() => fail(10, 'b@x.org')).not.toThrow()
    expect(() => fail(10, 'a@x.org', '10.0.0.2')).not.toThrow()
  })

  it('begin again after a quarter of an hour', () => {
    const { clock, fail } = open()
    fail(10)
    clock.now = 15 * 60_000
    expect(() => fail(10)).not.toThrow()
  })

  it('forget what failed before a login', () => {
    const { limits, fail } = open()
    fail(9)
    limits.succeeded('a@x.org', '10.0.0.1')
    expect(() => fail(10)).not.toThrow()
  })
})
