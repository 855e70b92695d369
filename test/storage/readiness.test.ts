import { expect, it } from 'vitest'
import { type RecordStore, type Storage, StoreUnavailable } from '#storage/ports.ts'
import { readinessOf, writeProbes } from '#storage/readiness.ts'
import { openHealth } from '#transport/health.ts'
import { openProcessState } from '#transport/process-state.ts'
import { openMemoryStorage } from '../support/memory/open-memory-storage.ts'
import { FakeResponse } from '../transport/http/fakes.ts'

/** A store whose disk can fill up: reads continue, writes fail. */
const fillable = async () => {
  const inner = openMemoryStorage()
  await inner.records.prepare([writeProbes])
  const disk = { full: false, writes: 0, now: 1_000 }
  const project: RecordStore['project'] = async (rows) => {
    disk.writes++
    if (disk.full) throw new StoreUnavailable('no space left')
    await inner.records.project(rows)
  }
  const records = new Proxy(inner.records, {
    get: (target, name) => (name === 'project' ? project : Reflect.get(target, name)),
  })
  const storage: Storage = { ...inner, records }
  const health = openHealth({ ping: readinessOf(storage, () => disk.now), state: openProcessState() })
  const status = async (): Promise<number | undefined> => {
    const response = new FakeResponse()
    await health.ready(response)
    return response.status
  }
  return { disk, status }
}

it('a server is not ready while the disk is full, even if reads succeed, and ready when there is space', async () => {
  const { disk, status } = await fillable()
  expect(await status()).toBe(200)
  disk.full = true
  disk.now += 1000
  expect([await status(), await status()]).toEqual([503, 503])
  disk.full = false
  expect(await status()).toBe(200)
})

it('the readiness check writes at most once per second while writes succeed', async () => {
  const { disk, status } = await fillable()
  for (let probe = 0; probe < 50; probe++) expect(await status()).toBe(200)
  expect(disk.writes).toBe(1)
  disk.now += 1000
  await status()
  expect(disk.writes).toBe(2)
})

it('a server is not ready if the store does not respond, even right after a successful write', async () => {
  const { records } = openMemoryStorage()
  await records.prepare([writeProbes])
  let away = false
  const ping = async (): Promise<void> => {
    if (away) throw new StoreUnavailable('away')
  }
  const ready = readinessOf({ records, ping }, () => 0)
  await ready()
  away = true
  await expect(ready()).rejects.toThrow(StoreUnavailable)
})
