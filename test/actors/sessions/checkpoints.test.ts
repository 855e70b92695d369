import { afterEach, expect, it } from 'vitest'
import { checkpointEvery } from '#machines/session/session-steps.ts'
import { newSession, openWorld, turn, type World } from './harness.ts'

const worlds: World[] = []

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

it('keeps only one checkpoint, however many were written', async () => {
  const turns = 3 * checkpointEvery
  const world = await openWorld({ scripts: Array.from({ length: turns + 1 }, () => ({ text: ['Hello'] })) })
  worlds.push(world)
  const session = await newSession(world)
  for (let count = 0; count < turns; count++) await turn(world, session, { input: `hi ${count}` })
  await world.runtime.drain(1000)
  expect(await world.storage.blobs.hashes('prj_a', null, 100)).toHaveLength(1)
})
