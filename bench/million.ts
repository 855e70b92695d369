import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startServer } from '../scripts/services/server.ts'
import type { Service } from '../scripts/services/service.ts'
import { sized } from './extent.ts'
import { memoryApi } from './memory-api.ts'
import { cpuMsOf } from './recall/process-cpu.ts'
import { foundIn } from './recall/schema.ts'
import type { Row } from './row.ts'

const key = `csk_${'m'.repeat(40)}`
const words = 'river cello garden winter engine lantern harbour violet copper meadow tunnel saffron'.split(' ')
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

/** Number of memories per user, and number of users. */
const size = sized(10_000, 200)
const users = sized(100, 3)
const searches = sized(500, 20)

const contentOf = (n: number): string =>
  `Note ${n}: the ${words[n % 12]} near the ${words[(n * 7) % 12]} was seen by ${words[(n * 5) % 12]} club member ${n}`

/**
 * Measures the searches of one user with 10,000 memories, in a process with a million memories of a hundred users. The
 * store is filled with copies of the first user's rows, and every user is searched once, so that memory holds as many
 * indexes as fit. SQLite, one process, with the model in EMBEDDER_PATH if that is set.
 */
export const benchMillion = async (): Promise<readonly Row[]> => {
  const embedder = process.env.EMBEDDER_PATH
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
  const env = {
    DATA_DIR: folder,
    BOOTSTRAP_SECRET_KEY: key,
    ...(embedder !== undefined && { EMBEDDER_PATH: embedder }),
  }
  let server = await startServer(env)
  try {
    await write(server, embedder !== undefined)
    await server.kill9()
    multiply(join(folder, 'troupe.db'))
    server = await server.restart()
    const first = await timeOf(() => search(server, 'user', 0))
    for (let n = 1; n < users; n++) await search(server, `user${n}`, n)
    await timesOf(searchOf(server))
    const before = cpuMsOf(server.pid)
    const own = await timesOf(searchOf(server))
    const cpu = (cpuMsOf(server.pid) - before) / searches
    const bare = await timesOf(() => fetch(`${server.url}/v1/memory?userId=none`, { headers }).then((a) => a.text()))
    return rowsOf({ first, own, bare, cpu, rss: rssOf(server), hasModel: embedder !== undefined })
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Measured {
  readonly first: number
  /** Sorted times, in ms. */
  readonly own: readonly number[]
  readonly bare: readonly number[]
  readonly cpu: number
  readonly rss: number
  readonly hasModel: boolean
}

const rowsOf = ({ first, own, bare, cpu, rss, hasModel }: Measured): readonly Row[] => {
  const scope = `search among ${size} of ${size * users}`
  const above = at(own, 0.99) - at(bare, 0.99)
  return [
    { measure: `${scope}, median`, ours: at(own, 0.5), unit: 'ms' },
    { measure: `${scope}, p99`, ours: at(own, 0.99), unit: 'ms' },
    {
      measure: `${scope}, p99 above that of a bare request`,
      ...{ ours: above, unit: 'ms', bound: { of: 'ours', atMost: hasModel ? 15 : 5 } },
    },
    { measure: `${scope}, CPU`, ours: cpu, unit: 'ms' },
    {
      measure: `first search among ${size} of ${size * users} after a restart`,
      ...{ ours: first, unit: 'ms', bound: { of: 'ours', atMost: 300 } },
    },
    { measure: 'RSS after a search of every user', ours: rss, unit: 'MB', bound: { of: 'ours', atMost: 1_536 } },
  ]
}

const at = (times: readonly number[], part: number): number => times[Math.floor((times.length - 1) * part)] ?? 0

const write = async (server: Service, wait: boolean): Promise<void> => {
  for (let first = 0; first < size; first += 50) {
    const memories = Array.from({ length: 50 }, (_, n) => ({ content: contentOf(first + n) }))
    await memoryApi(server.url, key)('write/batch', { userId: 'user', wait, memories })
  }
}

/** Copies the memories to the other users, under new ids. */
const multiply = (path: string): void => {
  const store = new DatabaseSync(path)
  const copy = store.prepare(
    `insert into records_memories select id || 'u' || ?1, project, tenant, 'user' || ?1, version, created_at, updated_at,
       expires_at, json_set(data, '$.owner', '/user' || ?1), outbox, json_quote('/user' || ?1)
     from records_memories where user = 'user'`,
  )
  store.exec('pragma synchronous = off')
  store.exec('begin')
  // bound as text: a number would be bound as a float, and `user1.0` is not a user
  for (let n = 1; n < users; n++) copy.run(`${n}`)
  store.exec('commit')
  store.close()
}

const search = async (server: Service, userId: string, n: number): Promise<void> => {
  const query = `What was seen near the ${words[(n * 7) % 12]} by member ${n}?`
  const hits = foundIn(await memoryApi(server.url, key)('search', { userId, query }))
  if (hits.length === 0) throw new Error(`${userId} has no memory for: ${query}`)
}

const searchOf =
  (server: Service) =>
  (n: number): Promise<void> =>
    search(server, 'user', n)

const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const timesOf = async (work: (n: number) => Promise<unknown>): Promise<readonly number[]> => {
  const times: number[] = []
  for (let n = 0; n < searches; n++) times.push(await timeOf(() => work(n)))
  return times.toSorted((a, b) => a - b)
}

const rssOf = ({ pid }: Service): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024
