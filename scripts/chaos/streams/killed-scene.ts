import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { MongoClient } from 'mongodb'
import { LocalCluster } from '#scripts/cluster/local-cluster.ts'
import { Restartable } from '#scripts/cluster/restartable.ts'
import { startServer } from '#scripts/services/server.ts'
import { type Service, startService } from '#scripts/services/service.ts'
import { MongoLeases } from '#storage/mongo/leases.ts'
import { shardsIn } from '../shards-in.ts'
import { openBalancer } from './balancer.ts'

/** Tokens of an answer, and tokens a second. */
export const answerTokens = 240
const tokensPerSecond = 80

/** An installation whose processes are killed. */
export interface KilledScene {
  /** Address by which clients reach a process that is up. */
  readonly url: string
  readonly secretKey: string
  /**
   * Kills the process that runs most of these sessions. Resolves with the sessions that it ran, and with when each of
   * them could go on, by performance.now(): the server answers again, or another node has the session's lease.
   */
  kill(sessions: readonly string[]): Promise<Killed>
  /** Resolves when the scene is as it was before the kill. */
  mend(): Promise<void>
  log(): string
  stop(): Promise<void>
}

/** A kill. */
export interface Killed {
  readonly killedAt: number
  /** By session; those of other processes are not in it. */
  readonly backAt: ReadonlyMap<string, number>
}

/** Opens one server on SQLite, or `nodes` servers on MongoDB and Redis. */
export const openScene = async (nodes: number): Promise<KilledScene> => {
  const model = await startService({
    name: 'chaos-stream-model',
    command: process.execPath,
    env: () => process.env,
    args: (port) => [
      resolve(import.meta.dirname, 'stream-model.ts'),
      `${port}`,
      `${answerTokens}`,
      `${tokensPerSecond}`,
    ],
    url: (port) => `http://127.0.0.1:${port}`,
  })
  const env = { OPENAI_API_KEY: 'chaos', OPENAI_BASE_URL: `${model.url}/v1`, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }
  try {
    return await (nodes === 1 ? onSqlite(model, env) : onCluster(model, env, nodes))
  } catch (error) {
    await model.stop()
    throw error
  }
}

type Env = Readonly<Record<string, string>>

const onSqlite = async (model: Service, env: Env): Promise<KilledScene> => {
  const secretKey = `csk_${randomBytes(32).toString('base64url')}`
  const folder = mkdtempSync(join(tmpdir(), 'troupe-streams-'))
  const server = new Restartable(await startServer({ ...env, DATA_DIR: folder, BOOTSTRAP_SECRET_KEY: secretKey }))
  return {
    secretKey,
    url: server.url,
    kill: async (sessions) => {
      const killedAt = performance.now()
      await server.kill9()
      await server.restart()
      const back = performance.now()
      return { killedAt, backAt: new Map(sessions.map((session) => [session, back])) }
    },
    mend: async () => {},
    log: () => server.log(),
    stop: async () => {
      await server.stop()
      await model.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Pause between two reads of the lease table, in ms. */
const lookMs = 25
/** Time in ms within which every shard has to be held by a process that is up. */
const patienceMs = 30_000

const onCluster = async (model: Service, env: Env, nodes: number): Promise<KilledScene> => {
  const cluster = await LocalCluster.start(nodes, { env: () => env })
  const balancer = await openBalancer(() => cluster.nodes.filter(({ isRunning }) => isRunning).map(({ port }) => port))
  const client = await MongoClient.connect(cluster.mongodbUrl)
  const leases = new Leases(new MongoLeases(client.db()))
  await leases.settled(nodes)
  return {
    url: balancer.url,
    secretKey: cluster.credentials.secretKey,
    kill: async (sessions) => {
      const { node, process, ran } = await leases.busiest(sessions)
      const victim = cluster.nodes.find(({ name }) => name === node)
      const killedAt = performance.now()
      await victim?.kill9()
      return { killedAt, backAt: await leases.takenFrom(process, ran) }
    },
    mend: async () => {
      for (const node of cluster.nodes) if (!node.isRunning) await node.restart()
      await leases.settled(nodes)
    },
    log: () => cluster.nodes.map((node) => `== ${node.name}\n${node.log()}`).join('\n'),
    stop: async () => {
      await client.close()
      balancer.close()
      await cluster.stop()
      await model.stop()
    },
  }
}

/** Who runs which sessions. */
class Leases {
  readonly #table: MongoLeases

  constructor(table: MongoLeases) {
    this.#table = table
  }

  /** Returns the process that runs most of these sessions, and which. */
  async busiest(sessions: readonly string[]) {
    const { leases, members } = await this.#table.read()
    const holders = new Map(leases.map(({ shard, holder }) => [shard, holder]))
    const ranBy = (process: string) =>
      sessions.filter((session) => holders.get(shardsIn({ leases }).of(session)) === process)
    const all = members.map(({ node, process }) => ({ node, process, ran: ranBy(process) }))
    const [most] = all.toSorted((one, other) => other.ran.length - one.ran.length)
    if (most === undefined) throw new Error('the cluster has no node')
    return most
  }

  /** Waits until another process has the leases of these sessions; returns when it got each. */
  async takenFrom(process: string, sessions: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const taken = new Map<string, number>()
    const deadline = performance.now() + patienceMs
    while (taken.size < sessions.length) {
      if (performance.now() > deadline) throw new Error(`leases of ${process} were not taken over`)
      const { leases } = await this.#table.read()
      const at = performance.now()
      const moved = new Set(
        leases.filter(({ holder }) => holder !== null && holder !== process).map(({ shard }) => shard),
      )
      for (const session of sessions)
        if (moved.has(shardsIn({ leases }).of(session)) && !taken.has(session)) taken.set(session, at)
      await new Promise((resolve) => setTimeout(resolve, lookMs))
    }
    return taken
  }

  /** Waits until the leases are spread over `nodes` processes that are up. */
  async settled(nodes: number): Promise<void> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      const { leases, members } = await this.#table.read()
      const counts = members.map(({ process }) => leases.filter(({ holder }) => holder === process).length)
      const all = counts.reduce((sum, count) => sum + count, 0)
      if (members.length === nodes && all === leases.length && Math.min(...counts) > 40) return
      if (performance.now() > deadline) throw new Error(`the shards did not spread: ${counts.join(', ')}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
