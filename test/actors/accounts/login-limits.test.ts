import { describe, expect, it } from 'vitest'
import { LoginLimits } from '#actors/accounts/login-limits.ts'
import { LocalLimits } from '#storage/local-limits.ts'

const minute = 60_000

const open = () => {
  const clock = { now: 1_700_000_000_000 }
  const shared = new LocalLimits({ steady: () => clock.now })
  const limits = new LoginLimits(shared)
  const fail = async (times: number, email = 'a@x.org', address = '10.0.0.1', at = limits) => {
    for (let n = 0; n < times; n += 1) await at.attempt(email, address)
  }
  return { clock, shared, limits, fail }
}

describe('login limits', () => {
  it('permit ten failed attempts, and state when the next one is permitted', async () => {
    const { clock, fail } = open()
    await fail(10)
    clock.now += minute
    await expect(fail(1)).rejects.toMatchObject({ code: 'rate_limit_exceeded', details: { retryAfterS: 14 * 60 + 10 } })
    clock.now += 14 * minute + 10_000
    await expect(fail(1)).resolves.toBeUndefined()
  })

  it('ignore the case of the e-mail', async () => {
    const { fail } = open()
    await fail(10)
    await expect(fail(1, 'A@X.org')).rejects.toThrow()
  })

  it('count each pair of e-mail and address separately', async () => {
    const { fail } = open()
    await fail(10)
    await expect(fail(10, 'b@x.org')).resolves.toBeUndefined()
    await expect(fail(10, 'a@x.org', '10.0.0.2')).resolves.toBeUndefined()
  })

  it('count the IPv6 network of one subscriber as one address', async () => {
    const { fail } = open()
    for (let n = 1; n <= 10; n += 1) await fail(1, 'a@x.org', `2001:db8:0:7::${n}`)
    await expect(fail(1, 'a@x.org', '2001:db8:0:7:ffff::1')).rejects.toThrow()
    await expect(fail(1, 'a@x.org', '2001:db8:0:8::1')).resolves.toBeUndefined()
  })

  it('stop a flood from one address over many e-mails, and no other address', async () => {
    const { fail } = open()
    for (let n = 0; n < 300; n += 1) await fail(1, `member-${n}@x.org`)
    await expect(fail(1, 'a@x.org')).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    await expect(fail(1, 'a@x.org', '10.0.0.2')).resolves.toBeUndefined()
  })

  it('are shared by all nodes', async () => {
    const { shared, fail } = open()
    await fail(6)
    await fail(4, 'a@x.org', '10.0.0.1', new LoginLimits(shared))
    await expect(fail(1)).rejects.toThrow()
  })

  it('permit ten of many concurrent attempts', async () => {
    const { limits } = open()
    const attempts = Array.from({ length: 50 }, () => limits.attempt('a@x.org', '10.0.0.1'))
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  })

  it('reveal no name or address to their store', async () => {
    const keys: string[] = []
    const limits = new LoginLimits({
      take: async (key) => {
        keys.push(key)
        return { allowed: true, remaining: 9, resetMs: 1 }
      },
      reset: async () => {},
    })
    await limits.attempt('a@x.org', '10.0.0.1')
    expect(keys).toHaveLength(2)
    expect(keys.join()).not.toMatch(/x\.org|10\.0\.0\.1/)
  })

  it('are reset by a successful login', async () => {
    const { limits, fail } = open()
    await fail(9)
    await limits.succeeded('a@x.org', '10.0.0.1')
    await expect(fail(10)).resolves.toBeUndefined()
  })
})
