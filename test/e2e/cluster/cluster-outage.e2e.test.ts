import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { expectWithin } from '#test/support/expect-within.ts'
import { type Api, served } from '../api.ts'
import { answerTo } from '../gateway/simulated-answer.ts'
import { patience } from '../patience.ts'
import { counted, endsTurn, type Frame, isDelta, isEvent, textOf } from '../stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from '../tool-server.ts'
import { ClusterWorld } from './cluster-world.ts'

/**
 * A caller is refused within about a second (each run logs the times); the rest allows for a shared machine. It is far
 * below the timeouts of the driver and of clients.
 */
const refusalMaxMs = 10_000

describe('three nodes', { timeout: 180_000 }, () => {
  let world: ClusterWorld
  let tool: ToolServer
  beforeAll(async () => {
    tool = await startToolServer()
    world = await ClusterWorld.start(3, { tools: [tool], ownMongod: true })
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await tool.close()
  })

  /** Runs a turn by one node and reads it from all nodes. */
  const turnEverywhere = async (): Promise<void> => {
    const session = await world.api(0).createSession()
    const followers = await Promise.all(world.apis.map((api) => api.follow(session, '0')))
    const turn = await world.api(1).turn(session, { input: 'hello to all of you' })
    const frames = await turn.all()
    expect(textOf(frames)).toBe(answerTo('hello to all of you'))
    for (const follower of followers) {
      await follower.until(endsTurn)
      follower.stop()
      expect(follower.frames).toEqual(frames)
    }
  }

  /** Number of messages published through Redis. */
  const published = async (redis: Redis): Promise<number> =>
    Number(/cmdstat_publish:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)

  it('keep working without Redis, with streams across nodes, and use it again when it is back', async () => {
    const session = await world.api(0).createSession()
    const { owner, others } = await world.sides(session)
    const followers = await Promise.all(others.map((node) => world.at(node).follow(session, '0')))
    const turn = await world.at(owner).turn(session, { input: 'slow please' })
    await turn.until(isDelta)
    await world.cluster.redis.kill9()
    const frames = await turn.all()
    for (const follower of followers) {
      await follower.until(endsTurn)
      follower.stop()
      expect(follower.frames).toEqual(frames)
    }
    for (let n = 0; n < 3; n++) await turnEverywhere()
    const held = async () => (await world.leases()).leases.map(({ shard, epoch }) => [shard, epoch])
    await world.settled()
    const before = await held()

    await world.cluster.redis.restart()
    const redis = new Redis(world.cluster.redisUrl)
    await vi.waitFor(async () => {
      const carried = await published(redis)
      await turnEverywhere()
      expect(await published(redis)).toBeGreaterThan(carried)
    }, patience)
    redis.disconnect()
    // a node that stalls on a busy machine may lose its leases, which is unrelated to Redis
    const kept = (await held()).filter(([shard, epoch]) => before.some(([each, at]) => each === shard && at === epoch))
    expect(kept.length, 'Redis takes nobody a lease away').toBeGreaterThan(before.length / 2)
    expect(world.nodes.map(({ isRunning }) => isRunning)).toEqual([true, true, true])
  })

  const isAnswer =
    (input: string) =>
    ({ event, data }: Frame): boolean =>
      event === 'turn.completed' && data.output === `You said: ${input}`

  /** Measures a request. An unanswered one fails with its name and the nodes' logs before the test times out. */
  const timed = async (what: string, read: () => ReturnType<Api['post']>) => {
    const startedMs = performance.now()
    const late = Promise.withResolvers<never>()
    const logs = () => world.nodes.map((node) => node.log().slice(-4_000)).join('\n')
    const timer = setTimeout(() => late.reject(new Error(`no answer to ${what}\n${logs()}`)), 6 * refusalMaxMs)
    const answered = await Promise.race([read(), late.promise]).finally(() => clearTimeout(timer))
    return { answered, ms: performance.now() - startedMs }
  }

  it('refuse requests soon without MongoDB, keep readers, and continue once it is back', async () => {
    const session = await world.api(0).createSession()
    await (await world.api(0).turn(session, { input: 'before' })).all()
    const waiting = await world.api(1).createSession()
    const waits = await (await world.api(1).turn(waiting, gatedTurn(tool))).until(isEvent('turn.paused'))
    const followers = await Promise.all(world.apis.map((api) => api.follow(session, '0')))
    await (await world.api(2).turn(session, { input: 'just before' })).all()
    // they are live by then and no longer read from the store
    for (const follower of followers) await follower.until(isAnswer('just before'))
    await world.cluster.mongod.kill9()

    const attempts = await Promise.all(
      world.apis.flatMap((api) => [
        timed('a creation', () => api.post('/v1/sessions', {})),
        timed('a turn', () => api.post(`/v1/sessions/${session}/turns`, { input: 'during' })),
        timed('an approval', () => api.post(`/v1/sessions/${waiting}/approve`, { action_id: waits.data.action_id })),
        timed('a list', () => api.get('/v1/sessions')),
        timed('readiness', () => api.get('/readyz')),
      ]),
    )
    console.info(`refused after ${attempts.map(({ ms }) => Math.round(ms)).join(', ')} ms`)
    for (const { answered, ms } of attempts) {
      expect(answered.status).toBe(503)
      expect(Number(answered.headers.get('retry-after'))).toBeGreaterThan(0)
      await expectWithin(refusalMaxMs, ms, () => world.api(0).get('/healthz'))
    }
    for (const api of world.apis) expect((await api.get('/healthz')).status).toBe(200)

    await world.cluster.mongod.restart()
    for (const api of world.apis) {
      await vi.waitFor(async () => expect((await api.get('/readyz')).status).toBe(200), patience)
    }
    for (const [n, api] of world.apis.entries()) {
      const turn = await served((keyed) => api.turn(session, { input: `after ${n}` }, keyed))
      expect((await turn.all()).at(-1)?.event).toBe('turn.completed')
    }
    for (const follower of followers) {
      await follower.until(isAnswer('after 2'))
      follower.stop()
      expect(follower.frames.map(({ id }) => Number(id))).toEqual(counted(follower.frames))
    }
    // whether the approval above was stored is unknown: if not, it is given now
    const again = await served((keyed) => world.api(2).approve(waiting, waits.data.action_id, keyed)).catch(() =>
      world.api(2).follow(waiting, '0'),
    )
    expect((await again.until(endsTurn)).event).toBe('turn.completed')
    again.stop()
    expect(tool.calls).toHaveLength(1)
    expect(world.nodes.map(({ isRunning }) => isRunning)).toEqual([true, true, true])
  })
})
