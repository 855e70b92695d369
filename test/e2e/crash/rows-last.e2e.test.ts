import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startMongod } from '#scripts/services/mongod.ts'
import type { Service } from '#scripts/services/service.ts'
import { runTool, runToolHosted } from '../hosted/operator-tool.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'

const sessionsEach = 60
const rounds = 3

describe('rows of lists and usage', () => {
  let mongod: Service
  let world: World
  /** Direct access to the store. */
  let store: MongoClient
  const sessions: string[] = []
  beforeAll(async () => {
    mongod = await startMongod()
    world = await World.start({ store: 'mongo', mongodbUrl: mongod.url })
    store = await MongoClient.connect(world.toolEnv.MONGODB_URL)
  })
  afterAll(async () => {
    await store.close()
    await world.stop()
    await mongod.stop()
  })

  const readRow = async (): Promise<string> => {
    const session = await world.api.createSession()
    await (await world.api.turn(session, { input: 'hello' })).all()
    return session
  }

  /** Every row of a list with pages or cursors. */
  const listOf = async (path: string): Promise<readonly Record<string, unknown>[]> => {
    const rows: Record<string, unknown>[] = []
    for (let next: string | null = ''; next !== null; ) {
      const { body } = await world.api.get(`${path}?limit=100&${next}`)
      rows.push(...body.data)
      const { pagination: { page = 0, total_pages = 0 } = {}, next_cursor = null } = body
      next = next_cursor !== null ? `cursor=${next_cursor}` : page < total_pages ? `page=${page + 1}` : null
    }
    return rows
  }

  const counted = async () => {
    const listed = await listOf('/v1/sessions')
    const used = await listOf('/v1/usage/events')
    const { lines } = (await world.api.get('/v1/usage/export')).body
    const calls = lines.reduce((sum: number, line: { calls: number }) => sum + line.calls, 0)
    const complete = listed.filter(({ turn_count }) => turn_count === 1)
    return { listed: complete.length, used: new Set(used.map(({ session_id }) => session_id)).size, calls }
  }

  it('all exist when mongod is killed right after their commits, without further requests to their sessions', {
    timeout: 180_000,
  }, async () => {
    for (let round = 1; round <= rounds; round++) {
      sessions.push(...(await Promise.all(Array.from({ length: sessionsEach }, readRow))))
      const isWritten = async () => expect(await store.db().collection('usage').countDocuments()).toBe(sessions.length)
      await vi.waitFor(isWritten, { ...patience, interval: 2 })
      await mongod.kill9()
      mongod = await mongod.restart()
      await vi.waitFor(async () => expect((await world.api.get('/readyz')).status).toBe(200), patience)
    }
    const all = sessions.length
    expect(await vi.waitFor(counted, patience)).toEqual({ listed: all, used: all, calls: all })
  })

  it('are rebuilt from the commits by an operator tool while the server runs', { timeout: 180_000 }, async () => {
    const { toolEnv: env } = world
    // what an attempt before this one has removed
    expect((await runToolHosted('rebuild-rows', [], env)).code).toBe(0)
    const before = await counted()
    expect(await runToolHosted('rebuild-rows', ['--check'], env)).toEqual({
      code: 0,
      said: expect.stringContaining('differed'),
    })

    const lists = store.db().collection<{ _id: string }>('sessions')
    const usage = store.db().collection<{ _id: string }>('usage')
    await lists.deleteMany({ _id: { $in: sessions.slice(0, 5) } })
    for (const { _id } of await usage.find().limit(3).toArray()) await usage.deleteOne({ _id })

    const check = await runTool('rebuild-rows', ['--check'], env)
    expect(check).toMatchObject({ code: 1, said: expect.stringContaining('8 differed\n') })
    expect(await counted()).not.toEqual(before)
    const rebuilt = await runToolHosted('rebuild-rows', [], env)
    expect(rebuilt).toMatchObject({ code: 0, said: expect.stringContaining('8 differed and were written') })
    expect(rebuilt.said).toContain(`sessions ${sessions[0]}: missing`)
    expect(await counted()).toEqual(before)
  })
})
