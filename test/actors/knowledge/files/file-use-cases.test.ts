import { expect, it } from 'vitest'
import { FileStore } from '#actors/knowledge/files/file-store.ts'
import { fileUseCases } from '#actors/knowledge/files/file-use-cases.ts'
import { callOf } from '#test/support/call-of.ts'
import { openServices } from '#test/support/open-services.ts'

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
