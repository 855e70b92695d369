import { pino } from 'pino'
import { expect, it } from 'vitest'
import { Compaction, endedStreams } from '#runtime/log/compaction.ts'
import { UpkeepSwitch, upkeepRows } from '#runtime/log/upkeep-switch.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'
import type { LogEvent, Storage } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { MemoryCommits } from '#test/support/memory/commits.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, owner, type Run, read } from '../probe.ts'

const parts = 30
const minutes = 60_000

/** Number of commits that have the parts after a merge: longer ones than the commit that ends the effect takes over. */
const merged = 2
const long = 'x'.repeat(2_130)

const speaks: Run = async (_params, { part }) => {
  for (let n = 0; n < parts; n++) await part({ type: 'heard', delta: `${n} ${long}` }, { type: 'heard' })
  return { event: { type: 'spoken' } }
}

interface Opened {
  readonly storage?: Storage
  readonly clock?: VirtualClock
}

/** A runtime that merges the deltas of ended streams. */
const openCompacting = async ({ storage = openMemoryStorage(), clock = new VirtualClock() }: Opened = {}) => {
  await storage.records.prepare([endedStreams, upkeepRows])
  const { records, commits } = storage
  const upkeep = new UpkeepSwitch({ records, clock })
  const compaction = new Compaction({ records, commits, upkeep, clock, log: pino({ level: 'silent' }) })
  const probe = await openProbe({ storage, clock, speak: speaks, streamEnded: (ended) => compaction.note(ended) })
  compaction.start(probe.host.ownership)
  return { probe, compaction, upkeep, storage, clock }
}

type Compacting = Awaited<ReturnType<typeof openCompacting>>

const id = 'prb_1'

/** Creates an actor that has streamed a text. @returns its log */
const spoken = async ({ probe, clock, storage }: Compacting, actor = id): Promise<readonly LogEvent[]> => {
  await probe.create(actor)
  await probe.deliver(actor, { type: 'speak' })
  await clock.advance(5000)
  return logOf(storage, actor)
}

const commitsOf = async ({ commits }: Storage, actor: string): Promise<number> =>
  (await commits.ofProject(owner.project, null, 1000)).filter((commit) => commit.actor === actor).length

it('merges the parts of a stream minutes after it has ended, without a change of any event', async () => {
  const world = await openCompacting()
  const before = await spoken(world)
  expect(before).toHaveLength(parts + 2)
  expect(await commitsOf(world.storage, id)).toBe(parts + 3)
  await world.clock.advance(1 * minutes)
  expect(await commitsOf(world.storage, id)).toBe(parts + 3)
  await world.clock.advance(2 * minutes)
  expect(await commitsOf(world.storage, id)).toBe(3 + merged)
  expect(await logOf(world.storage, id)).toEqual(before)
  expect(await world.compaction.state()).toEqual({ waiting: 0, oldestAt: null, merged: 1, removed: parts - merged })
})

it('lets streams resume before, inside and after merged events', async () => {
  const world = await openCompacting()
  const before = await spoken(world)
  await world.clock.advance(4 * minutes)
  for (const after of [0, 1, 2, 15, parts, parts + 1, parts + 2]) {
    const reader = read(world.probe.host.feed.follow(id, after, { at: 'never' }))
    await world.clock.advance(0)
    expect(reader.events.map(({ sequence }) => sequence)).toEqual(before.slice(after).map(({ sequence }) => sequence))
    expect(reader.events.map(({ payload }) => payload)).toEqual(before.slice(after).map(({ payload }) => payload))
    reader.control.stop()
  }
})

it('lets the actor continue without a difference', async () => {
  const world = await openCompacting()
  await spoken(world)
  await world.clock.advance(4 * minutes)
  await world.probe.deliver(id, { type: 'speak' })
  await world.clock.advance(5 * minutes)
  const events = await logOf(world.storage, id)
  expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 2 * (parts + 2) }, (_, n) => n + 1))
  expect(await commitsOf(world.storage, id)).toBe(5 + 2 * merged)
})

it('merges after a crash the streams that ended before it', async () => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const clock = new VirtualClock()
  const before = await spoken(await openCompacting({ storage: faulty.storage, clock }))
  faulty.crash()
  const next = await openCompacting({ storage: faulty.inner, clock })
  await clock.advance(4 * minutes)
  // including a fence
  expect(await commitsOf(next.storage, id)).toBeLessThanOrEqual(4 + merged)
  expect(await logOf(next.storage, id)).toEqual(before)
})

it('resumes after a crash in the middle of a merge, and readers see no difference', async () => {
  const storage = openMemoryStorage()
  if (!(storage.commits instanceof MemoryCommits)) throw new Error('it is in memory')
  const world = await openCompacting({ storage })
  const before = await spoken(world)
  storage.commits.cutsMerge = () => true
  await world.clock.advance(4 * minutes)
  expect(await commitsOf(storage, id)).toBe(parts + 3)
  for (let after = 0; after < parts; after++) {
    expect(await storage.commits.events(id, after, 5)).toEqual(before.slice(after, after + 5))
  }
  storage.commits.cutsMerge = () => false
  await world.clock.advance(5000)
  expect(await commitsOf(storage, id)).toBe(3 + merged)
  expect(await logOf(storage, id)).toEqual(before)
})

it('does nothing while it is paused, also across restarts, and merges everything afterwards', async () => {
  const world = await openCompacting()
  await spoken(world)
  await world.upkeep.pause('compaction', 'usr_1')
  await world.clock.advance(10 * minutes)
  expect((await world.compaction.state()).waiting).toBe(1)
  await world.compaction.stop()
  const next = await openCompacting({ storage: world.storage, clock: world.clock })
  await world.clock.advance(1 * minutes)
  expect(await commitsOf(world.storage, id)).toBeGreaterThan(parts)
  expect(await next.upkeep.paused('compaction')).toMatchObject({ by: 'usr_1' })
  await next.upkeep.resume('compaction')
  await world.clock.advance(1 * minutes)
  expect(await commitsOf(world.storage, id)).toBeLessThanOrEqual(4 + merged)
})

it('leaves the streams of actors that another process runs to that process', async () => {
  const world = await openCompacting()
  await spoken(world)
  await world.compaction.stop()
  const { records, commits } = world.storage
  const { clock, upkeep } = world
  const other = new Compaction({ records, commits, upkeep, clock, log: pino({ level: 'silent' }) })
  other.start({ heldUnder: () => undefined, space: shardsOf({}) })
  await clock.advance(5 * minutes)
  expect((await other.state()).waiting).toBe(1)
  expect(await commitsOf(world.storage, id)).toBe(parts + 3)
})

it('merges the streams of many actors, and leaves none waiting', async () => {
  const world = await openCompacting()
  const ids = Array.from({ length: 12 }, (_, n) => `prb_many${n}`)
  const before = []
  for (const actor of ids) before.push(await spoken(world, actor))
  await world.clock.advance(5 * minutes)
  expect((await world.compaction.state()).waiting).toBe(0)
  for (const [n, actor] of ids.entries()) {
    expect(await commitsOf(world.storage, actor)).toBe(3 + merged)
    expect(await logOf(world.storage, actor)).toEqual(before[n])
  }
})
