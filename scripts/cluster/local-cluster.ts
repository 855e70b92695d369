import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { startMongod } from '../services/mongod.ts'
import { startRedis } from '../services/redis.ts'
import { startServer } from '../services/server.ts'
import { Restartable } from './restartable.ts'

/** How a cluster is made. What is left out is started, and ends with it. */
export interface ClusterOptions {
  /** A MongoDB that runs already; the cluster takes a database of its own there, and drops it, unless `dataDir` is named. */
  readonly mongodbUrl?: string
  /** Where the master key is kept; the database of `mongodbUrl` is used as it is, and kept too. */
  readonly dataDir?: string
  /** The nodes listen on this port and those after it, instead of free ones. */
  readonly firstPort?: number
  /** The own mongod is a replica set of one. */
  readonly replicaSet?: boolean
  /** A Redis that runs already, or an address where none listens. */
  readonly redisUrl?: string
  /** More of a node's configuration, by its place from 0; it goes before all else. */
  readonly env?: (at: number) => Readonly<Record<string, string>>
}

/** One server process of a cluster. */
export interface ClusterNode extends Restartable {
  /** Its `NODE_ID`. */
  readonly name: string
}

interface Shared {
  readonly mongodbUrl: string
  readonly mongod: Restartable | null
  readonly redisUrl: string
  readonly redis: Restartable | null
  /** The folder of the master key. */
  readonly dataDir: string
  /** Nothing of it outlives the cluster. */
  readonly isOurs: boolean
}

/** Several server processes of one installation on this machine, with what they share: for tests, chaos and benches. */
export class LocalCluster {
  /** `BOOTSTRAP_SECRET_KEY`, and the dashboard's owner. */
  readonly credentials = {
    secretKey: `csk_${randomBytes(32).toString('base64url')}`,
    ownerEmail: 'owner@example.com',
    ownerPassword: randomBytes(16).toString('base64url'),
  } as const
  /** Every node that was ever started, in that order. */
  readonly nodes: ClusterNode[] = []
  readonly #shared: Shared
  readonly #options: ClusterOptions

  private constructor(shared: Shared, options: ClusterOptions) {
    this.#shared = shared
    this.#options = options
  }

  /** Starts `count` nodes at once; resolves when all take requests. */
  static async start(count: number, options: ClusterOptions = {}): Promise<LocalCluster> {
    const cluster = new LocalCluster(await sharedOf(options), options)
    try {
      await cluster.add(count)
    } catch (error) {
      await cluster.stop()
      throw error
    }
    return cluster
  }

  get urls(): readonly string[] {
    return this.nodes.map(({ url }) => url)
  }

  /** What all nodes share. */
  get mongodbUrl(): string {
    return this.#shared.mongodbUrl
  }

  get redisUrl(): string {
    return this.#shared.redisUrl
  }

  /** `DATA_DIR` of all nodes. */
  get dataDir(): string {
    return this.#shared.dataDir
  }

  /** The own mongod. @throws {Error} when one was given. */
  get mongod(): Restartable {
    return own(this.#shared.mongod)
  }

  /** The own Redis. @throws {Error} when one was given. */
  get redis(): Restartable {
    return own(this.#shared.redis)
  }

  /** Starts more nodes, all at once. */
  async add(count = 1): Promise<readonly ClusterNode[]> {
    const first = this.nodes.length
    const started = await Promise.allSettled(Array.from({ length: count }, (_, i) => this.#startNode(first + i)))
    const nodes = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    this.nodes.push(...nodes)
    for (const each of started) if (each.status === 'rejected') throw each.reason
    return nodes
  }

  /** Lets every node end in its own time. */
  async drain(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.term()))
  }

  /** Ends every node at once, and removes all data that it made itself. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill9()))
    await Promise.all(this.nodes.map((node) => node.stop()))
    const { mongod, redis, mongodbUrl, dataDir, isOurs } = this.#shared
    if (isOurs) {
      await (mongod === null ? dropDatabase(mongodbUrl) : mongod.stop())
      rmSync(dataDir, { recursive: true, force: true })
    }
    await redis?.stop()
  }

  async #startNode(at: number): Promise<ClusterNode> {
    const name = `node-${at + 1}`
    const { secretKey, ownerEmail, ownerPassword } = this.credentials
    const { firstPort, env } = this.#options
    const settings = {
      NODE_ID: name,
      DATA_DIR: this.#shared.dataDir,
      MONGODB_URL: this.mongodbUrl,
      REDIS_URL: this.redisUrl,
      BOOTSTRAP_SECRET_KEY: secretKey,
      BOOTSTRAP_OWNER_EMAIL: ownerEmail,
      BOOTSTRAP_OWNER_PASSWORD: ownerPassword,
      ...env?.(at),
    }
    const service = await startServer(settings, firstPort === undefined ? undefined : firstPort + at)
    return Object.assign(new Restartable(service), { name })
  }
}

const sharedOf = async (options: ClusterOptions): Promise<Shared> => {
  const { mongodbUrl, replicaSet = false, redisUrl, dataDir } = options
  const mongod = mongodbUrl === undefined ? new Restartable(await startMongod({ replicaSet })) : null
  const redis = redisUrl === undefined ? new Restartable(await startRedis()) : null
  const isOurs = mongodbUrl === undefined || dataDir === undefined
  const server = mongodbUrl ?? mongod?.url ?? ''
  return {
    mongodbUrl: isOurs ? withDatabase(server) : server,
    mongod,
    redisUrl: redisUrl ?? redis?.url ?? '',
    redis,
    dataDir: isOurs ? mkdtempSync(join(tmpdir(), 'troupe-cluster-')) : dataDir,
    isOurs,
  }
}

/** The server's URL with a database of our own in it. */
const withDatabase = (server: string): string => {
  const [, hosts, query = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)\/?[^?]*(\?.*)?$/.exec(server) ?? []
  return `${hosts}/cluster_${randomBytes(6).toString('hex')}${query}`
}

const dropDatabase = async (url: string): Promise<void> => {
  const client = await MongoClient.connect(url)
  await client.db().dropDatabase()
  await client.close()
}

const own = (service: Restartable | null): Restartable => {
  if (service === null) throw new Error('the service was given: it is not ours to end')
  return service
}
