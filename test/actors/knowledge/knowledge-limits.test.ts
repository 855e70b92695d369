import { expect, it } from 'vitest'
import { BaseAccess } from '#actors/knowledge/access/base-access.ts'
import { grantUseCases } from '#actors/knowledge/access/grant-use-cases.ts'
import { knowledgeBases, knowledgeGrants, sourceRows } from '#actors/knowledge/kinds.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { sourceUseCases } from '#actors/knowledge/sources/source-use-cases.ts'
import { maxGrants, maxSources } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { RecordStore } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openServices } from '#test/support/open-services.ts'
import { callOf, openWorld } from '../sessions/harness.ts'

const facts = { project: 'prj_a', tenant: null, user: null, version: 1, created_at: 1, updated_at: 1, expires_at: null }
const scope = projectScope('prj_a')
const params = { knowledge_base_id: 'kb_a' }
const requests = 8

const insertBase = (records: RecordStore) =>
  records.insert(knowledgeBases, {
    ...facts,
    id: 'kb_a',
    data: { name: 'A', description: null, tenant_id: null, metadata: {} },
  })

/** Codes of the errors of these requests. */
const refusals = async (made: readonly Promise<unknown>[]): Promise<readonly unknown[]> => {
  const settled = await Promise.allSettled(made)
  return settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))
}

/** A store with this many more grants than it contains: 10,000 rows with a unique key take minutes in memory. */
const withGrants = (records: RecordStore, more: number): RecordStore =>
  new Proxy(records, {
    get: (store, name) => {
      if (name !== 'count') return Object(Reflect.get(store, name)).bind(store)
      return async (...query: Parameters<RecordStore['count']>) =>
        (await store.count(...query)) + (query[0].name === knowledgeGrants.name ? more : 0)
    },
  })

it('grants of a base do not exceed their limit when they are created at the same time', async () => {
  const { records, clock } = await openServices()
  await insertBase(records)
  const access = new BaseAccess(withGrants(records, maxGrants - 3), clock.now)
  const useCases = grantUseCases({ access, checkTenant: () => {} })
  const body = (n: number) => ({ subject_type: 'tenant', subject_id: `new_${n}`, permissions: ['read'] }) as const
  const made = Array.from({ length: requests }, (_, n) =>
    useCases['knowledge_grants.create'](callOf(params, {}, body(n))),
  )
  expect(await refusals(made)).toEqual(Array(requests - 3).fill('knowledge_limit_reached'))
  expect(await records.count(knowledgeGrants, scope, params)).toBe(3)
})

it('sources of a base do not exceed their limit when they are added at the same time', {
  timeout: 30_000,
}, async () => {
  const { host, storage, clock, runtime } = await openWorld()
  await insertBase(storage.records)
  for (let n = 0; n < maxSources - 3; n++) {
    const data = { ...params, base_status: 'kb_a ready', status: 'ready', metadata: {}, document: null }
    await storage.records.insert(sourceRows, { ...facts, id: `ksr_${n}`, data })
  }
  const access = new BaseAccess(storage.records, clock.now)
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const guard = { content: { check: () => {}, request: () => Promise.reject(new Error('no network')) } }
  const useCases = sourceUseCases({ host, storage, access, blobs, guard: Object(guard), changed: () => {}, clock })
  const made = Array.from({ length: requests }, (_, n) =>
    useCases['knowledge_sources.create'](callOf(params, {}, { text: `Otter ${n}.`, metadata: {} })),
  )
  expect(await refusals(made)).toEqual(Array(requests - 3).fill('knowledge_limit_reached'))
  await host.rows.shown()
  expect(await storage.records.count(sourceRows, scope, params)).toBe(maxSources)
  await runtime.drain(0)
})
