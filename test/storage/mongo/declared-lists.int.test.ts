import { randomBytes } from 'node:crypto'
import { type Document, MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RecordKind, Storage } from '#storage/ports.ts'
import { projectScope, scopeAmong, tenantScope } from '#storage/scope.ts'
import { filteredKinds, listsOf, pageLength, rowsOf } from '../contract/declared-lists.ts'
import { openPatientMongo } from '../mongo-patience.ts'

const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `lists_${randomBytes(6).toString('hex')}`
const client = new MongoClient(url)
const db = client.db(database)
let store: Storage

/** Expired rows that a page may pass, and one key for each of the index's ends. */
const spare = 3

beforeAll(async () => {
  store = await openPatientMongo({ url, database, now: () => 1_000 })
  await store.records.prepare(filteredKinds)
  for (const kind of filteredKinds) await store.records.project(rowsOf(kind).map((record) => ({ kind, record })))
})

afterAll(async () => {
  await store.close()
  await db.dropDatabase()
  await client.close()
})

const readsOf = async (kind: RecordKind, read: () => Promise<void>): Promise<readonly Document[]> => {
  await db.setProfilingLevel('all')
  await read()
  await db.setProfilingLevel('off')
  const ns = `${database}.${kind.name}`
  const found = await db
    .collection('system.profile')
    .find({ ns, op: { $in: ['query', 'command'] } })
    .toArray()
  await db.collection('system.profile').drop()
  return found
}

describe('on MongoDB, every list that a kind declares', () => {
  it.each(filteredKinds.map((kind) => [kind.name, kind] as const))(
    'of %s reads its page alone, at its beginning and further on',
    async (_, kind) => {
      const lists = listsOf(kind)
      const reads = await readsOf(kind, async () => {
        for (const { scope, where } of lists) {
          const page = await store.records.list(kind, scope, { where, limit: pageLength })
          expect(page).toHaveLength(pageLength)
          const after = page.at(-1)?.id ?? ''
          expect(await store.records.list(kind, scope, { where, limit: pageLength, after })).toHaveLength(pageLength)
        }
      })
      expect(reads).toHaveLength(lists.length * 2)
      for (const { docsExamined, keysExamined, hasSortStage, planSummary } of reads) {
        expect(docsExamined, planSummary).toBeLessThanOrEqual(pageLength)
        expect(keysExamined, planSummary).toBeLessThanOrEqual(pageLength + spare)
        expect(hasSortStage).toBeUndefined()
      }
    },
  )

  it('of several tenants is merged from their lists', async () => {
    const [kind] = filteredKinds.filter(({ name }) => name === 'sessions')
    if (kind === undefined) throw new Error('there is no kind of sessions')
    const scope = scopeAmong(projectScope('prj_1'), { tenants: ['ten_1', 'ten_none'], untenanted: false })
    const reads = await readsOf(kind, async () => {
      for (const where of [{}, { status: 'rare' }, { status: 'rare', agent_id: 'rare' }]) {
        const page = await store.records.list(kind, scope, { where, limit: pageLength })
        expect(page.map(({ tenant }) => tenant)).toEqual(Array.from({ length: pageLength }, () => 'ten_1'))
      }
    })
    for (const { docsExamined, keysExamined } of reads) {
      expect(docsExamined).toBeLessThanOrEqual(pageLength)
      expect(keysExamined).toBeLessThanOrEqual(pageLength + spare)
    }
    expect(reads).toHaveLength(3)
  })

  it('is counted, and its rows are skipped, in the index alone', async () => {
    const [kind] = filteredKinds.filter(({ name }) => name === 'sessions')
    if (kind === undefined) throw new Error('there is no kind of sessions')
    const reads = await readsOf(kind, async () => {
      for (const { scope, where } of listsOf(kind)) {
        expect((await store.records.total(kind, scope, where)).count).toBeGreaterThanOrEqual(12)
        expect(await store.records.list(kind, scope, { where, limit: 2, skip: 6 })).toHaveLength(2)
      }
    })
    for (const { docsExamined, planSummary } of reads) expect(docsExamined, planSummary).toBeLessThanOrEqual(2)
  })

  it('is empty without reading a row for a tenant whose sessions are not of the installation', async () => {
    const [kind] = filteredKinds.filter(({ name }) => name === 'sessions')
    if (kind === undefined) throw new Error('there is no kind of sessions')
    const scope = tenantScope('prj_1', 'ten_other')
    const reads = await readsOf(kind, async () => {
      for (const where of [{ installation_id: 'common' }, { installation_id: 'common', status: 'common' }]) {
        expect(await store.records.list(kind, scope, { where, limit: pageLength })).toEqual([])
        expect(await store.records.total(kind, scope, where)).toEqual({ count: 0, is: 'exact' })
      }
    })
    for (const { docsExamined, keysExamined } of reads) {
      expect(docsExamined).toBe(0)
      expect(keysExamined).toBeLessThanOrEqual(spare)
    }
    expect(reads).toHaveLength(4)
  })

  it('has one of at most six indexes, if its rows are those of actors', async () => {
    const indexes = await Promise.all(
      filteredKinds.map(async ({ name, unique = [], outbox = false }) => ({
        name,
        // a unique key and an outbox need one each
        others: (await db.collection(name).indexes()).length - unique.length - (outbox ? 1 : 0),
      })),
    )
    for (const { name, others } of indexes) expect(others, name).toBeLessThanOrEqual(6)
  })

  it('ends in the database before its caller gives up', async () => {
    const [kind] = filteredKinds
    if (kind === undefined) throw new Error('there is no kind')
    const reads = await readsOf(kind, async () => {
      await store.records.list(kind, projectScope('prj_1'), { limit: 1 })
      await store.records.total(kind, projectScope('prj_1'))
    })
    // a socket ends after three seconds
    expect(reads.map(({ command }) => command.maxTimeMS)).toEqual([2_500, 2_500])
  })
})
