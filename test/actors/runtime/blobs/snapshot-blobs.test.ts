import { expect, it } from 'vitest'
import { readActor } from '#runtime/activation.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { openProbe, owner, type Probe } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'

const id = 'prb_1'
/** A context that is too long for a snapshot. */
const long = (n: number): string => `${n} `.padEnd(40_000, 'x')
const keep = ({ deliver }: Pick<Probe, 'deliver'>, n: number) => deliver(id, { type: 'keep', text: long(n) })
const namesIn = ({ blobs }: Storage) => blobs.hashes(owner.project, null, 1_000)
const keptBy = async ({ find }: Probe) => Reflect.get((await find(id)).state.snapshot.context, 'blob')

/** A process on a store, and a later one after its death. */
const opened = async () => {
  const clock = new VirtualClock()
  const faulty = new FaultyStorage(openMemoryStorage({ now: clock.now }))
  const probe = await openProbe({ storage: faulty.storage, clock })
  await probe.create(id)
  const restarted = async () => {
    faulty.crash()
    return openProbe({ storage: faulty.inner, clock })
  }
  return { clock, faulty, probe, restarted }
}

it('leaves the newest blobs of a long context, not one of each change', async () => {
  const { clock, faulty, probe, restarted } = await opened()
  for (let n = 0; n < 40; n++) {
    await keep(probe, n)
    await clock.advance(2_000)
  }
  expect((await namesIn(faulty.inner)).length).toBeLessThanOrEqual(3)
  expect(await keptBy(await restarted())).toBe(long(39))
})

it('removes the blobs of a context that has become short', async () => {
  const { clock, faulty, probe } = await opened()
  await keep(probe, 1)
  for (let n = 0; n < 4; n++) {
    await probe.deliver(id, { type: 'keep', text: `short ${n}` })
    await clock.advance(2_000)
  }
  expect(await namesIn(faulty.inner)).toEqual([])
})

it('keeps a context that becomes what it was before', async () => {
  const { clock, probe, restarted } = await opened()
  for (const n of [1, 2, 1, 3, 3, 2, 1, 2, 2, 2, 1]) {
    await keep(probe, n)
    await probe.deliver(id, { type: 'count' })
    await clock.advance(2_000)
  }
  expect(await keptBy(await restarted())).toBe(long(1))
})

it('stores a context that does not change once, also after a takeover', async () => {
  const { faulty, probe, restarted } = await opened()
  await keep(probe, 1)
  const names = await namesIn(faulty.inner)
  await probe.deliver(id, { type: 'count' })
  const next = await restarted()
  await next.deliver(id, { type: 'count' })
  expect([names.length, await namesIn(faulty.inner)]).toEqual([1, names])
})

it('keeps what the log says after a context of the same content was replaced', async () => {
  const { clock, faulty, probe } = await opened()
  const text = 'y'.repeat(100_000)
  await probe.deliver(id, { type: 'say', text })
  await probe.deliver(id, { type: 'keep', text })
  for (let n = 0; n < 5; n++) await keep(probe, n)
  await clock.advance(2_000)
  const page = await probe.host.readPage(await probe.find(id), 0, 10)
  expect(page.map(({ payload }) => payload.text)).toEqual([text])
  expect((await namesIn(faulty.inner)).length).toBeLessThanOrEqual(4)
})

it('lets the next owner remove what a process left that was killed before it could', async () => {
  const { clock, faulty, probe, restarted } = await opened()
  for (let n = 0; n < 10; n++) await keep(probe, n)
  const left = await namesIn(faulty.inner)
  expect(left.length).toBe(10)
  const next = await restarted()
  await keep(next, 10)
  await next.deliver(id, { type: 'count' })
  await clock.advance(5_000)
  expect((await namesIn(faulty.inner)).length).toBeLessThanOrEqual(3)
  expect(await keptBy(next)).toBe(long(10))
})

it('is whole for a write whose answer was lost, and for one that arrives late', async () => {
  for (const fault of ['answer_lost', 'late', 'refused'] as const) {
    const { clock, faulty, probe, restarted } = await opened()
    for (let n = 0; n < 5; n++) await keep(probe, n)
    faulty.next(fault)
    const sent = keep(probe, 5).catch(() => {})
    await clock.advance(5_000)
    await sent
    await keep(probe, 6).catch(() => {})
    await clock.advance(5_000)
    await faulty.release()
    const next = await restarted()
    await keep(next, 7)
    await next.deliver(id, { type: 'count' })
    await clock.advance(5_000)
    const last = await openProbe({ storage: faulty.inner, clock })
    expect(await keptBy(last)).toBe(long(7))
    expect((await namesIn(faulty.inner)).length).toBeLessThanOrEqual(4)
  }
})

it('reads an actor again whose context is replaced, and its blobs removed, while it is read', async () => {
  const { clock, faulty, probe } = await opened()
  await keep(probe, 0)
  let reads = 0
  const { inner } = faulty
  const slow: Storage = {
    ...inner,
    blobs: {
      ...inner.blobs,
      get: async (project, hash) => {
        if (reads++ > 0) return inner.blobs.get(project, hash)
        for (let n = 1; n < 4; n++) await keep(probe, n)
        await clock.advance(5_000)
        return inner.blobs.get(project, hash)
      },
    },
  }
  const read = await readActor({ storage: slow, definitions: [probeDefinition] }, id)
  expect([read?.unrestorable, Reflect.get(read?.state.snapshot.context, 'blob')]).toEqual([undefined, long(3)])
  reads = 0
  const next = await openProbe({ storage: slow, clock, atOnce: true })
  await calm()
  const found = await next.host.find(projectScope(owner.project), probeDefinition, id)
  expect([found.unrestorable, Reflect.get(found.state.snapshot.context, 'blob')]).toEqual([undefined, long(3)])
})
