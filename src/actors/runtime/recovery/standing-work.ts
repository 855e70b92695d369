import type { Logger } from 'pino'
import { type CommitStore, type OpenCommit, StoreUnavailable } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { Elsewhere, Superseded } from '../commit/superseded.ts'
import type { Host } from '../host.ts'
import type { Resident } from '../resident.ts'

/** So often is looked. What follows from a commit is done within seconds, or something shows why it waits, in ms. */
const everyMs = 15_000
const oldMs = 20_000
const pageSize = 250
/** So many pages are read in one look; the next look goes on from there. */
const pagesAtOnce = 4
/** So many actors are loaded side by side. */
const atOnce = 32
/** Work that was taken up so often, and stands still, is shown to operators. */
const shownAfter = 3

/** What looking needs. */
export interface StandingWorkParts {
  readonly host: Host
  readonly store: Pick<CommitStore, 'open'>
  readonly clock: Clock
  readonly log: Logger
}

/** An actor with open work that nothing goes on with, as of the last looks. */
interface Sighting {
  readonly seq: number
  /** How often it was seen. */
  readonly looks: number
}

/**
 * Finds work that a commit implies and that is not done: a write that was given up and came in later, a part of a commit that
 * threw, an effect that nothing runs, a row that was not written. Its commit is open, and old. What is seen in two looks is
 * loaded again, which takes it up; what then still stands is shown as stuck (specs/decisions/0159-killed-again-and-again.md).
 */
export class StandingWork {
  readonly #parts: StandingWorkParts
  #seen = new Map<string, Sighting>()
  #from: OpenCommit | undefined
  #cancel: (() => void) | undefined
  #stopped = false

  constructor(parts: StandingWorkParts) {
    this.#parts = parts
  }

  start(): void {
    if (this.#stopped) return
    this.#cancel = this.#parts.clock.after(everyMs, () => void this.round().finally(() => this.start()))
  }

  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  /** One look at what is open for long. */
  async round(): Promise<void> {
    try {
      const { commits, isWhole } = await this.#open()
      await this.#lookAt(newestOf(commits), isWhole)
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'standing work not looked for, trying again')
    }
  }

  /** Some pages of what is open for long. `isWhole`: that is all there is. */
  async #open(): Promise<{ readonly commits: readonly OpenCommit[]; readonly isWhole: boolean }> {
    const { host, store, clock } = this.#parts
    const { shards } = host.ownership
    const commits: OpenCommit[] = []
    const isFirst = this.#from === undefined
    if (shards?.length === 0) return { commits, isWhole: true }
    for (let page = 0, limit = pageSize; page < pagesAtOnce; page++) {
      const look = {
        limit,
        until: clock.now() - oldMs,
        ...(shards && { shards }),
        ...(this.#from && { from: this.#from }),
      }
      const found = await store.open(look)
      commits.push(...found)
      const last = found.at(-1)
      if (last === undefined || found.length < limit) {
        this.#from = undefined
        return { commits, isWhole: isFirst }
      }
      // more than a whole page of one place
      limit = last.shard === this.#from?.shard && last.at === this.#from.at ? limit * 2 : pageSize
      this.#from = last
    }
    return { commits, isWhole: false }
  }

  async #lookAt(newest: ReadonlyMap<string, OpenCommit>, isWhole: boolean): Promise<void> {
    const standing = [...newest.values()].filter((commit) => this.#stands(commit))
    const before = this.#seen
    this.#seen = isWhole ? new Map() : new Map(before)
    for (const [actor, { looks }] of before) {
      if (isWhole && looks > shownAfter && !standing.some((commit) => commit.actor === actor)) this.#clear(actor)
    }
    for (let first = 0; first < standing.length; first += atOnce) {
      await Promise.all(standing.slice(first, first + atOnce).map((commit) => this.#seenAgain(commit, before)))
    }
  }

  /** Nothing goes on with it, as far as this process sees. */
  #stands({ actor, shard }: OpenCommit): boolean {
    const { host } = this.#parts
    if (host.ownership.heldUnder(shard) === undefined || host.recovery.underWay(shard) !== undefined) return false
    const resident = host.resident(actor)
    return resident === undefined || !this.#goesOn(resident)
  }

  /** What is parked is shown as that. */
  #goesOn(resident: Resident): boolean {
    const { host } = this.#parts
    if (resident.parked !== undefined || resident.working) return true
    if (resident.undelivered > 0 || host.rows.waits(resident.id)) return resident.unfinished === undefined
    const flights = Object.keys(resident.state.inFlight)
    return flights.length > 0 && resident.unfinished === undefined && flights.every((id) => host.effects.runs(id))
  }

  async #seenAgain(commit: OpenCommit, before: ReadonlyMap<string, Sighting>): Promise<void> {
    const { actor, seq } = commit
    const earlier = before.get(actor)
    // an actor that has got on since is seen for the first time
    const looks = earlier === undefined || earlier.seq < seq ? 1 : earlier.looks + 1
    this.#seen.set(actor, { seq: Math.max(seq, earlier?.seq ?? 0), looks })
    if (looks === 1) return
    await this.#takeUp(commit, looks)
  }

  async #takeUp({ actor, seq }: OpenCommit, looks: number): Promise<void> {
    const { host, log } = this.#parts
    const there = host.resident(actor)
    log.warn({ actorId: actor, seq, looks }, 'work stands still, taken up again')
    try {
      const resident = await host.loadFrom(actor, Math.max(seq, (there?.state.seq ?? 0) + 1))
      if (resident !== null && looks > shownAfter) this.#show(resident, looks, there?.unfinished)
    } catch (error) {
      if (error instanceof Elsewhere || error instanceof Superseded || error instanceof StoreUnavailable) return
      log.error({ actorId: actor, err: error }, 'standing work not taken up')
    }
  }

  #show(
    { id, definition, owner }: Resident,
    looks: number,
    why = 'What its commits say was taken up, and not done.',
  ): void {
    const attempts = looks - 1
    const stuck = { kind: 'unfinished_commit', actor: id, subject: id, reason: why, attempts } as const
    this.#parts.host.stuck.note({ ...stuck, machine: definition.name, owner })
  }

  #clear(actor: string): void {
    this.#parts.host.stuck.clear({ kind: 'unfinished_commit', actor })
  }
}

/** The newest of each actor's commits. */
const newestOf = (commits: readonly OpenCommit[]): ReadonlyMap<string, OpenCommit> => {
  const newest = new Map<string, OpenCommit>()
  for (const commit of commits) {
    if ((newest.get(commit.actor)?.seq ?? 0) < commit.seq) newest.set(commit.actor, commit)
  }
  return newest
}
