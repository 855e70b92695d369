import { expect, it } from 'vitest'
import { FileStore } from '#actors/knowledge/files/file-store.ts'
import { fileUseCases } from '#actors/knowledge/files/file-use-cases.ts'
import { batchUseCases } from '#gateway/batches/batch-use-cases.ts'
import { CancelledBatches } from '#gateway/batches/cancelled-batches.ts'
import { callOf } from '#test/support/call-of.ts'
import { openServices } from '#test/support/open-services.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

it('a file with expires_after names its end, and is deleted with its content when that has passed', async () => {
  const { records, storage } = await openServices()
  const clock = { now: 1_767_225_600_000 }
  const files = new FileStore({ records, blobs: storage.blobs, now: () => clock.now })
  const useCases = fileUseCases({ files, storeFiles: Object({ document: async () => null }) })
  const upload = async (more: object) => {
    const body = { purpose: 'vision' as const, ...more }
    const file = { field: 'file', filename: 'a.png', contentType: 'image/png', bytes: Buffer.from('png') }
    return await useCases['files.create']({ ...callOf({}, {}, body), files: [file] })
  }
  const passing = await upload({ 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': 3_600 })
  const endless = upload({ 'expires_after[anchor]': 'created_at' })
  await expect(endless).rejects.toMatchObject({ code: 'missing_field', details: { param: 'expires_after[seconds]' } })
  const lasting = await upload({})
  expect([passing, lasting]).toMatchObject([{ purpose: 'vision', expires_at: 1_767_229_200 }, { purpose: 'vision' }])
  expect(lasting).not.toHaveProperty('expires_at')
  const ids = async () => {
    await files.removeExpired()
    const { data } = await useCases['files.list'](callOf({}, { limit: 100, order: 'asc' }, undefined))
    return data.map(({ id }) => id)
  }
  clock.now += 3_599_999
  expect(await ids()).toEqual([passing.id, lasting.id])
  clock.now += 1
  expect(await ids()).toEqual([lasting.id])
})

it('the file of a batch is kept until the batch has ended, although it expires before', async () => {
  const { records, storage } = await openServices()
  const clock = new VirtualClock(1_767_225_600_000)
  const files = new FileStore({ records, blobs: storage.blobs, now: clock.now })
  const { project, tenant, ...scope } = callOf({}, {}, {}).scope
  const content = async function* () {
    yield Buffer.from('{}')
  }
  const owner = { id: 'file_1', project, tenant }
  const data = {
    filename: 'a.jsonl',
    purpose: 'batch',
    mime_type: 'application/jsonl',
    ...files.expiry(3_600),
  } as const
  await files.create(owner, { ...data, content: content() })
  await files.create({ ...owner, id: 'file_2' }, { ...data, content: content() })
  const host = Object({ newActorId: () => 'batch_1', create: () => Promise.reject(new Error('no actors here')) })
  const batches = batchUseCases({
    host,
    records,
    clock,
    files: () => files.service,
    cancelled: new CancelledBatches(undefined),
  })
  const body = { input_file_id: 'file_1', endpoint: '/v1/chat/completions', completion_window: '24h' } as const
  await expect(batches['batches.create'](callOf({}, {}, body))).rejects.toThrow('no actors here')
  const left = async () => {
    await files.removeExpired()
    const found = await Promise.all(
      ['file_1', 'file_2'].map((id) => files.service.find({ project, tenant, ...scope }, id)),
    )
    return found.map((file) => file !== null)
  }
  expect(await left()).toEqual([true, true])
  await clock.advance(24 * 3_600_000)
  expect(await left()).toEqual([true, false])
  await clock.advance(3_600_000)
  expect(await left()).toEqual([false, false])
})
