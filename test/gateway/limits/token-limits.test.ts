import { describe, expect, it } from 'vitest'
import { callerOf, project } from '../ledger/calls.ts'
import { limit, openLimited, requestOf } from './limited.ts'
import { allowed, code, world } from './limited-world.ts'

describe('a limit of tokens per minute', () => {
  const needing = (max: number, min?: number) => requestOf({ tokens: () => ({ max, min }) })

  it('refuses the next call when earlier calls have used up the tokens', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { tokens_per_minute: 20 })
    for (let n = 0; n < 2; n++) {
      const ticket = await admission.admit(needing(10))
      ticket.settle('0', 10)
      await clock.advance(1)
    }
    await expect(admission.admit(requestOf())).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      details: { headers: expect.arrayContaining([['x-ratelimit-remaining-tokens', '0']]) },
    })
    await clock.leap(62_000)
    await admission.admit(requestOf())
  })

  it('holds what parallel calls may use: they exceed it by at most one call', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { tokens_per_minute: 1_000 })
    const tickets = await allowed(Array.from({ length: 100 }, () => admission.admit(needing(300))))
    expect(tickets).toHaveLength(4)
    for (const ticket of tickets) ticket.settle('0', 50)
    await clock.advance(1)
    expect(await allowed(Array.from({ length: 100 }, () => admission.admit(needing(300))))).toHaveLength(3)
  })

  it('gets back what a call did not use, and everything from a failed one, once', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { tokens_per_minute: 1_000 })
    const left = async () => {
      const { headers, settle } = await admission.admit(needing(0))
      settle('0', 0)
      return new Map(headers).get('x-ratelimit-remaining-tokens')
    }
    const [one, two] = [await admission.admit(needing(400)), await admission.admit(needing(400))]
    expect(await left()).toBe('200')
    for (let times = 0; times < 2; times++) one.settle('0', 0)
    two.settle(null, 30)
    await clock.advance(1)
    expect(await left()).toBe('970')
  })

  it.each([1e300, Number.POSITIVE_INFINITY, -1e6])(
    'keeps what others used beside a call that wants %s',
    async (max) => {
      const { admission, records, clock } = await world()
      await limit(records, clock, { tokens_per_minute: 1_000 })
      const one = await admission.admit(needing(400))
      one.settle('0', 400)
      await clock.advance(0)
      const other = await admission.admit(needing(max))
      other.settle('0', 0)
      await clock.advance(0)
      const { headers } = await admission.admit(needing(0))
      expect(new Map(headers).get('x-ratelimit-remaining-tokens')).toBe('600')
    },
  )

  it('gets back the tokens of a call that another limit or budget refuses', async () => {
    const { admission, records, clock, limits, book } = await world()
    await limit(records, clock, { subject: 'key', subject_id: 'key_1', tokens_per_minute: 1_000 })
    await limit(records, clock, { tokens_per_minute: 2_000, requests_per_minute: 2, budget_total_usd: '1.5' })
    const left = async () => (await limits.take(`tokens:${id}`, { limit: 1_000, windowMs: 60_000 }, 0)).remaining
    const { bySubject } = await book.of(project)
    const id = bySubject?.get('key:key_1')?.id
    await admission.admit(needing(100))
    await expect(admission.admit(needing(100))).rejects.toEqual(code('budget_exceeded'))
    await expect(admission.admit(needing(100))).rejects.toEqual(code('rate_limit_exceeded'))
    expect(await left()).toBe(900)
  })

  it('applies to the key, the tenant and the project at the same time', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { subject: 'key', subject_id: 'key_1', tokens_per_minute: 1_000 })
    await limit(records, clock, { subject: 'tenant', subject_id: 'ten_a', tokens_per_minute: 500 })
    await limit(records, clock, { tokens_per_minute: 5_000 })
    const as = (keyId: string, tenant: string | null) =>
      allowed(
        Array.from({ length: 50 }, () => admission.admit({ ...needing(250), caller: callerOf({ keyId, tenant }) })),
      )
    expect(await as('key_1', 'ten_a')).toHaveLength(2)
    expect(await as('key_1', null)).toHaveLength(2)
    expect(await as('key_2', null)).toHaveLength(16)
  })

  it('limits the answer of a call without a limit of its own to an eighth of what is left, but not below its least', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { tokens_per_minute: 100_000 })
    const limitedTo: (number | undefined)[] = []
    for (const min of [4_000, 4_000, 35_000, 60_000, 4_000]) {
      const ticket = await Promise.resolve(admission.admit(needing(128_000, min))).catch(() => null)
      limitedTo.push(ticket === null ? 0 : ticket.limitedToTokens)
    }
    // the last one is not limited, because fewer tokens than its least are left
    expect(limitedTo).toEqual([12_500, 10_937, 35_000, undefined, 0])
  })

  it('holds the tokens of a long call until it ends, and those of a killed process for a minute', async () => {
    const { admission, records, clock, limits } = await world()
    await limit(records, clock, { tokens_per_minute: 1_000 })
    const ticket = await admission.admit(needing(1_000))
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(59_000)
      await expect(admission.admit(needing(1))).rejects.toEqual(code('rate_limit_exceeded'))
    }
    ticket.settle('0', 10)
    await clock.advance(1)
    const next = await admission.admit(needing(990))
    next.settle('0', 0)
    await clock.advance(1)
    const { now, steady, soon } = clock
    const dead = await openLimited(records, { now, steady, soon, after: () => () => {} }, { limits })
    await dead.admission.admit(needing(990))
    await expect(admission.admit(needing(1))).rejects.toEqual(code('rate_limit_exceeded'))
    await clock.advance(62_000)
    await admission.admit(needing(1_000))
  })
})
