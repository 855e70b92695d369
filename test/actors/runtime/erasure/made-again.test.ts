import { expect, it } from 'vitest'
import { eraseActor } from '#runtime/erasure/erase-actor.ts'
import { removeLog } from '#runtime/erasure/erase-listed.ts'
import { erasedActors } from '#runtime/erasure/erased-actors.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { openProbe, owner } from '../probe.ts'
import { probeDefinition } from '../probe-machine.ts'

const id = 'prb_derived'
const text = 'z'.repeat(40_000)

/** An actor that was erased and made again under its id, in a store that several processes use after each other. */
const madeAgain = async () => {
  const clock = new VirtualClock()
  const inner = openMemoryStorage({ now: clock.now })
  await inner.records.prepare([erasedActors])
  const started = async () => {
    const faulty = new FaultyStorage(inner)
    const tidy = eraseActor({ storage: faulty.storage, clock }).run
    const probe = await openProbe({ storage: faulty.storage, clock, tidy })
    const make = () => {
      const made = { ...owner, createdAt: clock.now() }
      return probe.host.create({ kind: probeDefinition, id, owner: made, input: {}, cause: `made ${clock.now()}` })
    }
    const erase = async () => {
      await probe.deliver(id, { type: 'tidy' })
      await clock.advance(10_000)
      expect(await inner.commits.head(id)).toBeNull()
    }
    return { ...probe, faulty, make, erase }
  }
  const first = await started()
  await first.make()
  await first.erase()
  await first.make()
  await first.deliver(id, { type: 'keep', text })
  await first.deliver(id, { type: 'count' })
  return { clock, inner, first, started }
}

it('an actor that is made again after its erasure survives the removal of late writes', async () => {
  const { clock, first } = await madeAgain()
  await clock.advance(60_000)
  expect((await first.find(id)).state.snapshot.context).toMatchObject({ count: 1, blob: text })
})

it('an actor that is made again after its erasure survives each later start, also one that it does not reach', async () => {
  const { clock, first, started } = await madeAgain()
  first.faulty.crash()
  const next = await started()
  expect((await next.find(id)).state.snapshot.context).toMatchObject({ count: 1, blob: text })
  await clock.advance(60_000)
  next.faulty.crash()
  const last = await started()
  await clock.advance(60_000)
  expect((await last.find(id)).state.snapshot.context).toMatchObject({ count: 1, blob: text })
})

it('a late write of an erased actor is removed, whichever of those that had its id wrote it', async () => {
  const { clock, inner, first, started } = await madeAgain()
  const second = await inner.commits.head(id)
  await first.erase()
  if (second === null) throw new Error('it was there')
  await inner.commits.append([second])
  const next = await started()
  await expect(next.find(id)).rejects.toMatchObject({ code: 'not_found' })
  await inner.commits.append([{ ...second, open: false }])
  await clock.advance(60_000)
  expect(await inner.commits.head(id)).toBeNull()
})

it('an actor whose log was removed without an event can be made again', async () => {
  const { clock, inner, first, started } = await madeAgain()
  await removeLog({ storage: inner, host: first.host, clock }, { actor: id, ...owner })
  await clock.advance(1)
  await first.make()
  await first.deliver(id, { type: 'count' })
  first.faulty.crash()
  const next = await started()
  expect((await next.find(id)).state.snapshot.context).toMatchObject({ count: 1, blob: '' })
})

it('an actor that is made again has all that it stores, also what the first one had too', async () => {
  const { first, started } = await madeAgain()
  const said = 'y'.repeat(100_000)
  await first.deliver(id, { type: 'say', text: said })
  await first.erase()
  await first.make()
  await first.deliver(id, { type: 'keep', text })
  await first.deliver(id, { type: 'count' })
  await first.deliver(id, { type: 'say', text: said })
  first.faulty.crash()
  const next = await started()
  const found = await next.find(id)
  expect([found.unrestorable, found.state.snapshot.context]).toMatchObject([undefined, { count: 1, blob: text }])
  expect((await next.host.readPage(found, 0, 10)).some(({ payload }) => payload.text === said)).toBe(true)
})
