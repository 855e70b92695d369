import type { HostFacts, LeaseStore, LeaseTable, LiveActor, Member, Presence } from '#storage/index.ts'
import type { Clock } from '../runtime/index.ts'
import type { Shards } from '../runtime/internal.ts'
import type { Nodes, NodeView, ShardView } from './nodes.ts'

/** Dependencies of `ClusterNodes`. */
export interface ClusterNodesParts {
  /** Facts about this process. */
  readonly facts: () => Omit<HostFacts, 'shards'>
  readonly self: () => Member
  readonly leases: Pick<LeaseStore, 'read'>
  readonly presence: Pick<Presence, 'hosts' | 'alive' | 'actors' | 'connectedTo'>
  readonly clock: Clock
  /** The shards of the store. */
  readonly space: Shards
}

/** How long a read of the lease table is reused, in ms, because the console polls. */
const freshMs = 1000

/** `Nodes` of a cluster. The lease table lists the processes, and the directory what they do. */
export class ClusterNodes implements Nodes {
  readonly #parts: ClusterNodesParts
  #read: { readonly atMs: number; readonly table: Promise<LeaseTable> } | undefined

  constructor(parts: ClusterNodesParts) {
    this.#parts = parts
  }

  async list(): Promise<readonly NodeView[]> {
    const { presence, self } = this.#parts
    const me = self()
    const [{ leases, members }, hosts, alive] = await Promise.all([this.#table(), presence.hosts(), presence.alive(me)])
    const viewOf = (member: Member): NodeView => {
      const current = member.process === me.process
      const held = leases.filter(({ holder, leftMs }) => holder === member.process && leftMs > 0)
      const announced = hosts.find(({ process }) => process === member.process)
      const facts = current ? this.#parts.facts() : announced === undefined ? null : factsOf(announced)
      const isAlive = current || (alive === null ? null : alive.has(member.process))
      return {
        ...member,
        draining: current ? me.draining : member.draining,
        current,
        alive: isAlive,
        shards: held.length,
        facts,
        redis: (current ? presence.connectedTo : announced?.redis) ?? null,
      }
    }
    return members.map(viewOf).sort((a, b) => a.node.localeCompare(b.node) || a.startedAt - b.startedAt)
  }

  async shards(): Promise<readonly ShardView[]> {
    const { leases } = await this.#table()
    const known = new Map(leases.map((lease) => [lease.shard, lease]))
    return this.#parts.space.all().map((shard) => {
      const { holder = null, epoch = 0, leftMs = 0 } = known.get(shard) ?? {}
      const isHeld = holder !== null && leftMs > 0
      const left = isHeld ? Math.max(0, Math.round(leftMs)) : null
      return { shard, process: isHeld ? holder : null, epoch, leftMs: left }
    })
  }

  async runnerOf(actor: string): Promise<string | null> {
    const { leases, members } = await this.#table()
    const shard = this.#parts.space.of(actor)
    const lease = leases.find((each) => each.shard === shard)
    if (lease === undefined || lease.leftMs <= 0) return null
    return members.find(({ process }) => process === lease.holder)?.node ?? null
  }

  liveActors(project: string, limit: number): Promise<readonly LiveActor[]> {
    return this.#parts.presence.actors(project, limit)
  }

  #table(): Promise<LeaseTable> {
    const { leases, clock } = this.#parts
    const now = clock.now()
    if (this.#read !== undefined && now - this.#read.atMs < freshMs) return this.#read.table
    const table = leases.read()
    this.#read = { atMs: now, table }
    table.catch(() => {
      this.#read = undefined
    })
    return table
  }
}

const factsOf = ({ liveActors, runningEffects }: HostFacts): NodeView['facts'] => ({
  liveActors,
  runningEffects,
})
