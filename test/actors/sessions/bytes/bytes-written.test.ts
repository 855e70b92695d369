import { afterEach, expect, it, vi } from 'vitest'
import { maxMetadataBytes } from '#specs/tools.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { newSession, openWorld, turn, type World } from '../harness.ts'

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** A store, and the bytes of commits and blobs written to it. */
const counted = () => {
  const storage = openMemoryStorage()
  const append = vi.spyOn(storage.commits, 'append')
  const put = vi.spyOn(storage.blobs, 'put')
  const bytes = () => ({
    commits: append.mock.calls.reduce((sum, [commits]) => sum + sizeOf(commits), 0),
    blobs: put.mock.calls.reduce((sum, [, , content]) => sum + sizeOf(content), 0),
  })
  return { storage, bytes }
}

const worlds: World[] = []

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const turns = 20

/** The bytes that a session with this metadata writes in `turns` turns. */
const written = async (metadata: Record<string, string>, text = 'Hello') => {
  const { storage, bytes } = counted()
  const world = await openWorld({ storage, scripts: Array.from({ length: turns }, () => ({ text: [text] })) })
  worlds.push(world)
  const session = await newSession(world, metadata)
  for (let count = 0; count < turns; count++) await turn(world, session, { input: 'hi' })
  return bytes()
}

it('writes the metadata of a session once, not with each commit of a turn', async () => {
  const value = 'm'.repeat(1000)
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`field_${index}`, value]))
  expect(JSON.stringify(metadata).length).toBeLessThanOrEqual(maxMetadataBytes)
  const [plain, full] = [await written({}), await written(metadata)]
  expect(full.blobs - plain.blobs).toBeLessThan(2 * maxMetadataBytes)
  expect(full.commits - plain.commits).toBeLessThan(turns * 3 * 400)
})

it('writes at most 6 KB of commits per short turn', async () => {
  expect((await written({})).commits / turns).toBeLessThan(6 * 1024)
})

it('writes a long answer once as deltas and once as the output of the turn', async () => {
  const text = 'a'.repeat(300_000)
  const { commits, blobs } = await written({}, text)
  expect((commits + blobs) / turns).toBeLessThan(2.2 * text.length)
})
