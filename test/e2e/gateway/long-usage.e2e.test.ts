import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { usagePrefix } from '#gateway/ledger/usage-rows.ts'
import { idFloor } from '#runtime/ids.ts'
import { LoopProbe, limitOf } from '../loop-probe.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'

const rows = 60_000
/** Times `models`: about the most groups that one answer may have. */
const tenants = 2_000
const models = 9
const mb = 1024 * 1024

describe('usage of many calls', () => {
  const probe = new LoopProbe()
  let world: World
  beforeAll(async () => {
    world = await World.start({ env: probe.env })
    const messages = [{ role: 'user', content: 'hi' }]
    expect((await world.api.post('/v1/chat/completions', { model: 'simulated-1', messages })).status).toBe(200)
    expect((await world.api.get('/v1/usage/events')).body.data).toHaveLength(1)
    await vi.waitFor(async () => expect((await world.counts()).records_usage).toBe(1), patience)
    await world.crash()
    multiply(join(world.toolEnv.DATA_DIR, 'troupe.db'))
    await world.restart()
    // warms up: the first request loads and compiles code
    await send('/v1/usage/export?days=1')
  }, 480_000)
  afterAll(async () => {
    await world.stop()
    probe.close()
  })

  /** Copies the single row under new ids of the last hour, for many tenants and models. */
  const multiply = (path: string): void => {
    const database = new DatabaseSync(path)
    const start = idFloor(usagePrefix, Date.now() - 3_600_000).slice(0, -16)
    const { changes } = database
      .prepare(`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows - 1}),
      one as (select * from records_usage limit 1)
      insert into records_usage (id, project, tenant, user, version, created_at, updated_at, expires_at, data)
      select '${start}' || printf('%016d', n), project, 'ten_' || (n % ${tenants}), user, version, created_at, updated_at,
        expires_at, json_set(data, '$.model', 'model-' || (n / ${tenants} % ${models}),
          '$.provider_cost_usd', '0.0000123', '$.service_charge_usd', '0.0000123')
      from numbers, one`)
      .run()
    database.close()
    expect(changes).toBe(rows - 1)
  }

  const send = async (path: string): Promise<string> => {
    const answer = await world.api.fetch(path)
    expect(answer.status).toBe(200)
    return answer.text()
  }

  const residentMb = (): number => {
    const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${world.server.pid}/status`, 'utf8')) ?? []
    return (Number(kib) * 1024) / mb
  }

  it.each([
    ['as JSON', '/v1/usage/export?days=1'],
    ['as CSV', '/v1/usage/export?days=1&format=csv'],
    ['as sums', '/v1/usage?days=1&group_by=tenant&group_by=model'],
  ])('%s blocks no other request, and uses memory for the groups, not for the rows', async (_, path) => {
    const before = residentMb()
    let text = ''
    const request = async () => {
      text = await send(path)
    }
    const seen = await probe.heldMs(world, request, '/v1/usage/events?limit=1')
    expect(Math.min(...seen), `${seen.map(Math.round)} ms`).toBeLessThan(limitOf(seen))
    expect(residentMb() - before).toBeLessThan(150)
    if (path.includes('csv')) return expect(text.split('\r\n')).toHaveLength(tenants * models + 4)
    const { lines, data, totals } = JSON.parse(text)
    expect(lines ?? data).toHaveLength(tenants * models + 1)
    expect(totals.calls).toBe(rows)
    expect(totals.input_tokens % rows).toBe(0)
  })
})
