import { afterEach, describe, expect, it } from 'vitest'
import { series } from '#actors/observation/series.ts'
import { SeriesBuckets } from '#actors/observation/series-buckets.ts'
import { SeriesSums } from '#actors/observation/series-sums.ts'
import { toolCallPrefix, toolCallRows } from '#actors/observation/tool-calls.ts'
import { logPrefix, requestLog } from '#gateway/ledger/kinds.ts'
import { usagePrefix, usageRows } from '#gateway/ledger/usage-rows.ts'
import { derivedId } from '#runtime/index.ts'
import { projectScope, type RecordKind } from '#storage/index.ts'
import { openWorld, type World } from '../sessions/harness.ts'

const scope = projectScope('prj_a')
const hour = 60 * 60 * 1000
const noon = Date.UTC(2030, 0, 2, 12, 10)

describe('calls over time', () => {
  let world: World
  let count = 0
  afterEach(() => world.runtime.drain(0))

  const put = (kind: RecordKind, prefix: string, at: number, data: object) =>
    world.storage.records.insert(kind, {
      ...{ id: derivedId(prefix, at, `${count++}`), project: 'prj_a', tenant: 'ten_a', user: null },
      ...{ version: 1, created_at: at, updated_at: at, expires_at: null, data: { ...data } },
    })
  const call = (at: number, usd = '0.5') =>
    put(usageRows, usagePrefix, at, { model: 'm1', provider_cost_usd: usd, input_tokens: 10, output_tokens: 5 })

  it('are summed by buckets, compared with the period before, and split by tenant', async () => {
    world = await openWorld({ scripts: [] })
    for (const at of [noon - 1_000, noon - 2 * hour, noon - 30 * hour]) await call(at)
    await put(requestLog, logPrefix, noon - 2_000, { asked_model: 'm1', error: null, duration_ms: 200 })
    await put(requestLog, logPrefix, noon - 2_000, { asked_model: 'm2', error: 'provider_error', duration_ms: 9 })
    for (const code of [null, 'tool_timeout', null])
      await put(toolCallRows, toolCallPrefix, noon - 3_000, { tool: 'refund', actor: 'ses_1', took_ms: 40, code })
    const buckets = new SeriesBuckets(world.storage.records, () => noon)
    const parts = { buckets, records: world.storage.records, now: () => noon }
    const found = await series(parts, scope, { range: 'day', by: 'tenant' })
    expect(found).toMatchObject({ complete: true, bucket_ms: hour / 2 })
    expect(found.data).toHaveLength(48)
    expect(found.totals).toMatchObject({ calls: 2, errors: 1, cost_usd: 1, input_tokens: 20, output_tokens: 10 })
    expect(found.totals_before).toMatchObject({ calls: 1, cost_usd: 0.5 })
    expect(found.data.at(-1)).toMatchObject({ calls: 1, errors: 1 })
    expect(found.groups).toMatchObject([{ name: 'ten_a', calls: 2, errors: 1, cost_usd: 1, tokens: 30 }])
    expect(found.groups[0]?.costs.reduce((sum, each) => sum + each)).toBe(1)
    expect(found.tools).toEqual([{ tool: 'refund', calls: 3, failures: 1, p95_ms: 40 }])
    expect(Math.abs((found.totals.p95_ms ?? 0) - 200)).toBeLessThanOrEqual(10)
  })

  it('are counted once each, however often they are read, also those that arrive meanwhile', async () => {
    world = await openWorld({ scripts: [] })
    let now = noon
    const buckets = new SeriesBuckets(world.storage.records, () => now)
    const span = { fromMs: noon - hour, toMs: noon + hour }
    const calls = async () => (await buckets.read(scope, [span])).sums[0]?.calls
    await call(noon - 60_000)
    expect([await calls(), await calls()]).toEqual([1, 1])
    await call(noon - 1_000)
    expect(await calls()).toBe(2)
    now += 10 * 60_000
    await call(now - 2_000)
    expect(await Promise.all([calls(), calls()])).toEqual([3, 3])
    expect((await buckets.read(projectScope('prj_b'), [span])).sums[0]?.calls).toBe(0)
  })

  it('of a long range are completed by further reads, newest first', async () => {
    world = await openWorld({ scripts: [] })
    for (let index = 0; index < 10_050; index++) await call(noon - 5 * hour - index)
    await call(noon - hour)
    const buckets = new SeriesBuckets(world.storage.records, () => noon)
    const spans = [6, 5, 4, 3, 2, 1].map((back) => ({ fromMs: noon - back * hour, toMs: noon - (back - 1) * hour }))
    const read = async () => {
      const { sums, complete } = await buckets.read(scope, spans)
      return { calls: sums.reduce((sum, { calls }) => sum + calls, 0), newest: sums.at(-1)?.calls, complete }
    }
    const first = await read()
    expect(first).toMatchObject({ newest: 1, complete: false })
    expect(first.calls).toBeLessThan(10_051)
    expect(await read()).toEqual({ calls: 10_051, newest: 1, complete: true })
  })
})

describe('sums of a series', () => {
  it('keep at most 200 groups of a dimension, and count the others together', () => {
    const sums = new SeriesSums()
    for (let index = 0; index < 250; index++)
      sums.add({ calls: 1, groups: { model: `m${index}`, tenant: null, agent: null, operation: null } })
    expect(sums.groupsOf('model').size).toBe(201)
    expect(sums.groupsOf('model').get('other')?.calls).toBe(50)
  })
})
