import { afterEach, describe, expect, it } from 'vitest'
import { Conversations } from '#actors/sessions/conversations.ts'
import { eventId } from '#actors/sessions/event-id.ts'
import { sessionCheckpoints, sessionRows } from '#actors/sessions/kinds.ts'
import { isId } from '#runtime/ids.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calls, functionTool, pausedTurn } from './approving.ts'
import { callOf, collect, newSession, openWorld, type Script, turn, typesOf, type World } from './harness.ts'

const worlds: World[] = []
const open = async (scripts: readonly Script[] = [], storage?: Storage): Promise<World> => {
  const world = await openWorld({ scripts, ...(storage && { storage }) })
  worlds.push(world)
  return world
}

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const page = (world: World, session_id: string, query: { page: number; limit: number; turn_number?: number }) =>
  world.useCases['sessions.events'](callOf({ session_id }, query, undefined))

const allOf = async (world: World, session: string) => (await page(world, session, { page: 1, limit: 1000 })).data

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, i) => i + 1)

/** Runs turns of different lengths: some pause, some call functions, some have no text. */
const manyTurns = async (world: World, session: string, count: number): Promise<void> => {
  for (let n = 1; n <= count; n++) await turn(world, session, { input: `turn ${n}`, tools: [functionTool('f')] })
}

const varied = (count: number): readonly Script[] =>
  upTo(count).map((n) => (n % 3 === 0 ? calls('f', 'f') : n % 7 === 0 ? {} : { text: [`answer ${n}`] }))

describe('the events of a session', () => {
  it('are listed in pages that together form the log, each with a unique id', async () => {
    const world = await open(varied(20))
    const session = await newSession(world)
    await manyTurns(world, session, 20)
    const all = await allOf(world, session)
    expect(all.map((event) => event.sequence)).toEqual(upTo(all.length))
    const pages = await Promise.all(
      upTo(Math.ceil(all.length / 7)).map((n) => page(world, session, { page: n, limit: 7 })),
    )
    expect(pages.flatMap(({ data }) => data)).toEqual(all)
    expect(pages[0]?.pagination).toEqual({
      page: 1,
      limit: 7,
      total: all.length,
      total_is: 'exact',
      total_pages: Math.ceil(all.length / 7),
      has_more: true,
    })
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    expect(all.every(({ id }) => isId(id, 'evt'))).toBe(true)
    expect((await page(world, session, { page: 99, limit: 7 })).data).toEqual([])
  })

  it('equal the streamed frames, and keep their ids after a restart', async () => {
    const storage = openMemoryStorage()
    const world = await open([{ text: ['Hel', 'lo'] }], storage)
    const session = await newSession(world)
    const frames = await turn(world, session, { input: 'hi' })
    const rows = await allOf(world, session)
    expect(rows.map(({ event_type, sequence, payload }) => [event_type, sequence, payload])).toEqual(
      frames.map(({ event_type, sequence, payload }) => [event_type, sequence, payload]),
    )
    expect(rows[0]).toMatchObject({ session_id: session, turn_number: 1, created_at: expect.stringMatching(/Z$/) })
    const next = await open([], storage)
    expect(await allOf(next, session)).toEqual(rows)
  })

  it.each([1, 2, 3, 14, 29, 30])('can be filtered by turn: %i of thirty', async (turn_number) => {
    const world = await open(varied(30))
    const session = await newSession(world)
    await manyTurns(world, session, 30)
    const all = await allOf(world, session)
    const wanted = all.filter((event) => event.turn_number === turn_number)
    const found = await page(world, session, { page: 1, limit: 100, turn_number })
    expect(found.data).toEqual(wanted)
    expect(found.pagination.total).toBe(wanted.length)
    const second = await page(world, session, { page: 2, limit: 1, turn_number })
    expect(second.data).toEqual(wanted.slice(1, 2))
  })

  it.each([0, 31, 1_000_000])('of the missing turn %i are an empty list', async (turn_number) => {
    const world = await open(varied(30))
    const session = await newSession(world)
    await manyTurns(world, session, 30)
    expect(await page(world, session, { page: 1, limit: 10, turn_number })).toMatchObject({
      data: [],
      pagination: { total: 0, total_pages: 0 },
    })
  })

  it('are an empty list before the first turn', async () => {
    const world = await open()
    const session = await newSession(world)
    expect((await page(world, session, { page: 1, limit: 10 })).data).toEqual([])
    expect((await page(world, session, { page: 1, limit: 10, turn_number: 1 })).data).toEqual([])
  })
})

describe('the id of an event', () => {
  it('is valid, stable, and differs by session, sequence and time', () => {
    const id = eventId('ses_a', 1, 1_750_000_000_000)
    expect(isId(id, 'evt')).toBe(true)
    expect(eventId('ses_a', 1, 1_750_000_000_000)).toBe(id)
    const others = [
      eventId('ses_b', 1, 1_750_000_000_000),
      eventId('ses_a', 2, 1_750_000_000_000),
      eventId('ses_a', 1, 1),
    ]
    expect(new Set([id, ...others]).size).toBe(4)
  })

  it('sorts in log order within a session', () => {
    const ids = upTo(300).map((sequence) => eventId('ses_a', sequence, 1_750_000_000_000 + Math.floor(sequence / 10)))
    expect([...ids].sort()).toEqual(ids)
  })
})

describe('the checkpoint of every fiftieth turn', () => {
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: 0 }
  const checkpointOf = (world: World, session: string) =>
    world.storage.records.get(sessionCheckpoints, projectScope('prj_a'), session)

  it('is written with the fiftieth turn, and yields the same conversation as the whole log', async () => {
    const world = await open(varied(60))
    const session = await newSession(world)
    await manyTurns(world, session, 49)
    expect(await checkpointOf(world, session)).toBeNull()
    await manyTurns(world, session, 1)
    await expect.poll(async () => (await checkpointOf(world, session)) !== null).toBe(true)
    await manyTurns(world, session, 5)
    const requested: number[] = []
    const reading = (storage: Storage) =>
      new Conversations(
        storage,
        (actor, after) => {
          requested.push(after)
          return storage.commits.events(actor, after, 1000)
        },
        Date.now,
      )
    const fromCheckpoint = await reading(world.storage).of(session, owner)
    const through = Number((await checkpointOf(world, session))?.data.through)
    expect(requested[0]).toBe(through)
    expect(through).toBeGreaterThan(100)
    const bare = { ...world.storage, records: openMemoryStorage().records }
    const fromLog = await reading(bare).of(session, owner)
    expect(JSON.stringify(fromCheckpoint.forModel())).toBe(JSON.stringify(fromLog.forModel()))
  })

  it('gives a new process the same conversation', async () => {
    const storage = openMemoryStorage()
    const world = await open(varied(60), storage)
    const session = await newSession(world)
    await manyTurns(world, session, 52)
    await expect.poll(async () => (await checkpointOf(world, session)) !== null).toBe(true)
    await turn(world, session, { input: 'last' })
    const next = await open([], storage)
    await turn(next, session, { input: 'more' })
    const before = world.provider.requests.at(-1)?.messages ?? []
    expect(next.provider.requests[0]?.messages.slice(0, before.length)).toEqual(before)
    expect(before.length).toBeGreaterThan(100)
  })
})

describe('a value of 200 KB', () => {
  const long = 'ä€x'.repeat(70_000)
  const largest = async (storage: Storage, actor: string): Promise<number> => {
    let max = 0
    for (let seq = 1; ; seq++) {
      const commit = await storage.commits.at(actor, seq)
      if (commit === null) return max
      max = Math.max(max, JSON.stringify(commit).length)
    }
  }

  it('as input or answer is moved out of the commit, and is complete in streams, events and model calls', async () => {
    const storage = openMemoryStorage()
    const world = await open([{ text: [long, ' end'] }, { text: ['short'] }], storage)
    const session = await newSession(world)
    const frames = await turn(world, session, { input: long })
    expect(frames[0]?.payload.input_text).toBe(long)
    expect(frames.at(-1)?.payload.output).toBe(`${long} end`)
    expect(await largest(storage, session)).toBeLessThan(10_000)
    const rows = await allOf(world, session)
    expect(rows.map(({ payload }) => payload)).toEqual(frames.map(({ payload }) => payload))
    const next = await open([{ text: ['again'] }], storage)
    await turn(next, session, { input: 'and?' })
    expect(next.provider.requests[0]?.messages.map(({ content }) => content)).toEqual([long, `${long} end`, 'and?'])
  })

  it('as arguments or output of a tool is moved out of every commit, and is complete on both sides', async () => {
    const storage = openMemoryStorage()
    const script = { calls: [{ name: 'confirm', arguments: JSON.stringify({ text: long }) }] }
    const world = await open([script, { text: ['done'] }], storage)
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('confirm', true)] })
    const action_id = waiting.confirm ?? ''
    const next = await open([{ text: ['done'] }], storage)
    const body = { action_id, tool_results: [{ action_id, output: long }] }
    const { stream } = await next.useCases['sessions.approve'](callOf({ session_id: session }, {}, body))
    const resumed = await collect(stream)
    expect(resumed[0]?.payload.output).toBe(long)
    expect(next.provider.requests[0]?.messages.slice(-2)).toMatchObject([
      { toolCalls: [{ arguments: JSON.stringify({ text: long }) }] },
      { content: long },
    ])
    expect(await largest(storage, session)).toBeLessThan(10_000)
    expect(await largest(storage, action_id)).toBeLessThan(10_000)
  })

  it('as user data in the shape of a blob reference is returned unchanged', async () => {
    const storage = openMemoryStorage()
    const world = await open([], storage)
    const metadata = {
      like: { $blob: 'abc' },
      deep: [{ $blob: null, value: { $blob: 'x' } }],
      long: long.slice(0, 9000),
    }
    const { id } = await world.useCases['sessions.create'](callOf({}, {}, { metadata }))
    const next = await open([], storage)
    const seen = await next.useCases['sessions.get'](callOf({ session_id: id }, {}, undefined))
    expect(seen.metadata).toEqual(metadata)
  })
})

it('leaves nothing of a deleted session in the store', async () => {
  const world = await open(varied(60))
  const session = await newSession(world)
  await manyTurns(world, session, 50)
  await world.useCases['sessions.delete'](callOf({ session_id: session }, {}, undefined))
  const { commits, records } = world.storage
  await expect.poll(() => commits.head(session)).toBeNull()
  expect(typesOf(await commits.events(session, 0, 10))).toEqual([])
  await expect.poll(async () => world.host.effects.running).toBe(0)
  await records.sweep(sessionRows, Date.now())
  expect(await records.get(sessionCheckpoints, projectScope('prj_a'), session)).toBeNull()
  expect(await records.count(sessionRows, projectScope('prj_a'))).toBe(0)
  expect((await commits.open({ limit: 100 })).filter((commit) => commit.actor === session)).toEqual([])
  expect(
    (await commits.due({ now: Number.MAX_SAFE_INTEGER, limit: 100 })).filter((commit) => commit.actor === session),
  ).toEqual([])
  await expect(turn(world, session, { input: 'hi' })).rejects.toMatchObject({ code: 'not_found' })
})
