import type { LiveActor } from '#storage/index.ts'
import { type Host, liveActorOf } from '../runtime/internal.ts'
import type { Nodes, NodeView, ShardView } from './nodes.ts'

/** `Nodes` of an installation that consists of a single process. */
export class LoneNode implements Nodes {
  readonly #host: Host
  readonly #node: string
  readonly #startedAt: number

  /** @param node a display name. */
  constructor(host: Host, node: string, startedAt: number) {
    this.#host = host
    this.#node = node
    this.#startedAt = startedAt
  }

  async list(): Promise<readonly NodeView[]> {
    const node = this.#node
    const facts = { liveActors: this.#host.live, runningEffects: this.#host.effects.running }
    const standing = { current: true, alive: true, draining: false, startedAt: this.#startedAt }
    return [
      { process: node, node, address: null, ...standing, shards: this.#host.ownership.space.count, facts, redis: null },
    ]
  }

  async shards(): Promise<readonly ShardView[]> {
    const own = { process: this.#node, epoch: 0, leftMs: null }
    return this.#host.ownership.space.all().map((shard) => ({ shard, ...own }))
  }

  async runnerOf(): Promise<string> {
    return this.#node
  }

  async liveActors(project: string, limit: number): Promise<readonly LiveActor[]> {
    const self = { node: this.#node, process: this.#node }
    const found: LiveActor[] = []
    for (const resident of this.#host.residents()) {
      if (found.length >= limit) break
      if (resident.owner.project === project) found.push(liveActorOf(resident, self))
    }
    return found
  }
}
