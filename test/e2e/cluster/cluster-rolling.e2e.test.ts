import { randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { type Api, Refused } from '../api.ts'
import { patience } from '../patience.ts'
import { endsTurn, type Frame, rise, type StreamReader } from '../stream-reader.ts'
import { ClusterWorld } from './cluster-world.ts'

const clients = 6
const size = 3
/** Makes a process one of the next release. */
const next = { NODE_OPTIONS: `--import=${pathToFileURL(`${import.meta.dirname}/next-release.ts`).href}` }
const version = `session@${sessionDefinition.version + 1}`

let world: ClusterWorld
beforeAll(async () => {
  world = await ClusterWorld.start(size, { nodeEnv: (at) => (at < size ? {} : next) })
}, 120_000)
afterAll(() => world.stop())

/** Counts of the recoverable conditions that clients met, by kind. */
const met = { shuttingDown: 0, notThere: 0, cut: 0, resumed: 0 }

/**
 * Calls one node after another, as a load balancer does, until one accepts the request. The only accepted reasons are a
 * retryable 503 and a refused or closed connection.
 */
const readFrom = async <T>(read: (api: Api) => Promise<T>, first: number): Promise<T> => {
  for (let place = first; ; place++) {
    try {
      return await read(world.api(place))
    } catch (error) {
      note(error)
    }
  }
}

const note = (error: unknown): void => {
  if (error instanceof Refused) {
    expect(error.message).toMatch(/^503 .*(shutting_down|store_unavailable|overloaded)/)
    expect(Number(error.headers.get('retry-after'))).toBeGreaterThan(0)
    met.shuttingDown++
    return
  }
  const { code } = Object(error)
  if (code === 'ECONNREFUSED') met.notThere++
  // an idle connection that the server closed while the request was being sent
  else if (['ECONNRESET', 'EPIPE'].includes(code)) met.cut++
  else throw error
}

/** The frames of a turn up to its end, from its own stream and, if that ended early, from other nodes. */
const framesToEnd = async (session: string, turn: StreamReader, place: number): Promise<readonly Frame[]> => {
  const seen: Frame[] = []
  for (let reader = turn, next = place; ; next++) {
    await reader.until(endsTurn).catch(() => reader.ended)
    reader.stop()
    seen.push(...reader.frames)
    if (seen.some(endsTurn)) return seen
    met.resumed++
    const lastId = seen.at(-1)?.id ?? '0'
    reader = await readFrom((api) => api.follow(session, lastId), next)
  }
}

/** The largest number of shards that a node has had, as a multiple of an equal share of the live nodes. */
let fullest = 0

const noteShares = async (): Promise<void> => {
  const { leases, members } = await world.leases()
  const live = members.filter(({ draining }) => !draining)
  const counts = live.map(({ process }) => leases.filter(({ holder }) => holder === process).length)
  fullest = Math.max(fullest, Math.max(...counts) / (leases.length / live.length))
}

/** How long turns without a slow answer took, in ms, at rest and during the upgrade. */
const tookMs: Record<'atRest' | 'during', number[]> = { atRest: [], during: [] }

const percentiles = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b)
  return [0.5, 0.99].map((part) => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0)).join('/')
}

it('a rolling upgrade to another machine version under load cuts no turn, loses no event, and overloads no node', {
  timeout: 180_000,
}, async () => {
  let isOver = false
  let times = tookMs.atRest
  const sessions: string[] = []
  const client = async (n: number): Promise<number> => {
    const session = await readFrom((api) => api.createSession(), n)
    sessions.push(session)
    for (let turns = 0; ; turns++) {
      if (isOver) return turns
      // most turns last for seconds, so they are running when a node is terminated
      const input = (turns + n) % 3 > 0 ? `slow please ${n}` : `turn ${turns} of ${n}`
      const extra = { headers: { 'idempotency-key': randomUUID() } }
      const startedMs = performance.now()
      const turn = await readFrom((api) => api.turn(session, { input }, extra), n + turns)
      const frames = await framesToEnd(session, turn, n + turns + 1)
      if (!input.startsWith('slow')) times.push(performance.now() - startedMs)
      expect(frames.at(-1), 'no turn is cut').toMatchObject({ event: 'turn.completed' })
      expect(new Set(frames.map(({ id }) => id)).size, 'no event comes twice').toBe(frames.length)
      const log = await readFrom((api) => api.log(session), n)
      expect(rise(log.map(({ sequence }) => sequence))).toBe(true)
      expect(log.filter(({ event_type }) => event_type === 'turn.completed')).toHaveLength(turns + 1)
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, n) => client(n)))
  const follower = await world.api(0).follow(await world.api(0).createSession(), '0')
  await world.settled()
  const watching = vi.waitFor(
    async () => {
      await noteShares()
      expect(isOver).toBe(true)
    },
    { timeout: 170_000, interval: 200 },
  )
  watching.catch(() => undefined)
  // for the times to compare with
  await vi.waitFor(() => expect(tookMs.atRest.length).toBeGreaterThan(2 * clients), patience)
  times = tookMs.during
  for (const node of [...world.nodes]) {
    const startedMs = performance.now()
    const code = await Promise.race([node.term(), running.then(() => 'a client gave up')])
    expect(code, 'it ends well').toBe(0)
    const endedMs = Math.round(performance.now() - startedMs)
    await world.cluster.add()
    const shares = [...(await world.shares()).values()].join(' ')
    console.info(
      `${node.name} ended ${endedMs} ms after SIGTERM; shards ${shares}, at most ${fullest.toFixed(2)} shares`,
    )
    expect(fullest).toBeLessThanOrEqual(1.51)
  }
  await world.settled()
  isOver = true
  const turns = await running
  await watching
  console.info(`${turns.reduce((sum, each) => sum + each, 0)} turns; met ${JSON.stringify(met)}`)
  console.info(`p50/p99 at rest ${percentiles(tookMs.atRest)} ms, during ${percentiles(tookMs.during)} ms`)
  for (const session of sessions) {
    await readFrom(async (api) => (await api.turn(session, { input: 'last' })).until(endsTurn), 0)
    expect(await world.machineOf(session), 'it runs on the new version').toBe(version)
  }
  expect(await follower.ended, 'a client that only follows is sent elsewhere').toBe('broken')
  expect(Math.min(...turns)).toBeGreaterThan(0)
})
