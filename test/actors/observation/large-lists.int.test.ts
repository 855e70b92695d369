import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { actorRows, definitions, kinds } from '#actors/capabilities.ts'
import { Headlines } from '#actors/observation/headlines.ts'
import { listActors } from '#actors/observation/list-actors.ts'
import { newId } from '#runtime/ids.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'
import { callOf } from '#test/support/call-of.ts'

const folder = mkdtempSync(join(tmpdir(), 'lists-'))
const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `lists_${randomBytes(6).toString('hex')}`

afterAll(async () => {
  rmSync(folder, { recursive: true })
  const client = new MongoClient(url)
  await client.db(database).dropDatabase()
  await client.close()
})

type Query = Parameters<typeof listActors>[1]['query']

/** Lists must not read actors. */
const noActor = async (): Promise<never> => {
  throw new Error('a list reads rows only')
}
const host = { find: noActor, load: noActor, rows: { shown: async () => {} } }

const actors = 4_000
const limit = 10
/** No index covers two filters: a page of the rarer one is scanned, however many actors there are. */
const maxRead = 200

const stateOf = (n: number): string => {
  if (n % 100 === 0) return 'paused'
  return n % 5 === 0 ? 'completed' : 'active.idle'
}

const fill = async ({ records }: Storage): Promise<void> => {
  const kind = actorRows.session
  if (kind === undefined) throw new Error('sessions have no list')
  const facts = { project: 'prj_a', user: null, version: 1, created_at: Date.now(), updated_at: Date.now() }
  const rows = Array.from({ length: actors }, (_, n) => {
    const id = newId('ses')
    const data = { id, agent_id: `agt_${n % 4}`, actor_state: stateOf(n), actor_activity: 'waiting' }
    return { kind, record: { ...facts, id, tenant: `ten_${n % 10}`, expires_at: null, data } }
  })
  await records.project(rows)
}

const filters: readonly Partial<Query>[] = [
  {},
  { state: 'paused' },
  { state: 'active.idle', agent_id: 'agt_3' },
  { state: 'completed', tenant_id: 'ten_5' },
  { activity: 'waiting', tenant_id: 'ten_5' },
  { from: '2020-01-01', to: '2100-01-01' },
]

/** Reads one page for each filter. */
const readPages = async (storage: Storage): Promise<void> => {
  const headlines = new Headlines(storage)
  const parts = { host, headlines, records: storage.records, definitions, rowsOfMachine: actorRows, now: Date.now }
  const scope = projectScope('prj_a')
  for (const filter of filters) {
    const query = { limit, machine: 'session', ...filter }
    const { data } = await listActors(parts, { ...callOf({ project_id: 'prj_a' }, query, undefined), scope })
    expect(data, JSON.stringify(filter)).toHaveLength(limit)
  }
}

/** The bench (`console`) measures the duration of lists over 100,000 actors. */
describe('lists of actors', () => {
  it('are read in index order for any filter in the embedded store', async () => {
    const path = join(folder, 'lists.db')
    const storage = openSqliteStorage({ path })
    await storage.records.prepare(kinds)
    await fill(storage)
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
    await readPages(storage)
    const texts = prepare.mock.calls.map(([text]) => text).filter((text) => /from records_sessions/.test(text))
    prepare.mockRestore()
    await storage.close()
    const file = new DatabaseSync(path)
    const plans = texts.map((text) => JSON.stringify(file.prepare(`explain query plan ${text}`).all()))
    file.close()
    expect(plans.length).toBeGreaterThan(0)
    for (const plan of plans) {
      expect(plan).toMatch(/SEARCH records_sessions USING INDEX/)
      expect(plan).not.toMatch(/SCAN|TEMP B-TREE/)
    }
  })

  it('are read in index order for any filter in MongoDB', async () => {
    const storage = await openPatientMongo({ url, database })
    await storage.records.prepare(kinds)
    await fill(storage)
    const client = new MongoClient(url)
    const db = client.db(database)
    await db.command({ profile: 2 })
    await readPages(storage)
    await db.command({ profile: 0 })
    const reads = await db
      .collection('system.profile')
      .find({ ns: /sessions$/, op: { $in: ['query', 'command'] } })
      .toArray()
    await client.close()
    await storage.close()
    expect(reads.length).toBeGreaterThanOrEqual(filters.length)
    for (const { planSummary, docsExamined, hasSortStage } of reads) {
      expect(planSummary).toMatch(/^IXSCAN/)
      expect(hasSortStage).toBeUndefined()
      expect(docsExamined).toBeLessThan(maxRead)
    }
  })
})
