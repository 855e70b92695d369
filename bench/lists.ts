import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongod } from '../scripts/services/mongod.ts'
import { agentKinds } from '../src/actors/agents/kinds.ts'
import { auditLog } from '../src/actors/audit/kinds.ts'
import { runRows } from '../src/actors/runs/kinds.ts'
import { sessionRows } from '../src/actors/sessions/kinds.ts'
import { usageRows } from '../src/gateway/ledger/usage-rows.ts'
import { openMongoStorage } from '../src/storage/mongo/open-mongo-storage.ts'
import type { JsonObject, RecordKind, RecordQuery, Storage, StoredRecord } from '../src/storage/ports.ts'
import { projectScope, type Scope, tenantScope, userScope } from '../src/storage/scope.ts'
import { openSqliteStorage } from '../src/storage/sqlite/open-sqlite-storage.ts'
import { sized } from './extent.ts'
import { median, type Row, tableOf } from './row.ts'

const sizes = { few: 1_000, many: sized(100_000, 2_000) } as const
const rounds = sized(10, 1)
const readsARound = sized(100, 1)
/** Number of reads per round, for reads whose time grows with the number of rows. */
const walksARound = sized(5, 1)
const atOnce = 1_000
const pageLimit = 21

/** One read of a store that has `rows` rows of each kind. */
interface Read {
  readonly name: string
  readonly read: (store: Storage, rows: number) => Promise<unknown>
  /** Bound of the ratio; absent for a read whose time grows with the number of rows. */
  readonly bound?: Row['bound']
}

/** Two stores of the same type that differ only in their number of rows. */
interface Pair {
  readonly name: string
  readonly few: Storage
  readonly many: Storage
  readonly close: () => Promise<void>
}

type Latencies = { readonly p50: number; readonly p99: number }

const notSlower = { of: 'ratio', atMost: 3 } as const
const project = 'prj_lists'
const whole = projectScope(project)
const tenant = tenantScope(project, 'ten_1')
const user = userScope(project, 'ten_1', 'user_1')

/**
 * Compares lists and gets of 100,000 rows with those of 1,000, on SQLite and MongoDB: one page for every filter and
 * scope that an operation lists by. The rows that match a second condition are the oldest, so that with an index on the
 * first condition alone the read would have to scan past all others.
 */
export async function benchLists(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const open of [openSqlitePair, openMongoPair]) {
    const pair = await open()
    try {
      for (const reads of subjects) rows.push(...(await measured(pair, reads)))
      console.error(tableOf({ [pair.name]: rows.filter(({ measure }) => measure.startsWith(pair.name)) }))
    } finally {
      await pair.close()
    }
  }
  return rows
}

const idOf = (index: number): string => `row_${String(index).padStart(8, '0')}`

/**
 * Returns a row. The oldest 30 % are `active`; there are three tenants with two users each, and four agents. Even of
 * 1,000 rows, every combination of conditions matches more than a page, so that both sizes return the same number of
 * rows.
 */
const recordOf = (index: number, rows: number): StoredRecord => {
  const status = index < 0.3 * rows ? 'active' : 'completed'
  const [owner, user, agent_id] = [`ten_${index % 3}`, `user_${nth(index, 3, 2)}`, `agt_${nth(index, 6, 4)}`]
  const resource_type = nth(index, 3, 2) === 0 ? 'tenant' : 'agent'
  const data: JsonObject = {
    ...{ status, agent_id, external_id: `ext_${index}`, lane: status === 'active' ? 'lane_1' : null },
    ...{ model: `model_${index % 3}`, operation: 'run', installation_id: `ins_${index % 20}` },
    ...{ external_user_id: user, tenant_agent: `${owner} ${agent_id}` },
    ...{ action: `${resource_type}.${status}`, actor_id: `key_${nth(index, 6, 2)}`, resource_type },
    ...{ resource_id: `res_${Math.floor(index / 50)}`, metadata: { note: 'x'.repeat(200) } },
  }
  const times = { created_at: index, updated_at: index, expires_at: null }
  return { id: idOf(index), project, tenant: owner, user, version: 1, ...times, data }
}

const nth = (index: number, every: number, of: number): number => Math.floor(index / every) % of

const page = (kind: RecordKind, name: string, scope: Scope, query: Partial<RecordQuery> = {}): Read => ({
  name: `${kind.name} ${name}`,
  read: (store) => store.records.list(kind, scope, { limit: pageLimit, ...query }),
  bound: notSlower,
})

/** Pages that are read for every kind. */
const common = (kind: RecordKind): readonly Read[] => [
  page(kind, 'of the project', whole),
  page(kind, 'of a tenant', tenant),
  page(kind, 'of a user', user),
  {
    name: `${kind.name} by a cursor in the middle`,
    read: (store, rows) => store.records.list(kind, whole, { limit: pageLimit, after: idOf(rows / 2) }),
    bound: notSlower,
  },
  { name: `${kind.name} get`, read: (store, rows) => store.records.get(kind, whole, idOf(rows / 2)), bound: notSlower },
]

const active = { status: 'active' }

const sessionReads: readonly Read[] = [
  ...common(sessionRows),
  page(sessionRows, 'status', whole, { where: active }),
  page(sessionRows, 'status, user', user, { where: active }),
  page(sessionRows, 'agent', whole, { where: { agent_id: 'agt_2' } }),
  page(sessionRows, 'agent, status', whole, { where: { agent_id: 'agt_2', ...active } }),
  { name: 'sessions total', read: (store) => store.records.total(sessionRows, whole), bound: notSlower },
  {
    name: 'sessions total, agent, status',
    read: (store) => store.records.total(sessionRows, whole, { agent_id: 'agt_2', status: 'completed' }),
    bound: notSlower,
  },
  { name: 'sessions counted to the end', read: (store) => store.records.count(sessionRows, whole) },
  {
    name: 'sessions, page in the middle by number',
    read: (store, rows) => store.records.list(sessionRows, whole, { limit: pageLimit, skip: rows / 2 }),
  },
]

const usageReads: readonly Read[] = [
  ...common(usageRows),
  page(usageRows, 'agent', whole, { where: { agent_id: 'agt_2' } }),
  page(usageRows, 'tenant, agent', whole, { where: { tenant_agent: 'ten_1 agt_2' } }),
  page(usageRows, 'installation', whole, { where: { installation_id: 'ins_3' } }),
  page(usageRows, 'external user', whole, { where: { external_user_id: 'user_1' } }),
  page(usageRows, 'model', whole, { where: { model: 'model_1' } }),
  page(usageRows, 'operation', whole, { where: { operation: 'run' } }),
]

const line = { action: 'agent.active', actor_id: 'key_1', resource_type: 'agent' }

const auditReads: readonly Read[] = [
  ...common(auditLog),
  page(auditLog, 'action', whole, { where: { action: line.action } }),
  page(auditLog, 'action, actor', whole, { where: { action: line.action, actor_id: line.actor_id } }),
  page(auditLog, 'action, actor, type', whole, { where: line }),
  page(auditLog, 'action, actor, type, tenant', tenant, { where: line }),
  page(auditLog, 'type, tenant', tenant, { where: { resource_type: 'agent' } }),
  page(auditLog, 'actor, tenant', tenant, { where: { actor_id: 'key_1' } }),
  page(auditLog, 'resource', whole, { where: { resource_id: 'res_4' } }),
  page(auditLog, 'resource, actor, tenant', tenant, { where: { resource_id: 'res_4', actor_id: 'key_1' } }),
]

const tenantReads: readonly Read[] = agentKinds
  .filter(({ name }) => name === 'tenants')
  .flatMap((kind) => [
    ...common(kind),
    page(kind, 'status', whole, { where: active }),
    { name: `${kind.name} by key`, read: keyed(kind), bound: notSlower },
  ])

function keyed(kind: RecordKind): Read['read'] {
  return (store, rows) => store.records.find(kind, whole, { external_id: `ext_${rows / 2}` })
}

const runReads: readonly Read[] = [
  ...common(runRows),
  page(runRows, 'lane, oldest first', whole, { where: { lane: 'lane_1' }, ascending: true }),
]

const subjects: readonly (readonly Read[])[] = [sessionReads, runReads, usageReads, auditReads, tenantReads]
const kinds: readonly RecordKind[] = [sessionRows, runRows, usageRows, auditLog, ...agentKinds]

const measured = async (pair: Pair, reads: readonly Read[]): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (const read of reads) {
    const { few, many } = await inTurns(pair, read)
    const measure = `${pair.name} ${read.name}`
    rows.push({ measure: `${measure}, p50`, unit: 'ms', ours: many.p50, against: { name: '1,000', value: few.p50 } })
    const p99 = { measure: `${measure}, p99`, unit: 'ms', ours: many.p99, against: { name: '1,000', value: few.p99 } }
    rows.push(read.bound === undefined ? p99 : { ...p99, bound: read.bound })
  }
  return rows
}

/**
 * Measures the two sizes in alternation. The p99 is that of the quietest round, since other load on the machine can
 * only increase it.
 */
const inTurns = async ({ few, many }: Pair, { read, bound }: Read) => {
  const times = bound === undefined ? walksARound : readsARound
  const seen: { few: Latencies[]; many: Latencies[] } = { few: [], many: [] }
  for (let round = 0; round < rounds; round++) {
    seen.few.push(await latencies(times, () => read(few, sizes.few)))
    seen.many.push(await latencies(times, () => read(many, sizes.many)))
  }
  return { few: middle(seen.few), many: middle(seen.many) }
}

const middle = (all: readonly Latencies[]): Latencies => ({
  p50: median(all.map(({ p50 }) => p50)),
  p99: Math.min(...all.map(({ p99 }) => p99)),
})

const latencies = async (times: number, read: () => Promise<unknown>): Promise<Latencies> => {
  const taken: number[] = []
  for (let each = 0; each < times; each++) {
    const begin = performance.now()
    await read()
    taken.push(performance.now() - begin)
  }
  taken.sort((a, b) => a - b)
  const at = (share: number): number => taken[Math.ceil(share * taken.length) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

const filled = async (store: Storage, rows: number): Promise<Storage> => {
  await store.records.prepare(kinds)
  for (const kind of kinds.filter(({ name }) => name !== 'agents')) {
    for (let first = 0; first < rows; first += atOnce) {
      const some = Array.from({ length: atOnce }, (_, index) => ({ kind, record: recordOf(first + index, rows) }))
      await store.records.project(some)
    }
  }
  return store
}

const openSqlitePair = async (): Promise<Pair> => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-lists-'))
  const few = await filled(openSqliteStorage({ path: join(folder, 'few.db') }), sizes.few)
  const many = await filled(openSqliteStorage({ path: join(folder, 'many.db') }), sizes.many)
  const close = async () => {
    await Promise.all([few.close(), many.close()])
    rmSync(folder, { recursive: true })
  }
  return { name: 'sqlite', few, many, close }
}

const openMongoPair = async (): Promise<Pair> => {
  const { url, stop } = await startMongod()
  const few = await filled(await openMongoStorage({ url, database: 'few' }), sizes.few)
  const many = await filled(await openMongoStorage({ url, database: 'many' }), sizes.many)
  const close = async () => {
    await Promise.all([few.close(), many.close()])
    await stop()
  }
  return { name: 'mongo', few, many, close }
}
