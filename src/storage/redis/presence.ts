import { type HostFacts, type LiveActor, liveActorMs, type Member, type Presence } from '../cluster-ports.ts'
import type { Connection } from './connection.ts'
import {
  answered,
  type Entities,
  entitiesOver,
  type HostEntity,
  hostSchema,
  type LiveActorEntity,
  liveActorSchema,
} from './schema.ts'

/** Time in ms that every process has to announce itself again after the directory was unavailable. */
const graceMs = 3_000
/**
 * Time in ms after which a process that does not announce itself is removed from the index; its entry expires earlier.
 */
const indexMs = 3_600_000

/**
 * The directory of nodes and live actors: redis-om entities in expiring hashes, with sorted sets that list them
 * (specs/decisions/0063-redis.md: why not the server's search).
 */
export class RedisPresence implements Presence {
  readonly #connection: Connection
  readonly #entities: { readonly hosts: Entities<HostEntity>; readonly actors: Entities<LiveActorEntity> }
  readonly #prefix: string
  readonly #now: () => number
  #sureFrom = Number.POSITIVE_INFINITY

  constructor(connection: Connection, prefix: string, now: () => number) {
    this.#connection = connection
    this.#entities = {
      hosts: entitiesOver(connection, hostSchema(prefix)),
      actors: entitiesOver(connection, liveActorSchema(prefix)),
    }
    this.#prefix = prefix
    this.#now = now
  }

  get connectedTo(): string {
    return this.#connection.description()
  }

  /** Must be called when the directory, or a part of it, is available again. */
  readonly returned = (): void => {
    this.#sureFrom = this.#now() + graceMs
  }

  async announce(self: Member, facts: HostFacts, ms: number): Promise<void> {
    const now = this.#now()
    await settled([
      this.#at(this.#hosts, ({ client }) => client.zadd(this.#hosts, now, self.process)),
      this.#at(this.#hosts, ({ client }) => client.zremrangebyscore(this.#hosts, 0, now - indexMs)),
      this.#entities.hosts.save(self.process, entityOf(self, facts), ms),
    ])
  }

  async withdraw(process: string): Promise<void> {
    await settled([
      this.#entities.hosts.remove([process]),
      this.#at(this.#hosts, ({ client }) => client.zrem(this.#hosts, process)),
    ])
  }

  async alive(self: Member): Promise<ReadonlySet<string> | null> {
    const announced = await this.#announced()
    if (announced === undefined) return null
    const processes = new Set(announced.map(({ process }) => process))
    if (!processes.has(self.process)) this.returned()
    return this.#now() < this.#sureFrom ? null : processes
  }

  async hosts(): Promise<readonly (Member & HostFacts)[]> {
    return ((await this.#announced()) ?? []).map(hostOf)
  }

  async moved(came: readonly LiveActor[], left: readonly LiveActor[]): Promise<void> {
    const { actors } = this.#entities
    await settled([
      ...came.map((actor) => actors.save(actor.actor, { ...actor }, liveActorMs)),
      ...this.#indexed(came, left),
      actors.remove(left.map(({ actor }) => actor)),
    ])
  }

  async actors(project: string, limit: number): Promise<readonly LiveActor[]> {
    const announced = await this.#announced()
    if (announced === undefined) return []
    const processes = new Set(announced.map(({ process }) => process))
    const key = this.#liveIn(project)
    try {
      const ids = await this.#at(key, ({ client }) => client.zrevrange(key, 0, limit - 1))
      const found = await this.#entities.actors.fetch(ids)
      return found.filter(({ process }) => processes.has(process)).map(actorOf)
    } catch {
      return []
    }
  }

  async close(): Promise<void> {}

  async #announced(): Promise<readonly HostEntity[] | undefined> {
    try {
      const processes = await this.#at(this.#hosts, ({ client }) => client.zrevrange(this.#hosts, 0, -1))
      const entities = await this.#entities.hosts.fetch(processes)
      return entities.filter(({ process }) => process !== undefined)
    } catch {
      return undefined
    }
  }

  #indexed(came: readonly LiveActor[], left: readonly LiveActor[]): Promise<unknown>[] {
    const now = this.#now()
    const work: Promise<unknown>[] = []
    for (const [project, ids] of idsByProject(left)) {
      const key = this.#liveIn(project)
      work.push(this.#at(key, ({ client }) => client.zrem(key, ...ids)))
    }
    for (const [project, ids] of idsByProject(came)) {
      const key = this.#liveIn(project)
      work.push(
        this.#at(key, ({ client }) => client.zadd(key, ...ids.flatMap((id) => [String(now), id]))),
        this.#at(key, ({ client }) => client.zremrangebyscore(key, 0, now - liveActorMs)),
        this.#at(key, ({ client }) => client.pexpire(key, liveActorMs)),
      )
    }
    return work
  }

  #at<T>(key: string, command: (connection: Connection) => Promise<T>): Promise<T> {
    return answered(this.#connection, key, () => command(this.#connection))
  }

  get #hosts(): string {
    return `${this.#prefix}hosts`
  }

  readonly #liveIn = (project: string): string => `${this.#prefix}live:${project}`
}

/** Waits for all of it; parts that the directory did not take are announced again later. */
const settled = (work: readonly Promise<unknown>[]): Promise<unknown> => Promise.allSettled(work)

const idsByProject = (actors: readonly LiveActor[]): ReadonlyMap<string, string[]> =>
  new Map(
    [...Map.groupBy(actors, ({ project }) => project)].map(([project, of]) => [project, of.map(({ actor }) => actor)]),
  )

const entityOf = (
  { startedAt, machines: _, readableBy: __, mark: ___, ...self }: Member,
  facts: HostFacts,
): HostEntity => ({
  ...self,
  started_at: startedAt,
  shards: facts.shards,
  live_actors: facts.liveActors,
  running_effects: facts.runningEffects,
  ...(facts.redis !== undefined && { redis: facts.redis }),
})

const hostOf = (entity: HostEntity): Member & HostFacts => ({
  process: entity.process,
  node: entity.node,
  address: entity.address,
  draining: entity.draining,
  startedAt: entity.started_at,
  shards: entity.shards,
  liveActors: entity.live_actors,
  runningEffects: entity.running_effects,
  ...(entity.redis != null && { redis: entity.redis }),
})

const actorOf = ({ actor, machine, project, node, process }: LiveActorEntity): LiveActor => ({
  actor,
  machine,
  project,
  node,
  process,
})
