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
  /** A MongoDB that runs already; the cluster takes a database of its own there, and drops it. */
  readonly mongodbUrl?: string
  /** The own mongod is a replica set of one. */
  readonly replicaSet?: boolean
  /** A Redis that runs already, or one where nobody listens. */
  readonly redisUrl?: string
  /** More of a node's configuration, by its place from 0; it goes before all else. */
  readonly env?: (at: number) => Readonly<Record<string, string>>
}

/** One server process of a cluster. */
export interface ClusterNode extends Restartable {
  /** Its `NODE_ID`. */
  readonly name: string
}

interface Stores {
  readonly mongodbUrl: string
  readonly mongod: Restartable | null
  readonly redisUrl: string
  readonly redis: Restartable | null
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
  readonly #stores: Stores
  readonly #env: NonNullable<ClusterOptions['env']>
  readonly #folder = mkdtempSync(join(tmpdir(), 'troupe-cluster-'))

  private constructor(stores: Stores, env: ClusterOptions['env']) {
    this.#stores = stores
    this.#env = env ?? (() => ({}))
  }

  /** Starts `count` nodes at once; resolves when all take requests. */
  static async start(count: number, options: ClusterOptions = {}): Promise<LocalCluster> {
    const cluster = new LocalCluster(await storesOf(options), options.env)
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
    return this.#stores.mongodbUrl
  }

  get redisUrl(): string {
    return this.#stores.redisUrl
  }

  /** The own mongod. @throws {Error} when one was given. */
  get mongod(): Restartable {
    return own(this.#stores.mongod)
  }

  /** The own Redis. @throws {Error} when one was given. */
  get redis(): Restartable {
    return own(this.#stores.redis)
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

  /** Ends every node at once and removes all data. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill9()))
    await Promise.all(this.nodes.map((node) => node.stop()))
    const { mongod, redis, mongodbUrl } = this.#stores
    await (mongod === null ? dropDatabase(mongodbUrl) : mongod.stop())
    await redis?.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #startNode(at: number): Promise<ClusterNode> {
    const name = `node-${at + 1}`
    const { secretKey, ownerEmail, ownerPassword } = this.credentials
    const service = await startServer({
      NODE_ID: name,
      DATA_DIR: this.#folder,
      MONGODB_URL: this.mongodbUrl,
      REDIS_URL: this.redisUrl,
      BOOTSTRAP_SECRET_KEY: secretKey,
      BOOTSTRAP_OWNER_EMAIL: ownerEmail,
      BOOTSTRAP_OWNER_PASSWORD: ownerPassword,
      ...this.#env(at),
    })
    return Object.assign(new Restartable(service), { name })
  }
}

const storesOf = async ({ mongodbUrl, replicaSet = false, redisUrl }: ClusterOptions): Promise<Stores> => {
  const mongod = mongodbUrl === undefined ? new Restartable(await startMongod({ replicaSet })) : null
  const redis = redisUrl === undefined ? new Restartable(await startRedis()) : null
  return {
    mongodbUrl: withDatabase(mongodbUrl ?? mongod?.url ?? ''),
    mongod,
    redisUrl: redisUrl ?? redis?.url ?? '',
    redis,
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
