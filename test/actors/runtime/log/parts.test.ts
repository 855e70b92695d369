import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { Compaction, endedStreams } from '#runtime/log/compaction.ts'
import { UpkeepSwitch, upkeepRows } from '#runtime/log/upkeep-switch.ts'
import type { LogEvent, Storage } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { MemoryCommits } from '#test/support/memory/commits.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, type ProbeOptions, type Run } from '../probe.ts'

const id = 'prb_1'
const other = 'prb_2'
const parts = 6

/** Streams parts a second apart, the last of which comes with the end. */
const speaks =
  (clock: VirtualClock): Run =>
  async (_params, { show }) => {
    for (let n = 0; n < parts; n++) {
      show(`part ${n}, `)
      await new Promise<void>((resolve) => clock.after(1100, resolve))
    }
    show('and the rest')
    return { event: { type: 'spoken', delta: '' }, takesText: true }
  }

const opened = async (options: ProbeOptions = {}) => {
  const { clock = new VirtualClock(), storage = openMemoryStorage() } = options
  const probe = await openProbe({ ...options, storage, clock, speak: speaks(clock) })
  const seqs = async () => (await storage.commits.ofActor(id, 0, 100)).map(({ seq }) => seq)
  return { probe, clock, storage, seqs }
}

const text = `${Array.from({ length: parts }, (_, n) => `part ${n}, `).join('')}and the rest`

/** The log as readers at every position see it, in pages of two events. */
const fromEverywhere = async ({ commits }: Storage, log: readonly LogEvent[]): Promise<void> => {
  for (let after = 0; after <= log.length; after++)
    expect(await commits.events(id, after, 2)).toEqual(log.slice(after, after + 2))
}

describe('the commit that ends a stream', () => {
  it('replaces the commits of its parts, and no event changes', async () => {
    const { probe, clock, storage, seqs } = await opened()
    await probe.create(id)
    await probe.deliver(id, { type: 'speak' })
    await clock.advance(6500)
    const during = await logOf(storage, id)
    expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    await clock.advance(500)
    const log = await logOf(storage, id)
    expect(await seqs()).toEqual([1, 2, 9])
    expect(log.slice(0, during.length)).toEqual(during)
    expect(log.at(-1)?.payload).toMatchObject({ text })
    await fromEverywhere(storage, log)
  })

  it.each([false, true])(
    'is not lost to a process that takes the actor over from an older head (gaps left: %s)',
    async (leavesGaps) => {
      const old = new FaultyStorage(openMemoryStorage())
      const { probe, clock } = await opened({ storage: old.storage })
      await probe.create(id)
      await probe.deliver(id, { type: 'speak' })
      await clock.advance(8000)
      const log = await logOf(old.inner, id)

      const commits = new MemoryCommits()
      commits.leavesGaps = leavesGaps
      const store = { ...openMemoryStorage(), commits }
      await openProbe({ storage: store, clock })
      await commits.append(old.appended.filter(({ seq }) => seq < 8))
      const faulty = new FaultyStorage(store)
      const gate = Promise.withResolvers<void>()
      faulty.hold(() => gate.promise)
      const next = await openProbe({ storage: faulty.storage, clock, atOnce: true })
      const found = next.find(id)
      await calm()
      for (const commit of old.appended.filter(({ seq }) => seq >= 8)) await commits.append([commit])
      gate.resolve()
      expect((await found).state.inFlight).toEqual({})
      await next.deliver(id, { type: 'count' })
      expect((await logOf(store, id)).slice(0, log.length)).toEqual(log)
      expect((await commits.head(id))?.in_flight).toEqual({})
      await fromEverywhere(store, await logOf(store, id))
    },
  )

  it('replaces those of a stream that another event ends', async () => {
    const { probe, clock, storage, seqs } = await opened()
    await probe.create(id)
    await probe.deliver(id, { type: 'speak' })
    await clock.advance(3500)
    const before = await logOf(storage, id)
    await probe.deliver(id, { type: 'stop' })
    expect(await seqs()).toEqual([1, 2, 7])
    expect((await logOf(storage, id)).slice(0, before.length)).toEqual(before)
  })

  it('leaves the parts before another commit, which are merged later', async () => {
    const { probe, clock, storage, seqs } = await opened()
    await probe.create(id)
    await probe.deliver(id, { type: 'speak' })
    await clock.advance(3500)
    await probe.deliver(id, { type: 'count' })
    await clock.advance(5000)
    const counted = (await logOf(storage, id)).find(({ event_type }) => event_type === 'counted')
    expect(counted).toBeDefined()
    expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 10])
    await fromEverywhere(storage, await logOf(storage, id))
  })

  it('leaves a part whose write was in doubt, of which a copy may still arrive', async () => {
    const faulty = new FaultyStorage(openMemoryStorage())
    const { probe, clock, storage, seqs } = await opened({ storage: faulty.storage })
    await probe.create(id)
    await probe.deliver(id, { type: 'speak' })
    faulty.next(undefined, 'answer_lost')
    await clock.advance(9000)
    const [copy] = await storage.commits.ofActor(id, 3, 1)
    expect(await seqs()).toEqual([1, 2, 3, 4, 9])
    if (copy === undefined) throw new Error('the part is there')
    expect(await faulty.inner.commits.append([copy])).toEqual(['overtaken'])
    await fromEverywhere(storage, await logOf(storage, id))
  })
})

describe('the parts of a stream', () => {
  it('are written once before its end: they are neither settled nor rows of lists', async () => {
    const { probe, clock, storage, seqs } = await opened()
    await probe.create(id)
    await probe.deliver(id, { type: 'speak' })
    await clock.advance(1500)
    const [settle, project] = [vi.spyOn(storage.commits, 'settle'), vi.spyOn(storage.records, 'project')]
    await clock.advance(5000)
    expect((await storage.commits.head(id))?.seq).toBe(2 + parts)
    expect(settle).not.toHaveBeenCalled()
    expect(project).not.toHaveBeenCalled()
    await clock.advance(600)
    expect(await seqs()).toEqual([1, 2, 9])
    await clock.advance(1100)
    expect(settle).toHaveBeenCalledOnce()
    expect(project).toHaveBeenCalledOnce()
  })

  it('are closed 64 at a time when they are many, so that another process finds few open', async () => {
    const clock = new VirtualClock()
    const storage = openMemoryStorage()
    const probe = await openProbe({
      ...{ storage, clock },
      speak: async (_params, { show }) => {
        for (let n = 0; n < 150; n++) {
          show(`${n} `)
          await new Promise<void>((resolve) => clock.after(1000, resolve))
        }
        return { event: { type: 'spoken', delta: '' }, takesText: true }
      },
    })
    await probe.create(id)
    await probe.deliver(id, { type: 'speak' })
    await clock.advance(140_000)
    const open = (await storage.commits.open({ limit: 500 })).map(({ seq }) => seq)
    expect(open.length).toBeLessThan(64)
    expect(Math.max(...open)).toBe((await storage.commits.head(id))?.seq)
  })

  it('are noted for a later merge, unless the store removes what a commit replaces in the same transaction', async () => {
    const notedOn = async (storage: Storage): Promise<number> => {
      const streamEnded = vi.fn()
      const { probe, clock } = await opened({ storage, streamEnded })
      await probe.create(id)
      await probe.deliver(id, { type: 'speak' })
      await clock.advance(9000)
      return streamEnded.mock.calls.length
    }
    expect(await notedOn(openMemoryStorage())).toBe(1)
    expect(await notedOn({ ...openMemoryStorage(), replacesAtOnce: true })).toBe(0)
  })
})

describe('a process that dies at the end of a stream', () => {
  it('before the replaced commits are removed leaves a log that reads the same, and they are removed later', async () => {
    const storage = openMemoryStorage()
    if (!(storage.commits instanceof MemoryCommits)) throw new Error('it is in memory')
    let left = 2
    storage.commits.cutsMerge = () => left-- <= 0
    const { clock, seqs } = await compacting(storage)
    expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6, 9])
    const log = await logOf(storage, id)
    await fromEverywhere(storage, log)
    left = 1000
    await clock.advance(180_000)
    expect(await seqs()).toEqual([1, 2, 9])
    expect(await logOf(storage, id)).toEqual(log)
    await fromEverywhere(storage, log)
  })

  it('loses no message that was sent before the replaced commits', async () => {
    const faulty = new FaultyStorage(openMemoryStorage())
    const { probe, clock } = await opened({ storage: faulty.storage })
    await probe.create(id)
    await probe.create(other)
    faulty.damaged.add(other)
    faulty.hold((commit) => (commit.actor === other ? new Promise(() => {}) : undefined))
    await probe.deliver(id, { type: 'send', messages: [{ to: other, event: { type: 'say', text: 'hello' } }] })
    await probe.deliver(id, { type: 'speak' })
    await clock.advance(9000)
    expect((await faulty.inner.commits.head(id))?.replaces).toBe(parts)
    faulty.crash()
    await opened({ storage: faulty.inner, clock })
    await clock.advance(5000)
    expect((await logOf(faulty.inner, other)).at(-1)).toMatchObject({ event_type: 'said', payload: { text: 'hello' } })
  })
})

const compacting = async (storage: Storage) => {
  await storage.records.prepare([endedStreams, upkeepRows])
  const clock = new VirtualClock()
  const { records, commits } = storage
  const upkeep = new UpkeepSwitch({ records, clock })
  const compaction = new Compaction({ records, commits, upkeep, clock, log: pino({ level: 'silent' }) })
  const world = await opened({ storage, clock, streamEnded: (ended) => compaction.note(ended) })
  compaction.start(world.probe.host.ownership)
  await world.probe.create(id)
  await world.probe.deliver(id, { type: 'speak' })
  await clock.advance(9000)
  return world
}
