import { MongoClient } from 'mongodb'
import { startMongod } from '#scripts/services/mongod.ts'
import { type ListIndex, listIndexes } from '#storage/list-index.ts'
import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'
import { foundBy } from '#storage/mongo/row-lists.ts'
import { toRecordUpdate } from '#storage/mongo/schema.ts'
import type { RecordKind, Storage } from '#storage/ports.ts'
import { projectScope, type Scope, tenantScope, userScope } from '#storage/scope.ts'
import { cpuMsOf } from '../recall/process-cpu.ts'
import type { Row } from '../row.ts'
import { filledKinds, large, skewedRow } from './skewed-rows.ts'

const database = 'long'
const atOnce = 1_000
const reads = 50
const pageLimit = 21

/**
 * Measures every declared list of kinds with millions of rows, which most projects have few of and one has most: its
 * first page, page 100, and its total, for values that many rows have and for those of the oldest rows alone.
 */
export const benchLongLists = async (rows: number): Promise<readonly Row[]> => {
  const mongod = await startMongod()
  const store = await openMongoStorage({ url: mongod.url, database })
  try {
    await fill(mongod.url, rows)
    await store.records.prepare(filledKinds.map(({ kind }) => kind))
    const measured: Row[] = []
    for (const { kind } of filledKinds)
      for (const list of listIndexes(kind)) measured.push(...(await ofList(store, mongod.pid, { kind, list })))
    return [...measured, ...(await indexSizes(mongod.url))]
  } finally {
    await store.close()
    await mongod.stop()
  }
}

const fill = async (url: string, rows: number): Promise<void> => {
  const client = await MongoClient.connect(url)
  for (const { kind, part } of filledKinds) {
    const count = Math.ceil(rows * part)
    for (let first = 0; first < count; first += atOnce) {
      const documents = Array.from({ length: Math.min(atOnce, count - first) }, (_, at) => {
        const record = skewedRow(kind, first + at, count)
        return { _id: record.id, ...toRecordUpdate(record, foundBy(kind, record), JSON.stringify(record.data)) }
      })
      await client.db(database).command({ insert: kind.name, documents, ordered: false, writeConcern: { w: 1 } })
    }
  }
  await client.close()
}

const scopes: Readonly<Record<ListIndex['owner'][number], Scope>> = {
  project: projectScope(large.project),
  tenant: tenantScope(large.project, large.tenant),
  user: userScope(large.project, large.tenant, large.user),
}

const ofList = async (
  { records }: Storage,
  pid: number,
  { kind, list: { owner, fields } }: { readonly kind: RecordKind; readonly list: ListIndex },
): Promise<readonly Row[]> => {
  const scope = scopes[owner.at(-1) ?? 'project']
  const rows: Row[] = []
  for (const [values, at] of [['common', 1_000] as const, ['rare', 0] as const]) {
    const { data } = skewedRow(kind, at, 5_000_000)
    const where = Object.fromEntries(fields.map((field) => [field, data[field] ?? null]))
    const name = `${kind.name} of a ${owner.at(-1)} by ${fields.join(', ') || 'nothing'}, ${values}`
    const cpu = cpuMsOf(pid)
    const page = await p99(() => records.list(kind, scope, { where, limit: pageLimit }))
    rows.push({ measure: `${name}, p99`, unit: 'ms', ours: page, bound: { of: 'ours', atMost: 100 } })
    rows.push({ measure: `${name}, CPU of mongod`, unit: 'ms', ours: (cpuMsOf(pid) - cpu) / reads })
    const deep = await p99(() => records.list(kind, scope, { where, limit: pageLimit, skip: 99 * pageLimit }))
    rows.push({ measure: `${name}, page 100, p99`, unit: 'ms', ours: deep })
    const counted = await p99(() => records.total(kind, scope, where))
    rows.push({ measure: `${name}, total, p99`, unit: 'ms', ours: counted })
  }
  return rows
}

const p99 = async (read: () => Promise<unknown>): Promise<number> => {
  const taken: number[] = []
  for (let each = 0; each < reads; each++) {
    const begin = performance.now()
    await read()
    taken.push(performance.now() - begin)
  }
  return taken.sort((a, b) => a - b)[Math.ceil(0.99 * reads) - 1] ?? Number.NaN
}

const indexSizes = async (url: string): Promise<readonly Row[]> => {
  const client = await MongoClient.connect(url)
  const rows: Row[] = []
  for (const { kind } of filledKinds) {
    const { nindexes, totalIndexSize, count } = await client.db(database).command({ collStats: kind.name })
    rows.push({ measure: `${kind.name}, indexes`, unit: '', ours: Number(nindexes) })
    rows.push({
      measure: `${kind.name}, bytes of indexes a row`,
      unit: 'B',
      ours: Number(totalIndexSize) / Number(count),
    })
  }
  await client.close()
  return rows
}
