import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Call } from '#actors/call/call.ts'
import { operations } from '#actors/capabilities.ts'
import { tenants } from '#actors/tenants/kinds.ts'
import { ratePlans as ratePlanCapability } from '#actors/usage/rate-plans.ts'
import { usageUseCases } from '#actors/usage/usage-use-cases.ts'
import { Table } from '#records/table.ts'
import { systemClock } from '#runtime/clock.ts'
import { takeIdsFrom } from '#runtime/ids.ts'
import { RowWriter } from '#runtime/rows/row-writer.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { answerChecker } from '#specs/dsl/validate.ts'
import type { OperationId } from '#specs/index.ts'
import { callOf as callBy, secretOf } from '#test/support/call-of.ts'
import { noted } from '#test/support/called-operations.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { openServices } from '#test/support/open-services.ts'
import { putUsage, type UsageSample } from './rows.ts'

const now = Date.UTC(2026, 5, 30, 12)
const dayMs = 24 * 60 * 60 * 1000

const ours = `prj_${'a'.repeat(26)}`
const theirs = `prj_${'b'.repeat(26)}`

// the ids of plans have the time of the tests
beforeAll(() => takeIdsFrom({ now: () => now, random: Math.random }))
afterAll(() => takeIdsFrom({ now: Date.now, random: Math.random }))

const openUsage = async () => {
  const { records, log } = await openServices({ storage: openMemoryStorage({ now: () => now }) })
  const rows = new RowWriter({ records, clock: systemClock, log })
  const useCases = noted({
    ...usageUseCases({ host: { rows }, records, now: () => now }),
    ...ratePlanCapability.open({ records, now: () => now }).useCases,
  })
  return {
    records,
    useCases,
    put: (...samples: readonly UsageSample[]) =>
      putUsage(
        records,
        samples.map((sample) => ({ project: ours, ...sample })),
      ),
  }
}

let world: Awaited<ReturnType<typeof openUsage>>

beforeEach(async () => {
  world = await openUsage()
})

const callOf = <Q, B>(query: Q, body: B, project = ours): Call<Record<never, never>, Q, B> =>
  callBy({}, query, body, secretOf(project))

/** Returns the fault of a response, or null. */
const checkerOf = (id: OperationId) => {
  const { answer }: Operation = operations[id]
  if (answer.kind === 'json') return answerChecker(answer.schema.json)
  if (answer.kind === 'choice') return answerChecker(answer.json.schema.json)
  throw new Error(`${id} answers no document`)
}

type SummaryQuery = Parameters<(typeof world.useCases)['usage.summary']>[0]['query']
type EventsQuery = Parameters<(typeof world.useCases)['usage.events']>[0]['query']
type ExportQuery = Parameters<(typeof world.useCases)['usage.export']>[0]['query']

const summary = (query: Partial<SummaryQuery> = {}, project?: string) =>
  world.useCases['usage.summary'](callOf({ group_by: ['tenant' as const], ...query }, undefined, project))
const events = (query: Partial<EventsQuery> = {}, project?: string) =>
  world.useCases['usage.events'](callOf({ limit: 20, ...query }, undefined, project))
const invoiceOf = async (query: Partial<ExportQuery> = {}, project?: string) => {
  const result = await world.useCases['usage.export'](callOf({ format: 'json' as const, ...query }, undefined, project))
  if (!('json' in result)) throw new Error('no invoice')
  return result.json
}
const newPlan = (more: object) => {
  const body = {
    name: 'plan',
    markup_percent: '0',
    input_per_million_usd: '0',
    output_per_million_usd: '0',
    per_call_usd: '0',
    is_default: false,
    ...more,
  }
  return world.useCases['rate_plans.create'](callOf({}, body))
}

describe('the summary of usage', () => {
  it('sums usage within a range, including its start and excluding its end', async () => {
    const from = '2026-06-01T00:00:00.000Z'
    const to = '2026-06-02T00:00:00.000Z'
    const start = Date.parse(from)
    await world.put({ at: start - 1 }, { at: start }, { at: start + dayMs - 1 }, { at: start + dayMs })
    expect(await summary({ from, to })).toMatchObject({ from, to, totals: { calls: 2 } })
  })

  it('includes usage of this moment', async () => {
    await world.put({ at: now })
    expect((await summary()).totals.calls).toBe(1)
  })

  it('can be filtered by tenant, agent, installation, user, model and operation', async () => {
    await world.put(
      { at: now - 1 },
      { at: now - 2, tenant: 'ten_2' },
      { at: now - 3, agent_id: 'agt_2' },
      { at: now - 4, installation_id: 'ins_2' },
      { at: now - 5, external_user_id: 'ada' },
      { at: now - 6, model: 'gpt-2' },
      { at: now - 7, operation: 'session.turn' },
    )
    const callsOf = async (query: Partial<SummaryQuery>) => (await summary(query)).totals.calls
    expect(await callsOf({})).toBe(7)
    expect(await callsOf({ tenant_id: 'ten_2' })).toBe(1)
    expect(await callsOf({ agent_id: 'agt_2' })).toBe(1)
    expect(await callsOf({ installation_id: 'ins_2' })).toBe(1)
    expect(await callsOf({ external_user_id: 'ada' })).toBe(1)
    expect(await callsOf({ model: 'gpt-2' })).toBe(1)
    expect(await callsOf({ operation: 'session.turn' })).toBe(1)
    expect(await callsOf({ tenant_id: 'ten_1', model: 'gpt-2' })).toBe(1)
    expect(await callsOf({ tenant_id: 'ten_2', model: 'gpt-2' })).toBe(0)
    expect(await callsOf({ tenant_id: 'ten_1', agent_id: 'agt_2' })).toBe(1)
    expect(await callsOf({ tenant_id: 'ten_2', agent_id: 'agt_2' })).toBe(0)
    expect(await callsOf({ tenant_id: 'ten_1', external_user_id: 'ada' })).toBe(1)
    expect(await callsOf({ tenant_id: 'ten_2', external_user_id: 'ada' })).toBe(0)
    expect(await callsOf({ tenant_id: 'ten_1', installation_id: 'ins_2', agent_id: 'agt_1' })).toBe(1)
    expect(await callsOf({ tenant_id: 'ten_2', installation_id: 'ins_2' })).toBe(0)
  })

  it('has the declared form for any grouping', async () => {
    await world.put({ at: now }, { at: now, tenant: null, agent_id: null })
    const check = checkerOf('usage.summary')
    const all = ['tenant', 'agent', 'installation', 'user', 'provider', 'model', 'operation', 'day'] as const
    for (const group_by of [...all.map((each) => [each]), all, ['tenant', 'tenant'] as const]) {
      expect(check(await summary({ group_by }))).toBeNull()
    }
  })

  it('sums more rows than it reads at once', async () => {
    await world.put(...Array.from({ length: 2500 }, (_, n) => ({ at: now - n * 1000, service_charge_usd: '0.1' })))
    expect((await summary()).totals).toMatchObject({ calls: 2500, service_charge_usd: '250' })
  })

  it('yields to other work while it reads many rows', async () => {
    await world.put(...Array.from({ length: 5000 }, (_, n) => ({ at: now - n })))
    let turns = 0
    let over = false
    const turn = (): void => {
      turns++
      if (!over) setImmediate(turn)
    }
    turn()
    await summary()
    over = true
    expect(turns).toBeGreaterThan(4)
  })

  it('contains nothing of another project', async () => {
    await world.put({ at: now })
    expect((await summary({}, theirs)).totals.calls).toBe(0)
    expect((await events({}, theirs)).data).toEqual([])
    expect((await invoiceOf({}, theirs)).lines).toEqual([])
  })
})

describe('the list of usage', () => {
  it('pages through all rows of a range, newest first, even while rows are added', async () => {
    const at = Array.from({ length: 25 }, (_, n) => now - (n + 1) * 60_000)
    await world.put(...at.map((each) => ({ at: each })))
    const query = { limit: 10, from: new Date(now - 20 * 60_000).toISOString(), to: new Date(now).toISOString() }
    const seen: number[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await events({ ...query, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.data.map((row) => Date.parse(row.at)))
      await world.put({ at: now - 1 })
      cursor = page.next_cursor
    }
    expect(seen).toEqual(at.slice(0, 20))
  })

  it('pages through rows that no single index selects', async () => {
    const rows = Array.from({ length: 300 }, (_, n) => ({ at: now - n * 1000, model: n % 3 === 0 ? 'gpt-2' : 'gpt-1' }))
    await world.put(...rows)
    const seen: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { limit: 30, tenant_id: 'ten_1', agent_id: 'agt_1', model: 'gpt-2' }
      const page = await events({ ...query, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(new Set(seen).size).toBe(100)
    expect(seen).toHaveLength(100)
  })

  it('has the declared form', async () => {
    await world.put({ at: now, price_snapshot: { input: '0.1' } }, { at: now, provider_cost_usd: null })
    expect(checkerOf('usage.events')(await events())).toBeNull()
  })
})

describe('the invoice of a project', () => {
  it('uses the plans that the rows name, and otherwise the newest default plan of that time', async () => {
    const pro = await newPlan({ name: 'pro', markup_percent: '50' })
    await newPlan({ name: 'old', markup_percent: '10', is_default: true })
    const standard = await newPlan({ name: 'std', markup_percent: '20', is_default: true })
    await world.put({ at: now, rate_plan_id: pro.id }, { at: now })
    const { lines, totals } = await invoiceOf()
    expect(lines.map(({ rate_plan_id, total_usd }) => [rate_plan_id, total_usd])).toEqual([
      [standard.id, '0.0012'],
      [pro.id, '0.0015'],
    ])
    expect(totals.total_usd).toBe('0.0027')
  })

  it('uses the plan that the request names for usage without a plan', async () => {
    await newPlan({ name: 'std', markup_percent: '20', is_default: true })
    const other = await newPlan({ name: 'other', markup_percent: '300' })
    await world.put({ at: now })
    expect((await invoiceOf({ rate_plan_id: other.id })).lines).toMatchObject([
      { rate_plan_id: other.id, total_usd: '0.004' },
    ])
    await expect(invoiceOf({ rate_plan_id: 'rp_unknown' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('names tenants by the ids of their project', async () => {
    const data = { external_id: 'acme', name: 'Acme', status: 'active' as const, region: null, metadata: {} }
    await new Table(world.records, tenants, () => now).insert({ id: 'ten_1', project: ours, tenant: 'ten_1', data })
    await world.put({ at: now })
    expect((await invoiceOf()).lines).toMatchObject([{ tenant_id: 'ten_1', tenant_external_id: 'acme' }])
  })

  it('has the declared form, and is CSV on request', async () => {
    await world.put({ at: now })
    expect(checkerOf('usage.export')(await invoiceOf())).toBeNull()
    const result = await world.useCases['usage.export'](callOf({ format: 'csv' as const }, undefined))
    if (!('bytes' in result)) throw new Error('no file')
    expect(result.bytes).toMatchObject({ contentType: expect.stringContaining('text/csv') })
    expect(String(result.bytes.bytes).split('\r\n')).toHaveLength(4)
  })
})
