import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, it } from 'vitest'
import { tenantKinds, tenants } from '#actors/tenants/kinds.ts'
import { TenantDirectory } from '#actors/tenants/tenant-directory.ts'
import { TenantExport } from '#actors/tenants/tenant-export.ts'
import { tenantUseCases } from '#actors/tenants/tenant-use-cases.ts'
import { newId } from '#runtime/ids.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'
import { callOf } from '../accounts/account-harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-tenants-'))
const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const database = `tenants_${randomBytes(6).toString('hex')}`

const stores: readonly (readonly [string, () => Storage | Promise<Storage>])[] = [
  ['sqlite', () => openSqliteStorage({ path: join(folder, 'tenants.db') })],
  ['mongo', () => openPatientMongo({ url, database })],
]

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  const client = new MongoClient(url)
  await client.db(database).dropDatabase()
  await client.close()
})

/** The tenant operations of one process. */
const processOn = (storage: Storage) => {
  const { records } = storage
  const now = Date.now
  const exports = new TenantExport({
    storage,
    host: { rows: { shown: async () => {} } },
    kinds: tenantKinds,
    actorRows: [],
    now,
  })
  return tenantUseCases({ records, directory: new TenantDirectory({ records, now }), exports, now })
}

describe.each(stores)('on %s', (_, open) => {
  it('fifty concurrent creations with one external id return the same tenant, and none of their changes is lost', async () => {
    const storage = await open()
    await storage.records.prepare(tenantKinds)
    const project = newId('prj')
    const processes = [processOn(storage), processOn(storage)]
    const caller = { kind: 'secret_key', project, keyId: 'key_1' } as const
    const created = await Promise.all(
      Array.from({ length: 50 }, (__, n) => {
        const body = { external_id: 'acme', name: `name ${n}`, metadata: {} }
        return processes[n % 2]?.['tenants.create'](callOf(caller, {}, {}, body))
      }),
    )
    expect(new Set(created.map((tenant) => tenant?.id)).size).toBe(1)
    const rows = await storage.records.list(tenants, projectScope(project), { limit: 10 })
    expect(rows).toMatchObject([{ id: created[0]?.id, version: 50 }])
    const lines = rows[0]?.outbox?.map(({ event }) => event.action ?? event.event_type) ?? []
    expect(lines.filter((line) => line === 'tenant.created')).toHaveLength(2)
    await storage.close()
  })
})
