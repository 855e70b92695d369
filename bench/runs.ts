import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startMongod } from '../scripts/services/mongod.ts'
import { startServer } from '../scripts/services/server.ts'
import type { Service } from '../scripts/services/service.ts'
import { isObject } from '../src/actors/runtime/schema.ts'
import type { JsonObject } from '../src/storage/ports.ts'
import { sized } from './extent.ts'
import type { Row } from './row.ts'

const runs = sized(10_000, 60)
const tenants = sized(20, 4)
const requestsAtOnce = 64
const pageSize = 100
const pollMs = 200
const ended = new Set(['completed', 'failed', 'cancelled', 'expired'])

/**
 * Measures 10,000 runs of 20 tenants on one node with the simulated model. They are queued over HTTP, and the process
 * is killed in the middle. No run may be lost. On SQLite and MongoDB.
 */
export async function benchRuns(): Promise<readonly Row[]> {
  const rows = [...(await measured('SQLite', ''))]
  console.error(rows.map(({ measure, ours }) => `${measure}: ${ours.toFixed(1)}`).join('\n'))
  const mongod = await startMongod()
  try {
    rows.push(...(await measured('MongoDB', `${mongod.url.replace(/\/?$/, '/')}runs`)))
  } finally {
    await mongod.stop()
  }
  return rows
}

const measured = async (store: string, mongodbUrl: string): Promise<readonly Row[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-runs-'))
  const key = `csk_${randomBytes(32).toString('base64url')}`
  const env = { DATA_DIR: folder, MONGODB_URL: mongodbUrl, BOOTSTRAP_SECRET_KEY: key, LOG_LEVEL: 'error' }
  let server = await startServer(env)
  try {
    const agent = await madeId(server, key, '/v1/agents', { name: 'A', config: { model: 'simulated-1' } })
    const owners = await Promise.all(
      range(tenants).map((n) => madeId(server, key, '/v1/tenants', { external_id: `t${n}`, name: `T${n}` })),
    )
    const startedAt = performance.now()
    const ids = await each(range(runs), (n) =>
      madeId(server, key, `/v1/agents/${agent}/runs`, {
        input: { prompt: `Run ${n}` },
        tenant_id: owners[n % tenants] ?? '',
      }),
    )
    const queuedAt = performance.now()
    const open = new Set(ids)
    await untilOpen(server, key, open, runs * 0.5)
    await server.kill9()
    const killedAt = performance.now()
    server = await server.restart()
    const upAt = performance.now()
    await untilOpen(server, key, open, 0)
    const doneAt = performance.now()
    const completed = await each(ids, (id) => statusOf(server, key, id))
    const lost = completed.filter((status) => status !== 'completed').length
    return [
      { measure: `${runs} runs queued over HTTP (${store})`, unit: 's', ours: (queuedAt - startedAt) / 1000 },
      { measure: `start after kill -9 in the middle (${store})`, unit: 's', ours: (upAt - killedAt) / 1000 },
      {
        measure: `${runs} runs finished, from the first request on (${store})`,
        unit: 's',
        ours: (doneAt - startedAt) / 1000,
      },
      { measure: `runs lost or not completed (${store})`, unit: '', ours: lost, bound: { of: 'ours', atMost: 0 } },
    ]
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n)

/**
 * Polls the oldest runs, which end first, and removes those that have ended from `open`, until at most `max` are left.
 * It polls a few at a time, so that the queue is measured and not the polling.
 */
const untilOpen = async (server: Service, key: string, open: Set<string>, max: number): Promise<void> => {
  while (open.size > max) {
    const before = open.size
    await each([...open].slice(0, pageSize), async (id) => {
      if (ended.has(await statusOf(server, key, id))) open.delete(id)
    })
    if (open.size > before - pageSize / 2) await setTimeout(pollMs)
  }
}

const each = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> => {
  const results: R[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at]
      if (item !== undefined) results[at] = await work(item)
    }
  }
  await Promise.all(range(requestsAtOnce).map(worker))
  return results
}

const madeId = async (server: Service, key: string, path: string, body: object): Promise<string> => {
  const answer = await requested(server, key, path, { method: 'POST', body: JSON.stringify(body) })
  if (typeof answer.id !== 'string') throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer.id
}

const statusOf = async (server: Service, key: string, run: string): Promise<string> =>
  String((await requested(server, key, `/v1/runs/${run}`)).status)

const requested = async (server: Service, key: string, path: string, init: RequestInit = {}): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${server.url}${path}`, { ...init, headers })
  const body: unknown = await response.json()
  return isObject(body) ? body : {}
}
