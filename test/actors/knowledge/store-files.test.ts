import { expect, it } from 'vitest'
import { BaseAccess } from '#actors/knowledge/access/base-access.ts'
import { FileStore } from '#actors/knowledge/files/file-store.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import { storeFileUseCases } from '#actors/knowledge/stores/store-file-use-cases.ts'
import { StoreFiles } from '#actors/knowledge/stores/store-files.ts'
import { newId } from '#runtime/ids.ts'
import { callOf, openWorld } from '../sessions/harness.ts'

const auto = { chunking_strategy: { type: 'auto' } } as const

const opened = async (count: number) => {
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
    const content = (async function* () {
      yield Buffer.from(`Words of file ${n}.`)
    })()
    const facts = { filename: `${n}.txt`, purpose: 'assistants', mime_type: 'text/plain', content } as const
    ids.push((await files.create({ id: newId('file'), project: 'prj_a', tenant: null }, facts)).id)
  }
  const remove = (file_id: string) => useCases['vector_store_files.delete'](callOf({ ...at, file_id }, {}, undefined))
  return { useCases, at, ids, remove, close: () => runtime.drain(0) }
}

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
