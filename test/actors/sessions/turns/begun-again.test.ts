import { expect, it } from 'vitest'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { callOf, openWorld, type Script, turn, typesOf } from '../harness.ts'

const never = new Promise<void>(() => {})
const cut: Script = { text: ['A part', never] }

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

it('a cut turn recalls memory once for the call that was lost and the one that is made', async () => {
  const { storage, clock, session } = await cutSession(new ScriptedMemory())
  const memory = new ScriptedMemory()
  const next = await openWorld({ storage, clock, memory, scripts: [{ text: ['All of it.'] }] })
  await clock.advance(5000)
  expect(typesOf(await storage.commits.events(session, 0, 100)).at(-1)).toBe('turn.completed')
  expect(next.provider.requests).toHaveLength(1)
  expect(memory.recalls).toHaveLength(1)
})
