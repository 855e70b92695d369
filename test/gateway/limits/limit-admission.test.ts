import { describe, expect, it } from 'vitest'
import { budgetCounters, credits } from '#gateway/limits/kinds.ts'
import { counterId } from '#gateway/limits/limit-admission.ts'
import { creditsId } from '#gateway/limits/limit-cache.ts'
import { Table } from '#records/table.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { organizationScope } from '#storage/scope.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { callerOf } from '../ledger/calls.ts'
import { limit, openLimited, organization, requestOf } from './limited.ts'
import { allowed, code, world } from './limited-world.ts'

describe('a caller without limits', () => {
  it('is admitted synchronously and without the store once its limits are known', async () => {
    const { admission, records } = await world()
    await admission.admit(requestOf())
    const away = () => Promise.reject(new StoreUnavailable('not to be asked'))
    Object.assign(records, { get: away, list: away, find: away })
    const ticket = admission.admit(requestOf())
    expect(ticket).not.toBeInstanceOf(Promise)
    expect(ticket).toMatchObject({ headers: [] })
  })

  it('is admitted without an estimate of the cost', async () => {
    const { admission } = await world()
    const maxUsd = () => {
      throw new Error('not to be asked')
    }
    await expect(admission.admit(requestOf({ maxUsd }))).resolves.toBeDefined()
  })
})

describe('a limit of requests per minute', () => {
  it('admits that many requests and reports the remaining ones and the retry delay', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { requests_per_minute: 3 })
    const left: (string | undefined)[] = []
    for (let n = 0; n < 3; n++) {
      const { headers } = await admission.admit(requestOf())
      left.push(new Map(headers).get('x-ratelimit-remaining-requests'))
    }
    expect(left).toEqual(['2', '1', '0'])
    const refusal = await Promise.resolve(admission.admit(requestOf())).catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      code: 'rate_limit_exceeded',
      details: {
        retryAfterS: expect.any(Number),
        headers: expect.arrayContaining([
          ['x-ratelimit-limit-requests', '3'],
          ['x-ratelimit-remaining-requests', '0'],
        ]),
      },
    })
    await clock.leap(62_000)
    await expect(admission.admit(requestOf())).resolves.toBeDefined()
  })

  it('reports a retry delay of at most the window', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { requests_per_minute: 1 })
    for (const ms of [0, 1, 499, 999, 1_000]) {
      await clock.leap(62_000 + ms)
      await admission.admit(requestOf())
      const refusal = await Promise.resolve(admission.admit(requestOf())).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ details: { retryAfterS: 60 } })
      expect(refusal).toMatchObject({
        details: { headers: expect.arrayContaining([['x-ratelimit-reset-requests', '60s']]) },
      })
    }
  })

  it('applies to each key, tenant and project separately', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { subject: 'key', subject_id: 'key_1', requests_per_minute: 1 })
    await limit(records, clock, { subject: 'tenant', subject_id: 'ten_a', requests_per_minute: 2 })
    const as = (keyId: string, tenant: string | null) =>
      admission.admit(requestOf({ caller: callerOf({ keyId, tenant }) }))
    await as('key_1', 'ten_a')
    await expect(as('key_1', 'ten_b')).rejects.toEqual(code('rate_limit_exceeded'))
    await as('key_2', 'ten_a')
    await expect(as('key_2', 'ten_a')).rejects.toEqual(code('rate_limit_exceeded'))
    await as('key_2', 'ten_b')
    await as('key_2', null)
  })

  it('does not apply to another project', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { requests_per_minute: 1 })
    const other = () => admission.admit(requestOf({ caller: callerOf({ project: 'prj_other' }) }))
    for (let n = 0; n < 3; n++) expect((await other()).headers).toEqual([])
    await admission.admit(requestOf())
    await expect(admission.admit(requestOf())).rejects.toEqual(code('rate_limit_exceeded'))
  })
})

describe('a budget', () => {
  it('admits only what it can pay in the worst case', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { budget_total_usd: '5' })
    const tickets = await allowed(Array.from({ length: 20 }, () => admission.admit(requestOf())))
    expect(tickets).toHaveLength(5)
    await expect(admission.admit(requestOf())).rejects.toEqual(code('budget_exceeded'))
  })

  it('limits a call to half of the remaining budget while that covers its minimum', async () => {
    const { admission, records, clock, counter } = await world()
    const wide = await limit(records, clock, { budget_total_usd: '100' })
    const id = await limit(records, clock, { subject: 'tenant', subject_id: 'ten_a', budget_total_usd: '0.8' })
    const admit = () => admission.admit(requestOf({ caller: callerOf({ tenant: 'ten_a' }), minUsd: () => '0.15' }))
    const limited = [await admit(), await admit(), await admit()]
    expect(limited.map(({ limitedToUsd }) => limitedToUsd)).toEqual(['0.4', '0.2', '0.15'])
    await expect(admit()).rejects.toEqual(code('budget_exceeded'))
    for (const ticket of limited) ticket.settle('0.1', 0)
    await admission.flush()
    expect(await counter(id)).toMatchObject({ total_usd: '0.3' })
    expect(await counter(wide)).toMatchObject({ total_usd: '0.3' })
    expect(Object.values((await counter(wide))?.held ?? {})).toMatchObject([{ usd: '0' }])
    expect((await admission.admit(requestOf({ minUsd: () => '0.15' }))).limitedToUsd).toBeUndefined()
  })

  it('is credited with the difference to the actual cost', async () => {
    const { admission, records, clock, counter } = await world()
    const id = await limit(records, clock, { budget_total_usd: '1' })
    const ticket = await admission.admit(requestOf())
    ticket.settle('0.25', 0)
    ticket.settle('0.25', 0)
    await admission.flush()
    expect(await counter(id)).toMatchObject({ total_usd: '0.25', day_usd: '0.25' })
    await expect(admission.admit(requestOf({ maxUsd: () => '0.76' }))).rejects.toEqual(code('budget_exceeded'))
    await admission.admit(requestOf({ maxUsd: () => '0.75' }))
  })

  it('counts an unknown cost as the maximum cost', async () => {
    const { admission, records, clock, counter } = await world()
    const id = await limit(records, clock, { budget_total_usd: '1' })
    const ticket = await admission.admit(requestOf({ maxUsd: () => '0.4' }))
    ticket.settle(null, 0)
    await admission.flush()
    expect(await counter(id)).toMatchObject({ total_usd: '0.4' })
  })

  it('of a day or a month starts again in UTC', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { budget_day_usd: '1', budget_month_usd: '2' })
    const spend = async () => (await admission.admit(requestOf())).settle('1', 0)
    await spend()
    await admission.flush()
    await expect(spend()).rejects.toMatchObject({ message: expect.stringContaining('this day') })
    await clock.leap(24 * 60 * 60 * 1000)
    await spend()
    await admission.flush()
    await clock.leap(24 * 60 * 60 * 1000)
    await expect(spend()).rejects.toMatchObject({ message: expect.stringContaining('this month') })
    await clock.leap(31 * 24 * 60 * 60 * 1000)
    await spend()
  })

  it('applies together with all other budgets of a call, and reserves nothing when one refuses', async () => {
    const { admission, records, clock, counter } = await world()
    const wide = await limit(records, clock, { budget_total_usd: '100' })
    const key = await limit(records, clock, { subject: 'key', subject_id: 'key_1', budget_total_usd: '100' })
    const tenant = await limit(records, clock, { subject: 'tenant', subject_id: 'ten_a', budget_total_usd: '0.5' })
    const caller = callerOf({ tenant: 'ten_a' })
    await expect(admission.admit(requestOf({ caller }))).rejects.toEqual(code('budget_exceeded'))
    await admission.flush()
    const holds = Object.values((await counter(key))?.held ?? {})
    expect(holds).toMatchObject([{ usd: '0' }])
    expect(await counter(wide)).toBeUndefined()
    expect(await counter(tenant)).toMatchObject({ total_usd: '0' })
  })

  it('refuses a managed model without a known price, and ignores calls with other keys', async () => {
    const { admission, records, clock, counter } = await world()
    const id = await limit(records, clock, { budget_total_usd: '1' })
    const unknown = { maxUsd: () => null }
    await expect(admission.admit(requestOf(unknown))).rejects.toEqual(code('price_unknown'))
    for (const source of ['byok', 'custom', 'simulated'] as const) {
      const ticket = await admission.admit(requestOf({ ...unknown, source }))
      ticket.settle(null, 0)
    }
    expect(await counter(id)).toBeUndefined()
  })

  it('is shared by all processes, and the reservations of a dead process expire', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { budget_total_usd: '10' })
    // Its clock stands still from now on, so that it sends no further sign of life.
    const { admission: dying } = await openLimited(records, new VirtualClock(clock.now()))
    const max = (calls: typeof admission) => allowed(Array.from({ length: 60 }, () => calls.admit(requestOf())))
    for (let n = 0; n < 4; n++) await dying.admit(requestOf())
    expect(await max(admission)).toHaveLength(6)
    await clock.advance(50_000)
    expect(await max(admission)).toHaveLength(0)
    await clock.advance(11_000)
    expect(await max(admission)).toHaveLength(4)
  })

  it('keeps the reservation of a long call', async () => {
    const { admission, records, clock } = await world()
    await limit(records, clock, { budget_total_usd: '1' })
    const ticket = await admission.admit(requestOf())
    await clock.advance(10 * 60_000)
    const other = await openLimited(records, clock)
    await expect(other.admission.admit(requestOf())).rejects.toEqual(code('budget_exceeded'))
    ticket.settle('0', 0)
    await admission.flush()
    await other.admission.admit(requestOf())
  })

  it('admits no call without the store, and counts once what was settled meanwhile', async () => {
    const { admission, records, clock, counter } = await world()
    const id = await limit(records, clock, { budget_total_usd: '10' })
    const tickets = await allowed([admission.admit(requestOf()), admission.admit(requestOf())])
    const replace = records.replace.bind(records)
    // Every second write succeeds and its answer is lost.
    let n = 0
    records.replace = async (kind, record) => {
      if (++n % 2 === 0) await replace(kind, record)
      throw new StoreUnavailable('away')
    }
    for (const ticket of tickets) ticket.settle('0.3', 0)
    await expect(admission.admit(requestOf())).rejects.toThrow(StoreUnavailable)
    await clock.advance(5_500)
    records.replace = replace
    await admission.flush()
    expect(await counter(id)).toMatchObject({ total_usd: '0.6' })
    expect(Object.values((await counter(id))?.held ?? {})).toMatchObject([{ usd: '0' }])
  })

  it('counts every settled call to the last digit', async () => {
    const { admission, records, clock, counter } = await world()
    const id = await limit(records, clock, { budget_total_usd: '1000000' })
    let units = 0n
    let seed = 11
    for (let n = 0; n < 200; n++) {
      seed = (seed * 48_271) % 2_147_483_647
      units += BigInt(seed)
      const ticket = await admission.admit(requestOf())
      ticket.settle(`0.${String(seed).padStart(18, '0')}`, 0)
      if (n % 9 === 0) await clock.advance(seed % 90)
    }
    await admission.flush()
    const digits = units.toString().padStart(19, '0')
    expect((await counter(id))?.total_usd).toBe(`${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/0+$/, ''))
  })
})

describe('credits', () => {
  const gated = async (granted: string) => {
    const made = await world()
    const id = creditsId(organization)
    await new Table(made.records, credits, made.clock.now).insert({
      id,
      project: organization,
      data: { granted_usd: granted },
    })
    return made
  }

  it('pay for managed calls until they are used up', async () => {
    const { admission, records } = await gated('2')
    const tickets = await allowed([1, 2, 3].map(() => admission.admit(requestOf())))
    expect(tickets).toHaveLength(2)
    for (const ticket of tickets) ticket.settle('1', 0)
    await admission.flush()
    await expect(admission.admit(requestOf())).rejects.toEqual(code('credit_balance_exhausted'))
    const counter = await records.get(
      budgetCounters,
      organizationScope(organization),
      counterId(creditsId(organization)),
    )
    expect(counter?.data).toMatchObject({ total_usd: '2' })
  })

  it('are not needed with a key of the project or by an organisation without gating', async () => {
    const { admission } = await gated('0')
    await admission.admit(requestOf({ source: 'byok' }))
    await expect(admission.admit(requestOf())).rejects.toEqual(code('credit_balance_exhausted'))
    const { admission: other } = await world()
    await other.admit(requestOf())
  })
})

describe('a change of a limit', () => {
  it('applies at once in its process and within five seconds in others', async () => {
    const { admission, book, records, clock } = await world()
    const other = await openLimited(records, clock)
    for (const each of [admission, other.admission]) await each.admit(requestOf())
    await limit(records, clock, { budget_total_usd: '0' })
    book.changed('prj_00000000000000000000000001')
    await expect(admission.admit(requestOf())).rejects.toEqual(code('budget_exceeded'))
    await clock.leap(5_001)
    await expect(other.admission.admit(requestOf())).rejects.toEqual(code('budget_exceeded'))
  })

  it('applies to each of more limits than are cached together', async () => {
    const { admission, records, clock } = await world()
    for (let n = 0; n < 510; n++)
      await limit(records, clock, { subject: 'tenant', subject_id: `ten_${n}`, budget_total_usd: '0' })
    await admission.admit(requestOf())
    const caller = callerOf({ tenant: 'ten_509' })
    await expect(admission.admit(requestOf({ caller }))).rejects.toEqual(code('budget_exceeded'))
  })
})
