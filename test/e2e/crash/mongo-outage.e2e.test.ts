import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startMongod } from '#scripts/services/mongod.ts'
import type { Service } from '#scripts/services/service.ts'
import { expectWithin } from '#test/support/expect-within.ts'
import { type Answered, served } from '../api.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, isDelta, isEvent, textOf } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { World } from '../world.ts'

/**
 * A caller is refused within about a second (each run logs the times); the rest allows for a shared machine. It is far
 * below the timeouts of the driver and of clients.
 */
const refusalMaxMs = 10_000

describe('while MongoDB is down', () => {
  let mongod: Service
  let world: World
  let tool: ToolServer
  beforeAll(async () => {
    mongod = await startMongod()
    tool = await startToolServer()
    world = await World.start({ store: 'mongo', mongodbUrl: mongod.url, tools: [tool] })
  })
  afterAll(async () => {
    await world.stop()
    await mongod.stop()
    await tool.close()
  })

  const timed = async (work: () => Promise<Answered>) => {
    const startedMs = performance.now()
    const answered = await work()
    return { answered, ms: performance.now() - startedMs }
  }

  it('requests get a 503 soon, readers stay connected, and turns and streams continue once it is back', {
    timeout: 180_000,
  }, async () => {
    const { api } = world
    const used = await api.createSession()
    await (await api.turn(used, { input: 'before' })).all()
    const unknown = await api.createSession()
    const slowSession = await api.createSession()
    const waiting = await api.createSession()
    const waits = await (await api.turn(waiting, gatedTurn(tool))).until(isEvent('turn.paused'))
    const follower = await api.follow(used, '0')
    await follower.until(endsTurn)
    const slow = await api.turn(slowSession, { input: 'slow please' })
    await slow.until(isDelta)
    await mongod.kill9()

    const attempts = await Promise.all([
      timed(() => api.post('/v1/sessions', {})),
      timed(() => api.post('/v1/sessions', {}, { headers: { 'idempotency-key': 'k' } })),
      timed(() => api.post(`/v1/sessions/${used}/turns`, { input: 'during' })),
      timed(() => api.post(`/v1/sessions/${unknown}/turns`, { input: 'during' })),
      timed(() => api.post(`/v1/sessions/${waiting}/approve`, { action_id: waits.data.action_id })),
      timed(() => api.post('/v1/tenants', { external_id: 'a', name: 'A' })),
      timed(() => api.get('/v1/sessions')),
      timed(() => api.get('/readyz')),
    ])
    console.info(`refused after ${attempts.map(({ ms }) => Math.round(ms)).join(', ')} ms`)
    for (const { answered, ms } of attempts) {
      expect(answered.status).toBe(503)
      expect(Number(answered.headers.get('retry-after'))).toBeGreaterThan(0)
      await expectWithin(refusalMaxMs, ms, () => api.get('/healthz'))
    }
    for (const { answered } of attempts.slice(0, -1)) expect(answered.body.error.code).toBe('store_unavailable')
    expect((await api.get('/healthz')).status).toBe(200)
    expect(tool.calls).toHaveLength(0)

    mongod = await mongod.restart()
    await vi.waitFor(async () => expect((await api.get('/readyz')).status).toBe(200), patience)

    const frames = await slow.all()
    expect(frames.at(-1)).toMatchObject({ event: 'turn.completed', data: { output: textOf(frames) } })
    expect(frames.map(({ id }) => Number(id))).toEqual(counted(frames))

    const after = await served((keyed) => api.turn(used, { input: 'after' }, keyed))
    expect((await after.all()).at(-1)?.event).toBe('turn.completed')
    await follower.until(({ event, data }) => event === 'turn.completed' && data.output === 'You said: after')
    follower.stop()
    expect(
      follower.frames.map(({ id }) => Number(id)),
      'the reader kept its stream',
    ).toEqual(counted(follower.frames))

    // whether the approval above was stored is unknown: if not, it is given now
    const again = await served((keyed) => api.approve(waiting, waits.data.action_id, keyed)).catch(() =>
      api.follow(waiting, '0'),
    )
    expect((await again.until(endsTurn)).event).toBe('turn.completed')
    again.stop()
    expect(tool.calls).toHaveLength(1)
    for (const session of [used, slowSession, waiting]) {
      const log = await api.log(session)
      expect(log.map(({ sequence }) => sequence)).toEqual(counted(log))
    }
  })
})
