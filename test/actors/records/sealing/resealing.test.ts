import { pino } from 'pino'
import { expect, it } from 'vitest'
import { boundRecords } from '#records/bound-records.ts'
import type { TypedKind } from '#records/schema.ts'
import { Resealing } from '#records/sealing/resealing.ts'
import { sealAnew } from '#records/sealing/sealed-anew.ts'
import type { RecordStore } from '#storage/ports.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const [old, next] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const before = openSecretBox({ masterKey: old })
const box = openSecretBox({ masterKey: next, previous: [old] })
const things: TypedKind<{ readonly secret: string }> = {
  name: 'things',
  sealed: [{ field: 'secret', aad: ({ id }) => id, instead: null, sentTo: null, loss: 'a thing' }],
}
const hour = 60 * 60 * 1000

const opened = async () => {
  const { records } = openMemoryStorage()
  await records.prepare([things])
  const clock = new VirtualClock()
  const parts = { records, kinds: [things], box, clock, log: pino({ level: 'silent' }) }
  return { records, clock, resealing: new Resealing(parts), parts }
}

const add = (records: RecordStore, id: string) =>
  records.insert(things, {
    ...{ id, project: 'prj_1', tenant: null, user: null, version: 1, created_at: 1, updated_at: 1, expires_at: null },
    data: { secret: before.seal(`of ${id}`, id) },
  })

const left = async (records: RecordStore) =>
  (await records.ofEveryProject(things, null, 100)).filter(({ data }) => !box.isCurrent(String(data.secret))).length

it('reseals existing rows at its start, and an hour later those that an older node has sealed since', async () => {
  const { records, clock, resealing } = await opened()
  await add(records, 'a')
  resealing.start()
  await clock.advance(0)
  await expect.poll(() => left(records)).toBe(0)
  await add(records, 'b')
  await clock.advance(hour)
  await expect.poll(() => left(records)).toBe(0)
  await resealing.stop()
})

it('fails if a row that others keep changing is still sealed under an earlier key', async () => {
  const { records, parts } = await opened()
  await add(records, 'a')
  const contended = { ...boundRecords(records), replace: async () => 'conflict' as const }
  await expect(sealAnew({ ...parts, records: contended }, () => true)).rejects.toThrow('things a')
  expect(await left(records)).toBe(1)
})

it('does nothing once it is stopped, even if it was not started before', async () => {
  const { records, clock, resealing, parts } = await opened()
  await add(records, 'a')
  await resealing.stop()
  resealing.start()
  await clock.advance(2 * hour)
  expect(await left(records)).toBe(1)
  expect(await sealAnew(parts, () => true)).toEqual({ earlier: 1, unreadable: 0 })
})
