import { expect, it } from 'vitest'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { openProbe } from '../probe.ts'

it('files the commits of two stores of one process under the shards of each', async () => {
  const clock = new VirtualClock()
  const [few, many] = [openMemoryStorage(clock), { ...openMemoryStorage(clock), shards: 1024 }]
  const probes = [await openProbe({ storage: few, clock }), await openProbe({ storage: many, clock })]
  const ids = Array.from({ length: 40 }, (_, n) => `prb_of_two_${n}`)
  for (const id of ids) for (const probe of probes) await probe.create(id)
  for (const store of [few, many]) {
    const shards = await Promise.all(ids.map(async (id) => (await store.commits.head(id))?.shard))
    expect(shards).toEqual(ids.map((id) => shardsOf(store).of(id)))
  }
  expect(ids.some((id) => shardsOf(many).of(id) >= shardsOf(few).count)).toBe(true)
})
