import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GroupedUsage } from '#actors/usage/usage-sums.ts'
import { usageRow } from './rows.ts'

const at = Date.UTC(2026, 0, 31, 23, 59)

describe('sums of usage', () => {
  it('are exact to the last digit, unlike floats', () => {
    const usage = new GroupedUsage([])
    for (let n = 0; n < 10; n++) usage.add([usageRow({ at, provider_cost_usd: '0.1', service_charge_usd: '0.1' })])
    expect(usage.totals.view).toMatchObject({ provider_cost_usd: '1', service_charge_usd: '1', calls: 10 })
  })

  it('lose no digit between very large and very small amounts', () => {
    const usage = new GroupedUsage([])
    for (const cost of ['123456789012345678', '0.000000000000000000000001', '0.000000000000000000000001']) {
      usage.add([usageRow({ at, provider_cost_usd: cost, service_charge_usd: cost })])
    }
    expect(usage.totals.view.provider_cost_usd).toBe('123456789012345678.000000000000000000000002')
  })

  it('are the same in any order, and those of the groups add up to the total', () => {
    const cost = fc.tuple(fc.nat(1e9), fc.integer({ min: 0, max: 12 })).map(([digits, scale]) => shifted(digits, scale))
    const row = fc.record({ cost, tenant: fc.constantFrom('ten_1', 'ten_2', null), tokens: fc.nat(1e6) })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        const total = (list: typeof rows): bigint => list.reduce((sum, each) => sum + scaled(each.cost), 0n)
        for (const order of [rows, rows.toReversed()]) {
          const usage = new GroupedUsage(['tenant'])
          usage.add(order.map((each) => usageRow({ at, tenant: each.tenant, ...costs(each.cost) })))
          expect(scaled(usage.totals.view.provider_cost_usd)).toBe(total(rows))
          for (const { values, sums } of usage.groups()) {
            const mine = rows.filter(({ tenant }) => tenant === values[0])
            expect(scaled(sums.view.service_charge_usd)).toBe(total(mine))
          }
        }
      }),
    )
  })

  it('count calls with an unknown price, and leave them out of the costs', () => {
    const usage = new GroupedUsage(['model'])
    usage.add([usageRow({ at }), usageRow({ at, provider_cost_usd: null, service_charge_usd: null })])
    expect(usage.totals.view).toEqual({
      calls: 2,
      cache_hits: 0,
      saved_usd: '0',
      unpriced_calls: 1,
      input_tokens: 200,
      output_tokens: 20,
      total_tokens: 220,
      characters: 0,
      seconds: 0,
      images: 0,
      provider_cost_usd: '0.001',
      service_charge_usd: '0.001',
    })
  })

  it('count characters, seconds and images of calls that are charged by them', () => {
    const usage = new GroupedUsage(['model'])
    usage.add([
      usageRow({ at, characters: 40 }),
      usageRow({ at, seconds: 0.1 }),
      usageRow({ at, seconds: 0.2, images: 3 }),
    ])
    expect(usage.totals.view).toMatchObject({ calls: 3, characters: 40, seconds: 0.3, images: 3 })
  })

  it('are grouped by every field of a row, in order, with missing values first', () => {
    const usage = new GroupedUsage(['tenant', 'agent', 'installation', 'user', 'provider', 'model', 'operation', 'day'])
    usage.add([
      usageRow({ at: at + 60_000 }),
      usageRow({ at, tenant: null, agent_id: null, installation_id: null, operation: 'session.turn' }),
      usageRow({ at, external_user_id: 'ada' }),
      usageRow({ at, external_user_id: 'ada' }),
    ])
    expect(usage.groups().map(({ values, sums }) => [...values, sums.view.calls])).toEqual([
      [null, null, null, null, 'openai', 'gpt-1', 'session.turn', '2026-01-31', 1],
      ['ten_1', 'agt_1', 'ins_1', null, 'openai', 'gpt-1', 'run', '2026-02-01', 1],
      ['ten_1', 'agt_1', 'ins_1', 'ada', 'openai', 'gpt-1', 'run', '2026-01-31', 2],
    ])
  })

  it('are refused for too many groups', () => {
    const usage = new GroupedUsage(['user'])
    const row = usageRow({ at })
    const add = () => {
      for (let n = 0; n < 30_000; n++) usage.add([{ ...row, data: { ...row.data, external_user_id: `user ${n}` } }])
    }
    expect(add).toThrow(expect.objectContaining({ code: 'invalid_query' }))
  })
})

const costs = (cost: string) => ({ provider_cost_usd: cost, service_charge_usd: cost })

/** `digits` with the point moved `scale` places to the left. */
const shifted = (digits: number, scale: number): string => {
  const text = String(digits).padStart(scale + 1, '0')
  return scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`
}

/** The amount in units of 10⁻¹². */
const scaled = (text: string): bigint => {
  const [whole = '', part = ''] = text.split('.')
  return BigInt(whole + part.padEnd(12, '0'))
}
