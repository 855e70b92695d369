import { expect, vi } from 'vitest'
import { preferredOwner } from '#runtime/cluster/placement.ts'
import { shardCount, shardOf } from '#runtime/recovery/shard.ts'
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
    const { tools = [], ownMongod = false, isNew = false, env = {} } = options
    const data = ownMongod ? null : await MongoData.open(process.env.MONGODB_URL ?? '', { isNew })
    const cluster = await LocalCluster.start(count, {
      ...(data !== null && { mongodbUrl: data.mongodbUrl, dataDir: data.folder }),
      env: () => ({ ALLOWED_PRIVATE_HOSTS: tools.map(({ host }) => host).join(','), ...env }),
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
    const lease = leases.find(({ shard, leftMs }) => shard === shardOf(actor) && leftMs > 0)
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

  /** Resolves when every shard is at its preferred owner: none is handed over until a node joins or leaves. */
  async settled(): Promise<void> {
    const running = this.nodes.filter(({ isRunning }) => isRunning).length
    const isSettled = async (): Promise<void> => {
      const { leases, members } = await this.leases()
      const live = members.map(({ process }) => process)
      expect(live).toHaveLength(running)
      expect(leases.filter(({ shard, holder }) => holder === preferredOwner(shard, live))).toHaveLength(shardCount)
    }
    await vi.waitFor(isSettled, { ...patience, interval: 200 })
  }

  async leases(): Promise<LeaseTable> {
    this.#storage ??= openStorage({ mongodbUrl: this.cluster.mongodbUrl, dataDir: '' })
    const storage = await this.#storage.catch((error: unknown) => {
      this.#storage = null
      throw error
    })
    return (await storage.leases?.read()) ?? { leases: [], members: [] }
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) if (node.isRunning && !node.isPaused) await noteServed(node.url)
    await (await this.#storage)?.close()
    await this.cluster.stop()
    await this.#data?.remove()
  }
}
