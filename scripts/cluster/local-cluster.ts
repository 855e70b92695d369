import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { startMongod } from '../services/mongod.ts'
import { startRedis } from '../services/redis.ts'
import { startServer } from '../services/server.ts'
import { Restartable } from './restartable.ts'

/** Options of a cluster. Services that are not given are started, and stopped with the cluster. */
export interface ClusterOptions {
  /** URL of a running MongoDB. The cluster creates its own database there and drops it, unless `dataDir` is set. */
  readonly mongodbUrl?: string
  /**
   * Folder of the master key, for use with `mongodbUrl`: the database of that URL is then used as it is, and both are
   * kept.
   */
  readonly dataDir?: string
  /** First of the consecutive ports on which the nodes listen; free ports when absent. */
  readonly firstPort?: number
  /** Whether the mongod that is started is a replica set of one. */
  readonly replicaSet?: boolean
  /** URL of a running Redis, or an address where none listens. */
  readonly redisUrl?: string
  /** Additional configuration of a node, by its index from 0; it overrides everything else. */
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
  /** Whether the data was created for this cluster, and is removed with it. */
  readonly isOurs: boolean
}

/**
 * Several server processes of one installation on this machine, with the services that they share; for tests, chaos
 * runs and benches.
 */
export class LocalCluster {
  /** `BOOTSTRAP_SECRET_KEY`, and the owner of the dashboard. */
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

  /** Starts `count` nodes at once; resolves when all accept requests. */
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

  /** URL of the database that all nodes share. */
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

  /** The mongod that the cluster has started. @throws {Error} when a URL was given instead. */
  get mongod(): Restartable {
    return own(this.#shared.mongod)
  }

  /** The Redis that the cluster has started. @throws {Error} when a URL was given instead. */
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

  /** Shuts all nodes down gracefully. */
  async drain(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.term()))
  }

  /** Kills every node, and removes all data that the cluster has created. */
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

/** Returns the server's URL with the name of a new database. */
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
