import { expect, it } from 'vitest'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, read, typesOf } from './probe.ts'

const id = 'prb_1'
/** After this time an idle actor has left memory, including one round of the janitor. */
const idleMs = 62_000

it('removes an idle actor from memory, and restores it unchanged', async () => {
  const probe = await openProbe()
  await probe.create(id)
  for (let n = 0; n < 3; n++) await probe.deliver(id, { type: 'count' })
  await probe.deliver(id, { type: 'wait', ms: 600_000 })
  const { state } = await probe.find(id)
  await probe.clock.advance(idleMs)
  expect(probe.host.live).toBe(0)
  const again = (await probe.find(id)).state
  expect({ ...again, snapshot: again.snapshot.toJSON() }).toEqual({ ...state, snapshot: state.snapshot.toJSON() })
  await probe.deliver(id, { type: 'count' })
  expect((await logOf(probe.storage, id)).map((event) => event.sequence)).toEqual([1, 2, 3, 4])
})

it('keeps the text streamed so far when the actor leaves memory', async () => {
  const probe = await openProbe({ speak: async () => ({ event: { type: 'count' } }) })
  await probe.create(id)
  await probe.deliver(id, { type: 'speak' })
  await probe.deliver(id, { type: 'heard', delta: 'Hello, ' })
  await probe.deliver(id, { type: 'heard', delta: 'x'.repeat(100_000) })
  await probe.clock.advance(idleMs)
  expect(probe.host.live).toBe(0)
  await probe.deliver(id, { type: 'spoken' })
  expect((await logOf(probe.storage, id)).at(-1)).toBeDefined()
  const page = await probe.host.readPage(await probe.find(id), 0, 100)
  expect(page.at(-1)?.payload.text).toBe(`Hello, ${'x'.repeat(100_000)}`)
})

it('keeps an actor in memory while one of its effects runs', async () => {
  const probe = await openProbe()
  await probe.create(id)
  await probe.deliver(id, { type: 'work', policy: 'idempotent' })
  await probe.clock.advance(idleMs)
  expect(probe.host.live).toBe(1)
  await probe.deliver(id, { type: 'stop' })
  await probe.clock.advance(idleMs)
  expect(probe.host.live).toBe(0)
})

it('keeps an actor in memory while its messages are undelivered', async () => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const probe = await openProbe({ storage: faulty.storage })
  await probe.create(id)
  await probe.create('prb_2')
  faulty.hold((commit) => (commit.actor === 'prb_2' ? new Promise(() => {}) : undefined))
  await probe.deliver(id, { type: 'send', messages: [{ to: 'prb_2', event: { type: 'count' } }] })
  await probe.clock.advance(idleMs)
  expect([...probe.host.residents()].map((resident) => resident.id)).toEqual([id, 'prb_2'])
})

it('keeps the streams of an actor that leaves memory, and continues them when it is loaded again', async () => {
  const probe = await openProbe()
  await probe.create(id)
  const reader = read(probe.host.feed.follow(id, 0, { at: 'never' }))
  await probe.deliver(id, { type: 'count' })
  await probe.clock.advance(idleMs)
  expect(probe.host.live).toBe(0)
  await probe.deliver(id, { type: 'count' })
  expect(typesOf(reader.events)).toEqual(['counted', 'counted'])
})

it('leaves no open commit and no unneeded snapshot in the store once an actor is idle', async () => {
  const probe = await openProbe()
  await probe.create(id)
  await probe.create('prb_2')
  for (let n = 0; n < 5; n++) {
    await probe.deliver(id, { type: 'send', messages: [{ to: 'prb_2', event: { type: 'count' } }] })
  }
  await probe.deliver(id, { type: 'wait', ms: 600_000 })
  await probe.clock.advance(idleMs)
  const { commits } = probe.storage
  expect(await commits.open({ limit: 100 })).toEqual([])
  expect(
    (await commits.due({ now: Number.MAX_SAFE_INTEGER, limit: 100 })).map(({ actor, seq }) => [actor, seq]),
  ).toEqual([[id, 7]])
  const kept = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((seq) => commits.at(id, seq)))
  expect(kept.map((commit) => commit?.snapshot !== undefined)).toEqual([false, false, false, false, false, true, true])
})

it('applies an event to the newest state if the caller holds the actor from before it left memory', async () => {
  const probe = await openProbe()
  await probe.create(id)
  const held = await probe.find(id)
  await probe.clock.advance(idleMs)
  await probe.deliver(id, { type: 'count' })
  await probe.host.deliverTo(held, { event: { type: 'count' }, cause: 'held' })
  await calm()
  expect((await probe.find(id)).state.snapshot.context).toMatchObject({ count: 2 })
})
