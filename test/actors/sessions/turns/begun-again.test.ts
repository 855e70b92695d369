import { expect, it } from 'vitest'
import { pause } from '#runtime/clock.ts'
import type { Storage } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { callOf, openWorld, type Script, turn, typesOf } from '../harness.ts'

const never = new Promise<void>(() => {})
const cut: Script = { text: ['A part', never] }
const roundTripMs = 10

/** A session whose second turn a crash has cut when a part of its text was durable. */
const cutSession = async (memory?: ScriptedMemory) => {
  const storage = openMemoryStorage()
  const clock = new VirtualClock()
  const first = await openWorld({ storage, clock, scripts: [{ text: ['Hello.'] }, cut], ...(memory && { memory }) })
  const { id: session } = await first.useCases['sessions.create'](
    callOf({}, {}, { metadata: {}, external_user_id: 'ada' }),
  )
  await turn(first, session, { input: 'hi' })
  void turn(first, session, { input: 'go', ...(memory && { memory: true }) })
  await clock.advance(2000)
  return { storage, clock, session }
}

/** A part of a store, each of whose calls takes a round trip. */
const distant = <T extends object>(part: T, clock: VirtualClock, called: (name: string | symbol) => void): T =>
  new Proxy(part, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...given: readonly unknown[]) => {
        called(name)
        await pause(clock, roundTripMs)
        return Reflect.apply(method, target, given)
      }
    },
  })

it('a cut turn calls its model six round trips of the store after its session began to be loaded', async () => {
  const { storage, clock, session } = await cutSession()
  let loadedAt = 0
  let calledAt = 0
  const far: Storage = {
    ...storage,
    commits: distant(storage.commits, clock, (name) => {
      if (name === 'head' && loadedAt === 0) loadedAt = clock.steady()
    }),
    records: distant(storage.records, clock, () => {}),
    blobs: distant(storage.blobs, clock, () => {}),
  }
  const opening = openWorld({
    ...{ storage: far, clock },
    model: {
      id: 'scripted',
      stream: async () => {
        calledAt = clock.steady()
        return never.then(() => Promise.reject(new Error('never')))
      },
    },
  })
  await clock.advance(5000)
  await opening
  expect(typesOf(await storage.commits.events(session, 0, 100)).at(-1)).toBe('turn.restarted')
  // the newest commit, the mark of an erasure, the fence, both again, the commit that says that the turn begins again
  expect((calledAt - loadedAt) / roundTripMs).toBe(6)
})

it('a cut turn recalls memory once for the call that was lost and the one that is made', async () => {
  const { storage, clock, session } = await cutSession(new ScriptedMemory())
  const memory = new ScriptedMemory()
  const next = await openWorld({ storage, clock, memory, scripts: [{ text: ['All of it.'] }] })
  await clock.advance(5000)
  expect(typesOf(await storage.commits.events(session, 0, 100)).at(-1)).toBe('turn.completed')
  expect(next.provider.requests).toHaveLength(1)
  expect(memory.recalls).toHaveLength(1)
})
