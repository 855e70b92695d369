import { type CommitStore, type OpenCommit, StoreUnavailable } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import type { Host } from '../host.ts'
import type { Logger } from '../logger.ts'
import type { Resident } from '../resident.ts'
import { Rounds } from '../rounds.ts'

/**
 * Interval of the search, and the age from which an open commit counts as old, in ms. Work of a commit is usually done
 * within seconds, unless it is known why it waits.
 */
const everyMs = 15_000
const oldMs = 20_000
const pageSize = 250
/** Pages read per round; the next round continues from there. */
const pagesAtOnce = 4
/** Number of actors loaded concurrently. */
const atOnce = 32
/** Work that makes no progress after this many sightings is shown to operators. */
const shownAfter = 3

/** Dependencies of `StalledWork`. */
export interface StandingWorkParts {
  readonly host: Host
  readonly store: Pick<CommitStore, 'open'>
  readonly clock: Clock
  readonly log: Logger
}

/** An actor with open work on which nothing makes progress, up to its commit `seq`. */
interface Sighting {
  readonly seq: number
  /** Number of consecutive sweeps in which it was seen. */
  readonly sightings: number
}

/**
 * Finds work of a commit that was not done: a write that was given up and arrived late, a part of a commit that threw,
 * an effect that nothing runs, a row that was not written. Its commit is open, and old. An actor seen in two sweeps is
 * reloaded, which resumes its work; what still makes no progress is shown as stuck
 * (specs/decisions/0091-stuck-work.md).
 */
export class StalledWork {
  readonly #parts: StandingWorkParts
  /** Sightings of the previous sweep; `#seen` has those of the current one. */
  #before: ReadonlyMap<string, Sighting> = new Map()
  #seen = new Map<string, Sighting>()
  #from: OpenCommit | undefined
  readonly #rounds: Rounds

  constructor(parts: StandingWorkParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.round() })
  }

  start(): void {
    this.#rounds.start()
  }

  stop(): void {
    void this.#rounds.stop()
  }

  /** One round: looks at commits that have been open for long. */
  async round(): Promise<void> {
    try {
      await this.#inspect(newestOf(await this.#open()))
      if (this.#from === undefined) this.#end()
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'standing work not looked for, trying again')
    }
  }

  /** Reads some pages of commits that have been open for long; `#from` is undefined after the last pages of a sweep. */
  async #open(): Promise<readonly OpenCommit[]> {
    const { host, store, clock } = this.#parts
    const { shards } = host.ownership
    const commits: OpenCommit[] = []
    if (shards?.length === 0) this.#from = undefined
    for (let page = 0, limit = pageSize; page < pagesAtOnce && shards?.length !== 0; page++) {
      const from = this.#from
      const query = { limit, until: clock.now() - oldMs, ...(shards && { shards }), ...(from && { from }) }
      const found = await store.open(query)
      commits.push(...found)
      const last = found.at(-1)
      this.#from = found.length < limit ? undefined : last
      if (this.#from === undefined) break
      // more than a page of commits share one position
      limit = last?.shard === from?.shard && last?.at === from?.at ? limit * 2 : pageSize
    }
    return commits
  }

  async #inspect(newest: ReadonlyMap<string, OpenCommit>): Promise<void> {
    const standing = [...newest.values()].filter((commit) => this.#stands(commit))
    for (let first = 0; first < standing.length; first += atOnce) {
      await Promise.all(standing.slice(first, first + atOnce).map((commit) => this.#see(commit)))
    }
  }

  /** Ends a sweep: work that was shown as stuck and is no longer seen is making progress again. */
  #end(): void {
    for (const [actor, { seq, sightings }] of this.#before) {
      if (sightings > shownAfter && this.#seen.get(actor)?.seq !== seq) this.#clear(actor, seq)
    }
    this.#before = this.#seen
    this.#seen = new Map()
  }

  /** Whether nothing makes progress on the commit, as far as this process can see. */
  #stands({ actor, shard }: OpenCommit): boolean {
    const { host } = this.#parts
    if (host.ownership.heldUnder(shard) === undefined || host.recovery.underWay(shard) !== undefined) return false
    const resident = host.resident(actor)
    return resident === undefined || !this.#goesOn(resident)
  }

  /** Whether work of the actor is in progress. A parked actor counts as such: it is already shown as parked. */
  #goesOn(resident: Resident): boolean {
    const { host } = this.#parts
    if (resident.parked !== undefined || resident.working) return true
    if (resident.undelivered > 0 || host.rows.waits(resident.id)) return resident.unfinished === undefined
    const flights = Object.keys(resident.state.inFlight)
    return flights.length > 0 && resident.unfinished === undefined && flights.every((id) => host.effects.runs(id))
  }

  async #see({ actor, seq }: OpenCommit): Promise<void> {
    if (this.#seen.has(actor)) return
    const earlier = this.#before.get(actor)
    // an actor that made progress since counts as seen for the first time
    const sighting =
      earlier === undefined || earlier.seq < seq
        ? { seq, sightings: 1 }
        : { ...earlier, sightings: earlier.sightings + 1 }
    this.#seen.set(actor, sighting)
    if (isDue(sighting.sightings)) await this.#takeUp(actor, sighting)
  }

  async #takeUp(actor: string, { seq, sightings }: Sighting): Promise<void> {
    const { host, log } = this.#parts
    const there = host.resident(actor)
    log.warn({ actorId: actor, seq, sightings }, 'work stands still, taken up again')
    try {
      const resident = await host.loadFrom(actor, Math.max(seq, (there?.state.seq ?? 0) + 1))
      if (resident !== null && sightings > shownAfter) this.#show(resident, { seq, sightings })
    } catch (error) {
      if (error instanceof StoreUnavailable) return
      log.error({ actorId: actor, err: error }, 'standing work not taken up')
    }
  }

  /** Shows the work as stuck. The commit is part of the subject: a later stuck commit needs a new decision. */
  #show({ id, definition, owner, unfinished }: Resident, { seq, sightings }: Sighting): void {
    const reason = unfinished ?? 'The work of its commits was resumed, but has not been completed.'
    const stuck = {
      kind: 'unfinished_commit',
      actor: id,
      subject: `${id}:${seq}`,
      reason,
      attempts: sightings - 1,
    } as const
    this.#parts.host.stuck.note({ ...stuck, machine: definition.name, owner })
  }

  #clear(actor: string, seq: number): void {
    this.#parts.host.stuck.clear({ kind: 'unfinished_commit', actor, subject: `${actor}:${seq}` })
  }
}

/** Whether to resume the work at this sighting: after the first attempts, at increasing intervals. */
const isDue = (sightings: number): boolean =>
  sightings > 1 && (sightings <= shownAfter + 1 || Number.isInteger(Math.log2(sightings)))

/** The newest of each actor's commits. */
const newestOf = (commits: readonly OpenCommit[]): ReadonlyMap<string, OpenCommit> => {
  const newest = new Map<string, OpenCommit>()
  for (const commit of commits) {
    if ((newest.get(commit.actor)?.seq ?? 0) < commit.seq) newest.set(commit.actor, commit)
  }
  return newest
}
