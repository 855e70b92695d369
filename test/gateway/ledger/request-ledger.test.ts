import { describe, expect, it } from 'vitest'
import { callSegments, type RequestLogSettingsData, requestLog, segmentScope } from '#gateway/ledger/kinds.ts'
import type { LogSettings } from '#gateway/ledger/log-settings.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { amountOf, textOf, zero } from '#gateway/prices/money.ts'
import { type RecordKind, type RecordStore, type StoredRecord, StoreUnavailable } from '#storage/ports.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { callerOf, callOf, managedRoute, openLedger, project } from './calls.ts'

const scope = projectScope(project)

const world = async () => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage({ now: clock.now })
  return { clock, storage, ...(await openLedger(storage, clock)) }
}

const all = (records: RecordStore, kind: RecordKind, limit = 5_000): Promise<readonly StoredRecord[]> =>
  records.list(kind, scope, { limit })

describe('a finished call', () => {
  it('is a usage row with current prices and a line of the request log once it is flushed', async () => {
    const { ledger } = await world()
    ledger.record(callOf())
    await ledger.flush()
    const [usage] = await all(ledger.records, usageRows)
    expect(usage).toMatchObject({
      project,
      data: {
        operation: 'chat',
        provider: 'openai',
        model: 'gpt-4o-mini',
        input_tokens: 10,
        cached_tokens: 2,
        provider_cost_usd: '0.0000045',
        service_charge_usd: '0.0000045',
        billing_mode: 'managed',
        price_snapshot: { currency: 'USD', input: expect.any(String) },
        request_id: 'request-1',
        key_id: 'key_1',
      },
    })
    const [line] = await all(ledger.records, requestLog)
    expect(line?.data).toMatchObject({
      request_id: 'request-1',
      status: 200,
      error: null,
      first_byte_ms: 12.3,
      duration_ms: 20,
      bodies: 'kept',
      request_body: '{"messages":[]}',
    })
    expect(JSON.stringify(line)).not.toContain('sk-upstream-secret')
  })

  it('is charged to the project and logged under the tenant whose texts it has, and removed with the tenant', async () => {
    const { ledger } = await world()
    ledger.record(callOf())
    const textsOf = { tenant: 'ten_a', externalUserId: 'user_1' }
    ledger.record(callOf({ caller: callerOf({ textsOf, requestId: 'request-2' }) }))
    await ledger.flush()
    const rows = await all(ledger.records, usageRows)
    expect(rows.map(({ tenant, user }) => [tenant, user])).toEqual([
      [null, null],
      [null, null],
    ])
    const ofTenant = tenantScope(project, 'ten_a')
    const lines = await ledger.records.list(requestLog, ofTenant, { limit: 9 })
    expect(lines).toMatchObject([{ user: 'user_1', data: { request_id: 'request-2', external_user_id: 'user_1' } }])
    await ledger.records.clear(requestLog, ofTenant, 9)
    expect((await all(ledger.records, requestLog)).map(({ data }) => data.request_id)).toEqual(['request-1'])
  })

  it('is visible before it is flushed', async () => {
    const { ledger } = await world()
    ledger.record(callOf())
    expect(await all(ledger.records, usageRows)).toHaveLength(1)
  })

  it('is written within 100 ms, together with other calls', async () => {
    const { ledger, storage, clock } = await world()
    for (let n = 0; n < 50; n++) ledger.record(callOf())
    await clock.advance(100)
    const segments = await storage.records.list(callSegments, segmentScope, { limit: 10 })
    expect(segments).toHaveLength(1)
    expect(segments[0]?.data).toMatchObject({ calls: expect.objectContaining({ length: 50 }) })
  })

  it('becomes the rows that were read before, and its segment is deleted', async () => {
    const { ledger, storage, clock } = await world()
    for (let n = 0; n < 120; n++) ledger.record(callOf({ caller: callerOf({ requestId: `request-${n}` }) }))
    const [usage, lines] = [await all(ledger.records, usageRows), await all(ledger.records, requestLog)]
    await clock.advance(5_000)
    expect(await storage.records.list(callSegments, segmentScope, { limit: 10 })).toEqual([])
    expect(await all(storage.records, usageRows)).toEqual(usage)
    expect(await all(storage.records, requestLog)).toEqual(lines)
  })

  it('becomes a row with few others while calls are made, and with more when none are', async () => {
    const { ledger, clock, storage } = await world()
    const made: number[] = []
    const { records } = storage
    const write = records.project.bind(records)
    records.project = (rows) => {
      made.push(rows.filter(({ kind }) => kind === usageRows).length)
      return write(rows)
    }
    const recordMany = (): void => {
      for (let n = 0; n < 40; n++) ledger.record(callOf())
    }
    recordMany()
    await ledger.flush()
    for (let ms = 0; ms < 3_000; ms += 100) {
      await clock.advance(100)
      ledger.record(callOf())
    }
    expect(Math.max(...made)).toBe(8)
    recordMany()
    await clock.advance(10_000)
    expect(Math.max(...made)).toBe(20)
  })

  it("is free with a key of the project and charged at the provider's price with a managed key", async () => {
    const { ledger } = await world()
    for (const source of ['byok', 'custom', 'managed', 'simulated'] as const) {
      ledger.record(callOf({ route: { ...managedRoute, source } }))
    }
    const rows = await all(ledger.records, usageRows)
    const charges = new Map(rows.map(({ data }) => [data.billing_mode, data.service_charge_usd]))
    expect(Object.fromEntries(charges)).toEqual({
      byok: '0',
      custom: '0',
      managed: '0.0000045',
      simulated: '0.0000045',
    })
  })

  it('has no usage row but a log line when nothing was used', async () => {
    const { ledger } = await world()
    ledger.record(callOf({ units: null, route: null, status: 404, error: 'model_not_found', costUsd: null }))
    expect(await all(ledger.records, usageRows)).toEqual([])
    expect(await all(ledger.records, requestLog)).toMatchObject([
      { data: { error: 'model_not_found', provider: null } },
    ])
  })

  it('has a cost of null when the price is unknown', async () => {
    const { ledger } = await world()
    ledger.record(callOf({ costUsd: null, route: { ...managedRoute, model: 'nobody-knows', provider: 'custom:1' } }))
    const [row] = await all(ledger.records, usageRows)
    expect(row?.data).toMatchObject({ provider_cost_usd: null, service_charge_usd: null, price_snapshot: null })
  })

  it('counts characters, seconds and images in addition to tokens', async () => {
    const { ledger } = await world()
    ledger.record(callOf({ need: 'speech', units: { characters: 42 } }))
    ledger.record(callOf({ need: 'transcription', units: { seconds: 1.5 } }))
    ledger.record(callOf({ need: 'vision', units: { images: 2 } }))
    const rows = await all(ledger.records, usageRows)
    const counted = rows.map(({ data: { operation, characters, seconds, images, input_tokens } }) => ({
      operation,
      counted: [characters, seconds, images, input_tokens],
    }))
    expect(counted).toContainEqual({ operation: 'speech', counted: [42, null, null, 0] })
    expect(counted).toContainEqual({ operation: 'transcription', counted: [null, 1.5, null, 0] })
    expect(counted).toContainEqual({ operation: 'vision', counted: [null, null, 2, 0] })
  })
})

describe('the request log of a project', () => {
  const caller = { principal: { kind: 'secret_key', project, keyId: 'key_1' }, remoteAddress: '' } as const
  const changed = async (settings: LogSettings, data: RequestLogSettingsData) => {
    await settings.setting.change(project, caller, () => data)
    settings.changed(project)
  }

  it('has no texts or no lines when its settings exclude them', async () => {
    const { ledger, settings } = await world()
    await changed(settings, { mode: 'metadata', retention_days: 1 })
    ledger.record(callOf())
    expect(await all(ledger.records, requestLog)).toMatchObject([{ data: { bodies: 'off', request_body: null } }])
    await changed(settings, { mode: 'off', retention_days: 1 })
    ledger.record(callOf())
    expect(await all(ledger.records, requestLog)).toHaveLength(1)
    expect(await all(ledger.records, usageRows)).toHaveLength(2)
  })

  it('expires lines after the retention time', async () => {
    const { ledger, settings, clock } = await world()
    await changed(settings, { mode: 'metadata', retention_days: 2 })
    ledger.record(callOf({ startedAt: clock.now(), durationMs: 0 }))
    await ledger.flush()
    await clock.leap(2 * 24 * 60 * 60 * 1000 - 60_000)
    expect(await all(ledger.records, requestLog)).toHaveLength(1)
    await clock.leap(60_001)
    expect(await all(ledger.records, requestLog)).toEqual([])
  })

  it('masks secrets and cuts long texts', async () => {
    const { ledger } = await world()
    const request = `a secret ${'x'.repeat(100_000)}`
    ledger.record(callOf({ bodies: () => ({ request, response: 'secret' }) }))
    const [row] = await all(ledger.records, requestLog)
    const { request_body, response_body } = row?.data ?? {}
    expect(response_body).toBe('[SECRET]')
    expect(request_body).toMatch(/^a \[SECRET\] x+… \(100009 characters in all\)$/)
    expect(String(request_body).length).toBeLessThan(17_000)
  })

  it('omits texts for a while when they take too long, and marks such lines', async () => {
    const { ledger } = await world()
    const slow = () => {
      const until = performance.now() + 30
      while (performance.now() < until);
      return { request: 'q', response: 'a' }
    }
    for (let n = 0; n < 30; n++) ledger.record(callOf({ bodies: slow }))
    const kept = (await all(ledger.records, requestLog)).map(({ data }) => data.bodies)
    expect(new Set(kept)).toEqual(new Set(['kept', 'busy']))
  })
})

describe('a list of calls', () => {
  it('has the same pages for segments and for rows, in both directions and with every filter', async () => {
    const { ledger, storage, clock } = await world()
    const tenants = ['ten_a', 'ten_b']
    for (let second = 0; second < 6; second++) {
      for (let n = 0; n < 7; n++) {
        const caller = callerOf({
          requestId: `r-${second}-${n}`,
          tenant: tenants[n % 2] ?? null,
          agentId: `agt_${n % 3}`,
        })
        ledger.record(callOf({ caller, startedAt: clock.now() - n * 150, durationMs: n }))
      }
      await ledger.flush()
      await clock.leap(400)
    }
    const lists = async () => {
      const seen: (readonly string[])[] = []
      for (const where of [{}, { agent_id: 'agt_1' }, { tenant_agent: 'ten_a agt_0' }]) {
        for (const ascending of [true, false]) {
          const ids: string[] = []
          for (let after: string | undefined; ; after = ids.at(-1)) {
            const query = { where, ascending, limit: 4, ...(after !== undefined && { after }) }
            const page = await ledger.records.list(usageRows, scope, query)
            ids.push(...page.map(({ id }) => id))
            if (page.length < 4) break
          }
          seen.push(ids)
        }
      }
      seen.push(
        (await ledger.records.list(usageRows, tenantScope(project, 'ten_b'), { limit: 100 })).map(({ id }) => id),
      )
      return seen
    }
    const before = await lists()
    expect(before.map((ids) => ids.length)).toEqual([42, 42, 12, 12, 12, 12, 18])
    await clock.advance(60_000)
    expect(await storage.records.list(callSegments, segmentScope, { limit: 1 })).toEqual([])
    expect(await lists()).toEqual(before)
  })

  it('excludes calls of other projects', async () => {
    const { ledger } = await world()
    ledger.record(callOf({ caller: callerOf({ project: 'prj_other' }) }))
    expect(await all(ledger.records, usageRows)).toEqual([])
    expect(await ledger.records.list(usageRows, projectScope('prj_other'), { limit: 2 })).toHaveLength(1)
  })

  it('converts all segments to rows before the calls of a tenant are counted or cleared', async () => {
    const { ledger } = await world()
    ledger.record(callOf({ caller: callerOf({ tenant: 'ten_a' }) }))
    const tenant = tenantScope(project, 'ten_a')
    expect(await ledger.records.left(usageRows, tenant)).toBe(1)
    expect(await ledger.records.clear(usageRows, tenant, 10)).toBe(1)
    expect(await ledger.records.left(usageRows, tenant)).toBe(0)
    expect(await ledger.records.list(usageRows, tenant, { limit: 10 })).toEqual([])
  })
})

describe('a failure', () => {
  it('of the store delays calls but loses none', async () => {
    const { ledger, storage, clock } = await world()
    const insert = storage.records.insert.bind(storage.records)
    storage.records.insert = () => Promise.reject(new StoreUnavailable('away'))
    for (let n = 0; n < 20; n++) ledger.record(callOf())
    await clock.advance(10_000)
    for (let n = 0; n < 20; n++) ledger.record(callOf())
    storage.records.insert = insert
    await clock.advance(10_000)
    expect(await all(ledger.records, usageRows)).toHaveLength(40)
    expect(ledger.counts.dropped).toBe(0)
  })

  it('of the store that lasts causes calls beyond 100,000 to be dropped and counted', async () => {
    const { ledger, storage } = await world()
    storage.records.insert = () => Promise.reject(new StoreUnavailable('away'))
    for (let n = 0; n < 100_100; n++) ledger.record(callOf({ bodies: null }))
    expect(ledger.counts).toEqual({ taken: 100_000, dropped: 100 })
  })

  it('of the store keeps the texts of 64 calls in memory, however many wait', async () => {
    const { ledger, storage, clock } = await world()
    const { insert } = storage.records
    storage.records.insert = () => Promise.reject(new StoreUnavailable('away'))
    for (let n = 0; n < 300; n++) {
      ledger.record(callOf())
      if (n % 60 === 59) await clock.advance(100)
    }
    storage.records.insert = insert
    await clock.advance(10_000)
    const bodies = (await all(ledger.records, requestLog)).map(({ data }) => data.bodies)
    // the first segment was complete before its write failed
    expect(bodies.filter((each) => each === 'kept')).toHaveLength(60 + 64)
    expect(bodies).toHaveLength(300)
  })

  it('of the process leaves its durable calls exactly once to the next process', async () => {
    const { ledger, storage, clock } = await world()
    for (let n = 0; n < 60; n++) ledger.record(callOf())
    await ledger.flush()
    await ledger.stop()
    const [segment] = await storage.records.list(callSegments, segmentScope, { limit: 1 })
    expect(segment).toBeDefined()
    const next = await openLedger(storage, clock)
    const seen = await all(next.ledger.records, usageRows)
    await clock.advance(30_000)
    expect(await storage.records.list(callSegments, segmentScope, { limit: 1 })).toEqual([])
    const rows = await all(storage.records, usageRows)
    expect(rows.map(({ id }) => id)).toEqual(seen.map(({ id }) => id))
    expect(rows).toHaveLength(60)
  })
})

describe('the sum', () => {
  it('of the rows equals the sum of the recorded costs to the last digit', async () => {
    const { ledger, clock } = await world()
    let expected = zero
    let seed = 7
    for (let n = 0; n < 700; n++) {
      seed = (seed * 48_271) % 2_147_483_647
      const costUsd = `0.${String(seed).padStart(12, '0')}`
      expected = expected.plus(amountOf(costUsd))
      ledger.record(callOf({ costUsd }))
      if (n % 50 === 0) await clock.advance(seed % 300)
    }
    await calm()
    const rows = await all(ledger.records, usageRows)
    const sum = rows.reduce((total, { data }) => total.plus(amountOf(String(data.provider_cost_usd))), zero)
    expect(rows).toHaveLength(700)
    expect(textOf(sum)).toBe(textOf(expected))
  })
})
