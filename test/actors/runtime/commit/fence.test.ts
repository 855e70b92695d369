import { expect, it } from 'vitest'
import { pause } from '#runtime/clock.ts'
import { guardedCommits } from '#runtime/commit/guarded-commits.ts'
import { markErased } from '#runtime/erasure/erased-actors.ts'
import { type CommitStore, type Storage, StoreUnavailable } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { forever, logOf, openProbe, owner, probeRows, read, typesOf } from '../probe.ts'

const id = 'prb_1'
const other = 'prb_2'

const headOf = async (storage: Storage, actor: string) => {
  const head = await storage.commits.head(actor)
  if (head === null) throw new Error(`${actor} has no commit`)
  return head
}

/** A process whose writes a test can hold back at `gate`, and the next process on the same store. */
const twoProcesses = async () => {
  const clock = new VirtualClock()
  const faulty = new FaultyStorage(openMemoryStorage({ now: clock.now }))
  const old = await openProbe({ storage: faulty.storage, clock })
  await old.create(id)
  await old.create(other)
  await clock.advance(5000)
  const gate = Promise.withResolvers<void>()
  return { clock, faulty, old, gate, open: () => openProbe({ storage: faulty.inner, clock }) }
}

it('rejects the pending write of an earlier process once the actor is taken over', async () => {
  const { faulty, old, gate, open } = await twoProcesses()
  faulty.hold(() => gate.promise)
  const late = old.deliver(id, { type: 'count' })
  await calm()
  const next = await open()
  await next.find(id)
  gate.resolve()
  await expect(late).rejects.toThrow(StoreUnavailable)
  expect(await logOf(faulty.inner, id)).toEqual([])
  await next.deliver(id, { type: 'count' })
  expect(typesOf(await logOf(faulty.inner, id))).toEqual(['counted'])
})

it('leaves nothing of an actor whose log is removed while it is taken over', async () => {
  const { clock, faulty, gate } = await twoProcesses()
  const { commits, records } = faulty.inner
  const late = new FaultyStorage(faulty.inner)
  late.hold(({ actor, event }) => (actor === id && event.type === '$fenced' ? gate.promise : undefined))
  const next = await openProbe({ storage: late.storage, clock })
  const finding = next.find(id)
  await calm()
  await markErased(records, { actor: id, made: owner.createdAt, now: clock.now() })
  await commits.forget(id)
  gate.resolve()
  await expect(finding).rejects.toMatchObject({ code: 'not_found' })
  expect(late.appended.map(({ actor }) => actor)).toContain(id)
  expect(await commits.head(id)).toBeNull()
})

/** The store behind a network where each call takes `ms`, with the reads that it has as one call. */
const behindNetwork = (storage: Storage, clock: VirtualClock, ms: number): Storage => {
  const slow = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return async (...given: readonly unknown[]) => {
          await pause(clock, ms)
          return Reflect.apply(method, target, given)
        }
      },
    })
  const { commits, records, blobs } = storage
  const headBeside: CommitStore['headBeside'] = async (actor, kind, project) => {
    const head = await commits.head(actor)
    return { head, beside: (await records.get(kind, projectScope(project), actor))?.data ?? null }
  }
  const joined = { ...guardedCommits(commits, (batch) => commits.append(batch)), headBeside }
  return { ...storage, commits: slow(joined), records: slow(records), blobs: slow(blobs) }
}

it('takes an actor with a turn in progress over in three round trips', async () => {
  const { clock, faulty, old } = await twoProcesses()
  await old.deliver(id, { type: 'speak' })
  for (let n = 0; n < 3; n++) await old.deliver(id, { type: 'count' })
  const opening = openProbe({
    storage: behindNetwork(faulty.inner, clock, 10),
    clock,
    atOnce: true,
    serving: new Promise(() => {}),
  })
  await clock.advance(1000)
  const next = await opening
  const from = clock.steady()
  const found = next.find(id).then(() => clock.steady() - from)
  await clock.advance(1000)
  expect(await found).toBe(30)
})

it('includes the write of an earlier process that precedes the fence', async () => {
  const { faulty, old, gate, open } = await twoProcesses()
  faulty.hold(() => gate.promise)
  const late = old.deliver(id, { type: 'count' })
  const next = await open()
  gate.resolve()
  await late
  await next.find(id)
  await next.deliver(id, { type: 'count' })
  expect(typesOf(await logOf(faulty.inner, id))).toEqual(['counted', 'counted'])
})

it('keeps the last-used time of an actor, in memory and in its list row', async () => {
  const { faulty, clock, open } = await twoProcesses()
  const { at } = await headOf(faulty.inner, id)
  const row = async () => (await faulty.inner.records.get(probeRows, projectScope(owner.project), id))?.updated_at
  await clock.advance(3_600_000)
  const next = await open()
  expect((await next.find(id)).touchedAt).toBe(at)
  await next.host.rows.settled()
  expect(await row()).toBe(at)
})

it('costs one commit for an actor that is loaded, and none for the others', async () => {
  const { clock, faulty, open } = await twoProcesses()
  const before = await headOf(faulty.inner, other)
  const next = await open()
  for (let n = 0; n < 3; n++) await next.find(id)
  const event = { type: '$fenced', at: clock.now(), crashed: true }
  expect(await headOf(faulty.inner, id)).toMatchObject({ seq: 2, epoch: 2, event })
  expect(await headOf(faulty.inner, other)).toEqual(before)
})

it('keeps the open work of the actor: reminders and effects', async () => {
  const { clock, faulty, old, open } = await twoProcesses()
  await old.deliver(id, { type: 'wait', ms: 60_000 })
  await old.deliver(id, { type: 'work', policy: 'idempotent' })
  faulty.crash()
  const next = await open()
  const { reminders, in_flight, due } = await headOf(faulty.inner, id)
  expect(Object.values(in_flight).map(({ name }) => name)).toEqual(['work'])
  expect(Object.values(reminders).map((reminder) => reminder.due)).toEqual([due])
  expect(next.host.effects.running).toBe(1)
  await clock.advance(61_000)
  expect(typesOf(await logOf(faulty.inner, id))).toEqual(['woke'])
})

it('ends the effects and streams of an actor in a process that has been replaced', async () => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage()
  const aborted: boolean[] = []
  const old = await openProbe({
    storage,
    clock,
    work: (params, context) => {
      context.signal.addEventListener('abort', () => aborted.push(true))
      return forever(params, context)
    },
  })
  await old.create(id)
  await old.deliver(id, { type: 'work', policy: 'idempotent' })
  const reader = read(old.host.feed.follow(id, 0, { at: 'never' }))
  const next = await openProbe({ storage, clock })
  await next.find(id)
  await expect(old.deliver(id, { type: 'count' })).rejects.toThrow(StoreUnavailable)
  expect(aborted).toEqual([true])
  expect(reader.ended).toBe('lost')
  expect(next.host.effects.running).toBe(1)
})

it('leaves reminders alone that a replaced process does not know', async () => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage()
  const old = await openProbe({ storage, clock })
  await old.create(id)
  const next = await openProbe({ storage, clock })
  await next.find(id)
  await next.deliver(id, { type: 'wait', ms: 1000 })
  await next.runtime.drain(0)
  // only the old process looks for due reminders
  await clock.advance(3000)
  expect((await headOf(storage, id)).due).not.toBeNull()
  await openProbe({ storage, clock })
  await clock.advance(1000)
  expect(typesOf(await logOf(storage, id))).toEqual(['woke'])
})
