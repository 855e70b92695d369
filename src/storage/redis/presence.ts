import { type HostFacts, type LiveActor, liveActorMs, type Member, type Presence } from '../cluster-ports.ts'
import type { Directory, DirectoryClient } from './directory-client.ts'
import type { HostEntity, LiveActorEntity } from './schema.ts'

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
  readonly #directory: DirectoryClient
  readonly #prefix: string
  readonly #now: () => number
  #sureFrom = Number.POSITIVE_INFINITY

  constructor(directory: DirectoryClient, prefix: string, now: () => number) {
    this.#directory = directory
    this.#prefix = prefix
    this.#now = now
  }

  /** Must be called when the directory is available again. */
  readonly returned = (): void => {
    this.#sureFrom = this.#now() + graceMs
  }

  async announce(self: Member, facts: HostFacts, ms: number): Promise<void> {
    const now = this.#now()
    await this.#directory.run(({ client, hosts }) =>
      // sent together, in this order; a reader repairs the entry if the connection breaks between the last two
      Promise.all([
        client.zAdd(this.#hosts, { score: now, value: self.process }),
        client.zRemRangeByScore(this.#hosts, 0, now - indexMs),
        hosts.save(self.process, entityOf(self, facts)),
        client.pExpire(this.#hostKey(self.process), ms),
      ]),
    )
  }

  async withdraw(process: string): Promise<void> {
    await this.#directory.run(({ client, hosts }) =>
      Promise.all([hosts.remove(process), client.zRem(this.#hosts, process)]),
    )
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
    if (came.length + left.length === 0) return
    await this.#directory.run((directory) =>
      Promise.all([...came.map((actor) => this.#save(directory, actor)), ...this.#indexed(directory, came, left)]),
    )
  }

  async actors(project: string, limit: number): Promise<readonly LiveActor[]> {
    const announced = await this.#announced()
    if (announced === undefined) return []
    const processes = new Set(announced.map(({ process }) => process))
    const found = await this.#directory.run(async ({ client, actors }) => {
      const ids = await client.zRange(this.#liveIn(project), 0, limit - 1, { REV: true })
      return actors.fetch([...ids])
    })
    return (found ?? []).filter(({ process }) => processes.has(process)).map(actorOf)
  }

  async close(): Promise<void> {
    this.#directory.close()
  }

  async #announced(): Promise<readonly HostEntity[] | undefined> {
    return this.#directory.run(async ({ client, hosts }) => {
      const processes = await client.zRange(this.#hosts, 0, -1)
      const [entities, lifetimes] = await Promise.all([
        hosts.fetch([...processes]),
        Promise.all(processes.map((process) => client.pTTL(this.#hostKey(process)))),
      ])
      await Promise.all(processes.filter((_, n) => lifetimes[n] === -1).map((process) => this.#mend(client, process)))
      return entities.filter(({ process }) => process !== undefined)
    })
  }

  /**
   * Sets a lifetime on an entry without one: its process lost the connection between writing it and setting the
   * lifetime.
   */
  #mend(client: Directory['client'], process: string): Promise<unknown> {
    return client.pExpire(this.#hostKey(process), graceMs)
  }

  async #save({ client, actors }: Directory, actor: LiveActor): Promise<void> {
    await Promise.all([
      actors.save(actor.actor, { ...actor }),
      client.pExpire(`${this.#prefix}actor:${actor.actor}`, liveActorMs),
    ])
  }

  #indexed({ client, actors }: Directory, came: readonly LiveActor[], left: readonly LiveActor[]): Promise<unknown>[] {
    const now = this.#now()
    const work: Promise<unknown>[] = []
    for (const [project, ids] of idsByProject(left)) work.push(client.zRem(this.#liveIn(project), ids))
    for (const [project, ids] of idsByProject(came)) {
      const key = this.#liveIn(project)
      work.push(
        client.zAdd(
          key,
          ids.map((value) => ({ score: now, value })),
        ),
      )
      work.push(client.zRemRangeByScore(key, 0, now - liveActorMs))
      work.push(client.pExpire(key, liveActorMs))
    }
    if (left.length > 0) work.push(actors.remove(left.map(({ actor }) => actor)))
    return work
  }

  get #hosts(): string {
    return `${this.#prefix}hosts`
  }

  readonly #hostKey = (process: string): string => `${this.#prefix}host:${process}`
  readonly #liveIn = (project: string): string => `${this.#prefix}live:${project}`
}

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
})

const actorOf = ({ actor, machine, project, node, process }: LiveActorEntity): LiveActor => ({
  actor,
  machine,
  project,
  node,
  process,
})
