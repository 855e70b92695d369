import { expect, vi } from 'vitest'
import { shardsOf } from '#runtime/recovery/shard.ts'
import { type ClusterNode, LocalCluster } from '#scripts/cluster/local-cluster.ts'
import { openStorage } from '#src/open-storage.ts'
import type { LeaseTable } from '#storage/cluster-ports.ts'
import type { Storage } from '#storage/ports.ts'
import { noteServed } from '#test/support/called-operations.ts'
import { Api } from '../api.ts'
import { MongoData } from '../mongo-data.ts'
import { patience } from '../patience.ts'

export interface ClusterWorldOptions {
  /** Hosts that tools may be reached at, `host:port`. */
  readonly tools?: readonly { readonly host: string }[]
  /** Starts a MongoDB that the test may kill, instead of the shared one. */
  readonly ownMongod?: boolean
  /** Requires a database that was never used. */
  readonly isNew?: boolean
  readonly env?: Readonly<Record<string, string>>
  /** Further configuration of a node, by its index from 0. */
  readonly nodeEnv?: (at: number) => Readonly<Record<string, string>>
  /** URL of Redis servers of the test, instead of one that is started. */
  readonly redisUrl?: string
}

/** A test installation of several nodes, which a test can kill, pause and terminate, with its own Redis. */
export class ClusterWorld {
  readonly cluster: LocalCluster
  readonly #data: MongoData | null
  /** Direct access to the store, to read the leases. */
  #storage: Promise<Storage> | null = null

  private constructor(cluster: LocalCluster, data: MongoData | null) {
    this.cluster = cluster
    this.#data = data
  }

  static async start(count: number, options: ClusterWorldOptions = {}): Promise<ClusterWorld> {
    const { tools = [], ownMongod = false, isNew = false, env = {}, nodeEnv, redisUrl } = options
    const data = ownMongod ? null : await MongoData.open(process.env.MONGODB_URL ?? '', { isNew })
    const cluster = await LocalCluster.start(count, {
      ...(data !== null && { mongodbUrl: data.mongodbUrl, dataDir: data.folder }),
      ...(redisUrl !== undefined && { redisUrl }),
      env: (at) => ({ ALLOWED_PRIVATE_HOSTS: tools.map(({ host }) => host).join(','), ...env, ...nodeEnv?.(at) }),
    })
    return new ClusterWorld(cluster, data)
  }

  get nodes(): readonly ClusterNode[] {
    return this.cluster.nodes
  }

  /** The API of one node with the project's secret key. */
  at(node: Pick<ClusterNode, 'url'>): Api {
    return new Api(node.url, { authorization: `Bearer ${this.cluster.credentials.secretKey}` })
  }

  /** The API of every node. */
  get apis(): readonly Api[] {
    return this.nodes.map((node) => this.at(node))
  }

  /** The API of the node at an index from 0, modulo the number of nodes. */
  api(place: number): Api {
    const node = this.nodes[place % this.nodes.length]
    if (node === undefined) throw new Error('the cluster has no node')
    return this.at(node)
  }

  /** The API of the first node with the owner's dashboard session. */
  async dashboard(): Promise<Api> {
    const [url = ''] = this.cluster.urls
    const { ownerEmail: email, ownerPassword: password } = this.cluster.credentials
    const login = await new Api(url).post('/api/auth/login', { email, password })
    return new Api(url, { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' })
  }

  /** Creates a project. @returns each node's API with its secret key. */
  async newProject(): Promise<readonly Api[]> {
    const dashboard = await this.dashboard()
    const project = await dashboard.post('/api/projects', { name: 'Another' })
    const { key } = (await dashboard.post(`/api/projects/${project.body.id}/keys`, { name: 'key' })).body
    return this.cluster.urls.map((each) => new Api(each, { authorization: `Bearer ${key}` }))
  }

  /** The node that runs an actor, by its lease. */
  async ownerOf(actor: string): Promise<ClusterNode | undefined> {
    const { leases, members } = await this.leases()
    const own = shardsOf(await this.#opened()).of(actor)
    const lease = leases.find(({ shard, leftMs }) => shard === own && leftMs > 0)
    const member = members.find(({ process }) => process === lease?.holder)
    return this.nodes.find(({ name }) => name === member?.node)
  }

  /** The node that runs an actor, and the others. Waits while a node that stalled has lost the lease. */
  async sides(actor: string): Promise<{ readonly owner: ClusterNode; readonly others: readonly ClusterNode[] }> {
    const owner = await vi.waitFor(async () => {
      const found = await this.ownerOf(actor)
      if (found === undefined) throw new Error(`nobody runs ${actor}`)
      return found
    }, patience)
    return { owner, others: this.nodes.filter((node) => node !== owner) }
  }

  /** Resolves when all nodes have as many shards: none is handed over until a node joins or leaves. */
  async settled(): Promise<void> {
    const running = this.nodes.filter(({ isRunning }) => isRunning).length
    const isSettled = async (): Promise<void> => {
      const counts = [...(await this.shares()).values()]
      expect(counts).toHaveLength(running)
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(2)
    }
    await vi.waitFor(isSettled, { ...patience, interval: 200 })
  }

  /** How many shards each live process holds, by process. */
  async shares(): Promise<ReadonlyMap<string, number>> {
    const { leases, members } = await this.leases()
    const held = Map.groupBy(leases, ({ holder, leftMs }) => (leftMs > 0 ? holder : null))
    return new Map(members.map(({ process }) => [process, held.get(process)?.length ?? 0]))
  }

  async leases(): Promise<LeaseTable> {
    return (await (await this.#opened()).leases?.read()) ?? { leases: [], members: [] }
  }

  /** The machine of an actor's newest commit, with its version. */
  async machineOf(actor: string): Promise<string | undefined> {
    return (await (await this.#opened()).commits.head(actor))?.machine
  }

  async #opened(): Promise<Storage> {
    this.#storage ??= openStorage({ mongodbUrl: this.cluster.mongodbUrl, dataDir: '' })
    const storage = await this.#storage.catch((error: unknown) => {
      this.#storage = null
      throw error
    })
    return storage
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) if (node.isRunning && !node.isPaused) await noteServed(node.url)
    await (await this.#storage)?.close()
    await this.cluster.stop()
    await this.#data?.remove()
  }
}
