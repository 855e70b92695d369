import { describe, expect, it } from 'vitest'
import { BaseAccess } from '#actors/knowledge/access/base-access.ts'
import { FileStore } from '#actors/knowledge/files/file-store.ts'
import { fileBatches } from '#actors/knowledge/kinds.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { additionNotice, storeAdditions } from '#actors/knowledge/stores/store-additions.ts'
import { storeFileUseCases } from '#actors/knowledge/stores/store-file-use-cases.ts'
import { StoreFiles } from '#actors/knowledge/stores/store-files.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import { callOf, openWorld } from '../sessions/harness.ts'

const auto = { chunking_strategy: { type: 'auto' } } as const

const words = async function* (n: number) {
  yield Buffer.from(`Words of file ${n}.`)
}

const opened = async (count: number, contentOf: (n: number) => AsyncGenerator<Buffer> = words) => {
  const { host, storage, clock, runtime } = await openWorld()
  const { records } = storage
  const access = new BaseAccess(records, clock.now)
  const files = new FileStore({ records, blobs: storage.blobs, now: clock.now })
  const blobs = new SourceBlobs(storage.blobs, clock.now)
  const parts = { host, storage, records, clock, access, files, blobs, guard: { content: Object({}) } }
  const storeFiles = new StoreFiles({ ...parts, changed: () => {} })
  const useCases = storeFileUseCases({ ...parts, storeFiles })
  const base = newId('kb')
  const data = { name: 'Base', description: null, tenant_id: null, metadata: {} }
  await access.bases.insert({ id: base, project: 'prj_a', data })
  const at = { vector_store_id: base.replace('kb_', 'vs_') }
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const content = contentOf(n)
    const facts = { filename: `${n}.txt`, purpose: 'assistants', mime_type: 'text/plain', content } as const
    ids.push((await files.create({ id: newId('file'), project: 'prj_a', tenant: null }, facts)).id)
  }
  const remove = (file_id: string) => useCases['vector_store_files.delete'](callOf({ ...at, file_id }, {}, undefined))
  const list = async () => (await useCases['vector_store_files.list'](callOf(at, { limit: 100 }, undefined))).data
  return { useCases, storeFiles, storage, records, base, at, ids, remove, list, close: () => runtime.drain(0) }
}

const megabytes = async function* (n: number) {
  for (let part = 0; part < 20; part++) yield Buffer.alloc(1024 * 1024, `Part ${part} of file ${n}. `)
}

it('a file is copied part by part, so that many copies at the same time take little memory', async () => {
  const { useCases, storage, at, ids, close } = await opened(1, megabytes)
  const { get, put } = storage.blobs
  let [read, held, most] = [0, 0, 0]
  storage.blobs.get = async (...name) => {
    const text = await get.apply(storage.blobs, name)
    if (name[1].includes('raw') && read++ < 27) most = Math.max(most, ++held)
    return text
  }
  storage.blobs.put = async (...blob) => {
    if (blob[1].includes('raw')) held--
    return put.apply(storage.blobs, blob)
  }
  await useCases['vector_store_files.create'](callOf(at, {}, { file_id: ids[0] ?? '', ...auto }))
  expect([read >= 27, most]).toEqual([true, 1])
  await close()
})

it('leaves nothing of a copy of a file that was deleted meanwhile', async () => {
  const { useCases, storage, at, ids, list, close } = await opened(1, megabytes)
  const namesOf = () => storage.blobs.hashes('prj_a', null, 200)
  const before = await namesOf()
  const { get } = storage.blobs
  let read = 0
  storage.blobs.get = async (...name) => (name[1].includes('raw') && ++read > 3 ? null : get.apply(storage.blobs, name))
  const adding = useCases['vector_store_files.create'](callOf(at, {}, { file_id: ids[0] ?? '', ...auto }))
  await expect(adding).rejects.toMatchObject({ code: 'not_found' })
  expect([await namesOf(), await list()]).toEqual([before, []])
  await close()
})

it('the files of a store are all removed by a loop that removes each page before it reads the next', async () => {
  const { useCases, at, ids, remove, close } = await opened(5)
  for (const file_id of ids) await useCases['vector_store_files.create'](callOf(at, {}, { file_id, ...auto }))
  const removed: string[] = []
  for (let after: string | undefined, more = true; more; ) {
    const query = { limit: 2, ...(after !== undefined && { after }) }
    const page = await useCases['vector_store_files.list'](callOf(at, query, undefined))
    for (const { id } of page.data) removed.push((await remove(id)).id)
    ;[after, more] = [page.last_id ?? undefined, page.has_more]
  }
  expect(removed.toSorted()).toEqual(ids.toSorted())
  await close()
})

it.each(['asc', 'desc'] as const)(
  'the files of a batch are read once in order %s, although some are removed',
  async (order) => {
    const { useCases, at, ids, remove, close } = await opened(5)
    const { id: file_batch_id } = await useCases['vector_store_file_batches.create'](
      callOf(at, {}, { file_ids: ids, ...auto }),
    )
    const read: string[] = []
    for (let after: string | undefined, more = true; more && read.length < 10; ) {
      const query = { limit: 2, order, ...(after !== undefined && { after }) }
      const page = await useCases['vector_store_file_batches.files'](callOf({ ...at, file_batch_id }, query, undefined))
      read.push(...page.data.map(({ id }) => id))
      ;[after, more] = [page.last_id ?? undefined, page.has_more]
      if (after !== undefined) await remove(after)
    }
    expect(read).toEqual(order === 'asc' ? ids : ids.toReversed())
    await close()
  },
)

describe('the additions of a batch that are delivered again after a crash', () => {
  const batch = async () => {
    const opening = await opened(3)
    const { useCases, records, at, ids, storeFiles } = opening
    const create = (file_ids: readonly string[], attributes = {}) =>
      useCases['vector_store_file_batches.create'](callOf(at, {}, { file_ids: [...file_ids], attributes, ...auto }))
    /** Delivers the additions of all batches, as a process that starts after a crash. */
    const again = async () => {
      for (const { project, outbox } of await records.openOutboxes(fileBatches, null, 9))
        for (const message of outbox ?? [])
          await storeAdditions(storeFiles)({ project, tenant: null, user: null }, message, true)
    }
    const names = async () => (await opening.list()).map(({ id }) => id).toSorted()
    return { ...opening, create, again, names, ids: ids.toSorted() }
  }

  it('add no file again that was removed in between, whether the batch or an earlier request had added it', async () => {
    const { useCases, at, create, remove, again, names, ids, close } = await batch()
    await useCases['vector_store_files.create'](callOf(at, {}, { file_id: ids[0] ?? '', ...auto }))
    await create(ids)
    expect(await names()).toEqual(ids)
    for (const file_id of ids.slice(0, 2)) await remove(file_id)
    await again()
    expect(await names()).toEqual(ids.slice(2))
    await close()
  })

  it('leave the attributes of a file that were changed in between', async () => {
    const { useCases, at, create, again, list, ids, close } = await batch()
    await create(ids, { kind: 'old' })
    const [file_id = ''] = ids
    await useCases['vector_store_files.update'](callOf({ ...at, file_id }, {}, { attributes: { kind: 'new' } }))
    await again()
    expect((await list()).find(({ id }) => id === file_id)?.attributes).toEqual({ kind: 'new' })
    await close()
  })

  it('add what was not added before, and a file that a later request adds again after its removal', async () => {
    const { records, create, remove, again, names, ids, base, close } = await batch()
    const by = { kind: 'system', id: null } as const
    const files = ids.map((file_id, at) => ({ file_id, param: `file_ids[${at}]` }))
    const id = newId('vsfb')
    const data = { knowledge_base_id: base, file_ids: ids, cancelled: false }
    const notices = additionNotice({ base, files, by, request: id })
    await new Table(records, fileBatches, Date.now).insert({ id, project: 'prj_a', data, notices })
    await again()
    expect(await names()).toEqual(ids)
    await remove(ids[0] ?? '')
    await create(ids.slice(0, 1))
    await again()
    expect(await names()).toEqual(ids)
    await close()
  })
})
