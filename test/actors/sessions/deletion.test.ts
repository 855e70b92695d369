import { expect, it } from 'vitest'
import { sessionCheckpoints } from '#actors/sessions/kinds.ts'
import { boundRecords } from '#records/bound-records.ts'
import type { RecordStore, Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { action, approve, calls, functionTool, pausedTurn } from './approving.ts'
import { callOf, collect, newSession, openWorld, turn, typesOf } from './harness.ts'

const remove = (session_id: string) => callOf({ session_id }, {}, undefined)

it('keeps the log until waiting actions are notified, so that a crash in between leaves none to approve', async () => {
  const clock = new VirtualClock()
  const faulty = new FaultyStorage(openMemoryStorage())
  const world = await openWorld({ storage: faulty.storage, clock, scripts: [calls('confirm')] })
  const session = await newSession(world)
  const { waiting } = await pausedTurn(world, session, { input: 'go', tools: [functionTool('confirm', true)] })
  await calm()
  faulty.hold((commit) => (commit.actor.startsWith('act_') ? new Promise(() => {}) : undefined))
  await world.useCases['sessions.delete'](remove(session))
  await clock.advance(10_000)
  expect(await faulty.inner.commits.head(session)).not.toBeNull()
  faulty.crash()
  const next = await openWorld({ storage: faulty.inner, clock })
  await clock.advance(10_000)
  await expect(action(next, waiting.confirm ?? '')).rejects.toMatchObject({ code: 'not_found' })
  expect(await faulty.inner.commits.head(session)).toBeNull()
})

it('removes the actions of the session, including resolved ones, and every blob', async () => {
  const world = await openWorld({ scripts: [calls('confirm'), { text: ['x'.repeat(70_000)] }] })
  const session = await newSession(world)
  const tools = [functionTool('confirm', true)]
  const { waiting } = await pausedTurn(world, session, { input: 'y'.repeat(70_000), tools })
  const answer = { action_id: waiting.confirm ?? '', output: 'z'.repeat(70_000) }
  await approve(world, session, answer.action_id, [answer])
  expect((await world.storage.blobs.hashes('prj_a', null, 10)).length).toBeGreaterThan(2)
  await world.useCases['sessions.delete'](remove(session))
  await expect.poll(() => world.storage.commits.ofProject('prj_a', null, 10)).toEqual([])
  await expect.poll(() => world.storage.blobs.hashes('prj_a', null, 10)).toEqual([])
  await world.runtime.drain(0)
})

it('leaves no checkpoint that was being written', async () => {
  const inner = openMemoryStorage()
  const gate = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const records: RecordStore = {
    ...boundRecords(inner.records),
    project: async (rows) => {
      if (rows.some(({ kind }) => kind === sessionCheckpoints)) {
        held.resolve()
        await gate.promise
      }
      return inner.records.project(rows)
    },
  }
  const storage: Storage = { ...inner, records }
  const world = await openWorld({ storage })
  const session = await newSession(world)
  for (let n = 0; n < 50; n++) await turn(world, session, { input: 'hi' })
  await held.promise
  await world.useCases['sessions.delete'](remove(session))
  await expect.poll(() => inner.commits.head(session)).toBeNull()
  gate.resolve()
  await expect.poll(() => world.host.effects.running).toBe(0)
  expect(await inner.records.get(sessionCheckpoints, projectScope('prj_a'), session)).toBeNull()
  await world.runtime.drain(0)
})

it('ends the streams of the session and the model call of a running turn', async () => {
  const never = new Promise<void>(() => {})
  const world = await openWorld({ scripts: [{ text: ['partly', never] }] })
  const session = await newSession(world)
  const { stream } = await world.useCases['sessions.turns'](callOf({ session_id: session }, {}, { input: 'hi' }))
  const collected = collect(stream)
  await expect.poll(async () => (await world.storage.commits.head(session))?.last_sequence).toBe(2)
  await world.useCases['sessions.delete'](remove(session))
  expect(typesOf(await collected)).toEqual(['turn.started', 'output_text.delta'])
  await expect.poll(() => world.host.effects.running).toBe(0)
  expect(world.host.feed.size).toBe(0)
})

it('is completed by the next process after a crash', async () => {
  const clock = new VirtualClock()
  const faulty = new FaultyStorage(openMemoryStorage())
  const world = await openWorld({ storage: faulty.storage, clock })
  const session = await newSession(world)
  faulty.next('crash_after')
  void world.useCases['sessions.delete'](remove(session))
  await calm()
  expect(await faulty.inner.commits.head(session)).not.toBeNull()
  const next = await openWorld({ storage: faulty.inner, clock })
  // the log is removed once no replaced process can still run
  await clock.advance(6000)
  expect(await faulty.inner.commits.head(session)).toBeNull()
  const page = callOf({}, { page: 1, limit: 10 }, undefined)
  expect((await next.useCases['sessions.list'](page)).pagination.total).toBe(0)
})
