import { expect, it } from 'vitest'
import { callOf, newSession, openWorld, turn } from '#test/actors/sessions/harness.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'

const one = (session_id: string) => callOf({ session_id }, {}, undefined)

/** A deleted session of which a write comes in after its log was removed. */
const resurrected = async () => {
  const clock = new VirtualClock()
  const faulty = new FaultyStorage(openMemoryStorage({ now: clock.now }))
  const world = await openWorld({ storage: faulty.storage, clock })
  const session = await newSession(world)
  faulty.next('late')
  const running = turn(world, session, { input: 'hi' })
  await clock.advance(2000)
  await running
  await world.useCases['sessions.delete'](one(session))
  await calm()
  expect(await faulty.inner.commits.head(session)).toBeNull()
  expect(await faulty.release()).toEqual(['done'])
  expect(await faulty.inner.commits.head(session)).not.toBeNull()
  return { clock, faulty, world, session }
}

it('does not find a deleted session again when a write comes in late', async () => {
  const { faulty, world, session } = await resurrected()
  await expect(world.useCases['sessions.get'](one(session))).rejects.toMatchObject({ code: 'not_found' })
  expect(await faulty.inner.commits.head(session)).toBeNull()
})

it('removes what came in late when the server starts, and runs nothing of it', async () => {
  const { clock, faulty, session } = await resurrected()
  faulty.crash()
  const next = await openWorld({ storage: faulty.inner, clock })
  await next.host.recovery.over()
  expect(await faulty.inner.commits.head(session)).toBeNull()
  expect(next.provider.asked).toEqual([])
})

it('removes what came in late after half a minute, though nobody asks for it', async () => {
  const { clock, faulty, session } = await resurrected()
  await clock.advance(31_000)
  expect(await faulty.inner.commits.head(session)).toBeNull()
})
