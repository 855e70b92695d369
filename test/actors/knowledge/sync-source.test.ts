import { afterEach, expect, it } from 'vitest'
import { sourceRows } from '#actors/knowledge/kinds.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import type { SyncParts } from '#actors/knowledge/sources/sync-source.ts'
import { CredentialChanges } from '#actors/records/caches/credential-changes.ts'
import { Table } from '#actors/records/table.ts'
import { tenants } from '#actors/tenants/kinds.ts'
import { TenantDirectory } from '#actors/tenants/tenant-directory.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import { newId } from '#runtime/ids.ts'
import { contextOf } from '#runtime/schema.ts'
import { maxChunks } from '#specs/resources/knowledge/knowledge-limits.ts'
import type { documentTasks } from '#src/parsing/documents/document-tasks.ts'
import { ParserPool } from '#src/parsing/parser-pool.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { openWorld } from '../sessions/harness.ts'

it('fails sources beyond the maximum number of chunks of a base, even when they are read at the same time', async () => {
  const { host, storage, clock, runtime } = await openWorld()
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  // two places are left, and each source has one chunk
  const chunk_count = maxChunks - 2
  const document = { text: [], chunks: [], characters: 1, chunk_count, page_count: null, title: null }
  const data = { knowledge_base_id: 'kb_a', base_status: 'kb_a ready', status: 'ready', metadata: {}, document }
  const facts = { ...owner, version: 1, created_at: 1, updated_at: 1, expires_at: null }
  await storage.records.insert(sourceRows, { ...facts, id: newId('ksr'), data })
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const what = { mime_type: 'text/plain', filename: null }
  const place = { knowledge_base_id: 'kb_a', created_by: null, type: 'text', title: null, url: null }
  const rest = { ...what, refresh_interval_s: null, metadata: {} }
  const create = async (): Promise<string> => {
    const source_id = newId('ksr')
    const upload = await blobs.putUpload({ ...owner, source: source_id }, Buffer.from('One more.'), what)
    const input = { ...place, ...rest, source_id, upload, mime_type: null }
    await host.create({ kind: sourceDefinition, id: source_id, owner, input, cause: source_id })
    return source_id
  }
  const ids = await Promise.all(Array.from({ length: 6 }, create))
  const ends = async () => {
    const found = await Promise.all(ids.map((id) => host.find(projectScope('prj_a'), sourceDefinition, id)))
    return found
      .map(({ state }) => contextOf(sourceDefinition, state.snapshot))
      .map((all) => all.error?.code ?? all.document)
  }
  await expect.poll(ends).not.toContain(null)
  expect((await ends()).filter((end) => end === 'too_many_chunks')).toHaveLength(4)
  await runtime.drain(0)
})

const slow = new URL('../../parsing/slow-worker.ts', import.meta.url)
const parsers: ParserPool<typeof documentTasks>[] = []
afterEach(() => Promise.all(parsers.splice(0).map((parser) => parser.close())))

it('reads the document of another project while many slow ones wait, all of which are read in the end', async () => {
  const parser = new ParserPool<typeof documentTasks>({ deadlineMs: 20_000, maxWaiting: 16 }, slow)
  parsers.push(parser)
  const read: (string | undefined)[] = []
  const noted: SyncParts['parser'] = {
    parse: async (task, document, options) => {
      const answer = await parser.parse(task, document, options)
      read.push(options?.owner?.project)
      return answer
    },
  }
  const { host, storage, clock, runtime } = await openWorld({ documents: { parser: noted } })
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const what = { mime_type: 'text/plain', filename: null }
  const create = async (project: string, ms: number): Promise<() => Promise<string>> => {
    const owner = { project, tenant: null, user: null, createdAt: clock.now() }
    const source_id = newId('ksr')
    const upload = await blobs.putUpload({ ...owner, source: source_id }, Buffer.from(`${ms}`), what)
    const place = { knowledge_base_id: `kb_${project}`, created_by: null, type: 'text', title: null, url: null }
    const input = { ...place, ...what, refresh_interval_s: null, metadata: {}, source_id, upload, mime_type: null }
    await host.create({ kind: sourceDefinition, id: source_id, owner, input, cause: source_id })
    return async () => {
      const { state } = await host.find(projectScope(project), sourceDefinition, source_id)
      const { document, error } = contextOf(sourceDefinition, state.snapshot)
      return document === null ? (error?.code ?? 'pending') : 'read'
    }
  }
  const many = await Promise.all(Array.from({ length: 50 }, () => create('prj_a', 100)))
  const before = read.length
  const other = await create('prj_b', 1)
  const ends = () => Promise.all(many.map((end) => end()))
  await expect.poll(other, { timeout: 30_000 }).toBe('read')
  // the one in progress, and those that were read while the source was created
  expect(read.indexOf('prj_b') - before).toBeLessThan(10)
  await expect.poll(ends, { timeout: 30_000 }).toEqual(many.map(() => 'read'))
  await runtime.drain(0)
})

it('reads a source again whose stored text or chunks are gone, although its content is the same', async () => {
  const { host, storage, clock, runtime } = await openWorld()
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const source_id = newId('ksr')
  const what = { mime_type: 'text/plain', filename: null }
  const upload = await blobs.putUpload({ ...owner, source: source_id }, Buffer.from('Some words.'), what)
  const place = { knowledge_base_id: 'kb_a', created_by: null, type: 'text', title: null, url: null }
  const input = { ...place, ...what, refresh_interval_s: null, metadata: {}, source_id, upload }
  await host.create({ kind: sourceDefinition, id: source_id, owner, input, cause: source_id })
  const find = async () => host.find(projectScope('prj_a'), sourceDefinition, source_id)
  const state = async () => contextOf(sourceDefinition, (await find()).state.snapshot)
  await expect.poll(async () => (await state()).synced_at_ms).not.toBeNull()
  const { document } = await state()
  for (const name of [...(document?.text ?? []), ...(document?.chunks ?? [])]) await storage.blobs.remove('prj_a', name)
  await host.deliverTo(await find(), { event: { type: 'sync', upload: null }, cause: 'again' })
  await expect.poll(() => blobs.textIfThere({ ...owner, source: source_id }, document?.text ?? [])).toBe('Some words.')
  await expect.poll(async () => (await state()).changes).toEqual({ added: 0, removed: 0, unchanged: 1 })
  expect(await state()).toMatchObject({ document, error: null })
  await runtime.drain(0)
})

it('fetches a URL once while the store takes nothing for a while', async () => {
  const storage = openMemoryStorage()
  const { put } = storage.blobs
  let failures = 3
  storage.blobs.put = async (...blob) => {
    if (failures-- > 0) throw new StoreUnavailable('away')
    return put.apply(storage.blobs, blob)
  }
  let fetched = 0
  const page = () => {
    fetched++
    return { status: 200, text: 'Words of a page.' }
  }
  const { host, clock, runtime } = await openWorld({ storage, documents: { page } })
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const source_id = newId('ksr')
  const place = { knowledge_base_id: 'kb_a', created_by: null, type: 'url', title: null, url: 'https://example.com/' }
  const rest = { filename: null, mime_type: null, refresh_interval_s: null, metadata: {}, upload: null }
  await host.create({
    kind: sourceDefinition,
    id: source_id,
    owner,
    input: { ...place, ...rest, source_id },
    cause: 'c',
  })
  const synced = async () => {
    const { state } = await host.find(projectScope('prj_a'), sourceDefinition, source_id)
    return contextOf(sourceDefinition, state.snapshot).synced_at_ms
  }
  await expect.poll(synced, { timeout: 30_000 }).not.toBeNull()
  expect([fetched, failures < 0]).toEqual([1, true])
  await runtime.drain(0)
})

it("reads a suspended tenant's URL again only once the suspension is lifted", async () => {
  const storage = openMemoryStorage()
  let [fetched, status] = [0, 200]
  const page = () => {
    fetched++
    return { status, text: `Words of ${fetched}.` }
  }
  const directories: TenantDirectory[] = []
  const rests: SyncParts['rests'] = async (...named) => directories[0]?.rests(...named) ?? false
  const clock = new VirtualClock()
  const { host, runtime } = await openWorld({ storage, clock, documents: { page, rests } })
  const table = new Table(storage.records, tenants, clock.now)
  const data = { external_id: 'acme', name: 'Acme', status: 'active', region: null, metadata: {} } as const
  await table.insert({ id: 'ten_a', project: 'prj_a', tenant: 'ten_a', data })
  const credentialChanges = new CredentialChanges({ clock })
  directories.push(new TenantDirectory({ records: storage.records, now: clock.now, credentialChanges }))
  const suspend = (to: 'active' | 'suspended') =>
    table.change(projectScope('prj_a'), 'ten_a', { edit: (row) => ({ ...row.data, status: to }) })
  const owner = { project: 'prj_a', tenant: 'ten_a', user: null, createdAt: clock.now() }
  const source_id = newId('ksr')
  const place = { knowledge_base_id: 'kb_a', created_by: null, type: 'url', title: null, url: 'https://example.com/' }
  const rest = { filename: null, mime_type: null, refresh_interval_s: 300, metadata: {}, upload: null }
  const input = { ...place, ...rest, source_id }
  await host.create({ kind: sourceDefinition, id: source_id, owner, input, cause: 'c' })
  const find = () => host.find(projectScope('prj_a'), sourceDefinition, source_id)
  const state = async () => contextOf(sourceDefinition, (await find()).state.snapshot)
  const rested = async () => (await find()).state.snapshot
  await expect.poll(async () => (await state()).synced_at_ms).not.toBeNull()
  await suspend('suspended')
  const before = await state()
  for (let interval = 0; interval < 3; interval++) await clock.advance(301_000)
  await expect.poll(rested).toMatchObject({ value: { ready: 'scheduled' } })
  expect([fetched, await state()]).toEqual([1, { ...before, changes: { added: 0, removed: 0, unchanged: 1 } }])
  await suspend('active')
  status = 404
  await clock.advance(301_000)
  await expect.poll(async () => (await state()).error?.code).toBe('http_error')
  await suspend('suspended')
  await clock.advance(301_000)
  await expect.poll(rested).toMatchObject({ value: { failed: 'scheduled' } })
  expect([fetched, (await state()).error?.code]).toEqual([2, 'http_error'])
  await runtime.drain(0)
})
