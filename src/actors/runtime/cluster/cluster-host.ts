import type { JsonObject, LogEvent } from '#storage/ports.ts'
import { Host, type HostOptions } from '../host.ts'
import { newId, newIdIn } from '../ids.ts'
import type { FeedState } from '../messages/feed.ts'
import type { Creation, Delivered, Delivery, Resident } from '../resident.ts'
import type { ClusterNode } from './cluster-node.ts'
import { questionElsewhere } from './question-elsewhere.ts'

/** Host for one process of a cluster: requests for an actor of another process are routed there by its node. */
export class ClusterHost extends Host {
  readonly node: ClusterNode

  /** @param open creates the node for this host. */
  constructor(options: HostOptions, open: (host: ClusterHost) => ClusterNode) {
    super(options)
    this.node = open(this)
  }

  readonly newActorId = (prefix: string): string => {
    const shard = this.node.localShard()
    return shard === undefined ? newId(prefix) : newIdIn(prefix, shard)
  }

  create(creation: Creation): Promise<Delivered> {
    return this.node.create(creation)
  }

  deliver(id: string, delivery: Delivery): Promise<Delivered> {
    return this.node.deliver(id, delivery, false)
  }

  deliverTo(resident: Resident, delivery: Delivery): Promise<Delivered> {
    return this.node.deliver(resident.id, delivery, true)
  }

  load(id: string): Promise<Resident | null> {
    return this.node.read(id)
  }

  question(id: string, question: JsonObject): Promise<JsonObject | null> {
    return this.node.router.route(id, questionElsewhere(this, id, question))
  }

  delivered(id: string): Promise<void> {
    return this.node.delivered(id)
  }

  protected rowsElsewhere(): Promise<void> {
    return this.node.rowsElsewhere()
  }

  protected readLogElsewhere(id: string, after: number): Promise<readonly LogEvent[]> {
    return this.node.readLog(id, after)
  }

  protected standingElsewhere(id: string): FeedState | 'unknown' {
    return this.node.standing(id)
  }

  protected followed(id: string, isFresh: boolean): void {
    this.node.followed(id, isFresh)
  }

  protected committedHere(resident: Resident, events: readonly LogEvent[]): void {
    this.node.committed(resident, events)
  }

  protected showHere(resident: Resident, events: readonly LogEvent[]): void {
    this.node.shown(resident, events)
  }

  /** If merely the lease was not renewed in time, this process may still hold the shard: the actor is reloaded. */
  protected gaveUp(id: string): void {
    this.node.doubt()
    if (this.isHere(id)) this.revive(id)
  }
}
