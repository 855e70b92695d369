import type { MachineDefinition } from '#machines/definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { covers, type Scope } from '#specs/scope.ts'
import type { Commit, JsonObject, LogEvent, StoredLogEvent } from '#storage/ports.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import { within } from './clock.ts'
import { CommitExecutor } from './commit/commit-executor.ts'
import { Settler } from './commit/settler.ts'
import { Elsewhere, Superseded } from './commit/superseded.ts'
import { AtWork } from './effects/at-work.ts'
import { EffectRunner } from './effects/effect-runner.ts'
import { checkedCatalog } from './effects/effects.ts'
import { isErased } from './erasure/erased-actors.ts'
import type { HostOptions } from './host-options.ts'
import { type ActorLog, logPage, streamPage } from './log/log-page.ts'
import { Feed, type FeedState } from './messages/feed.ts'
import { Outbox } from './messages/outbox.ts'
import type { Ownership } from './recovery/ownership.ts'
import { Reviver } from './recovery/reviver.ts'
import { shardOf } from './recovery/shard.ts'
import { ShardRecovery } from './recovery/shard-recovery.ts'
import type { Creation, Delivered, Delivery, Resident } from './resident.ts'
import { Residents } from './residents.ts'
import { RowWriter } from './rows/row-writer.ts'
import { storedState } from './step/actor-state.ts'
import { Stepper } from './step/stepper.ts'
import { discardCause } from './step/system-steps.ts'
import { StuckBook } from './stuck/stuck.ts'
import { release, stuckMessages, stuckRowsOf } from './stuck/stuck-notes.ts'

export type { HostOptions } from './host-options.ts'

/** So many rows and messages wait behind commits; a request that would add to them is refused for now. */
export const usualBehind = 50_000

/** How long a request waits for messages of an actor to be taken. */
const deliveryMs = 2000

/**
 * Runs actors: loads them, gives them their messages one at a time, makes each step durable by one commit, and only
 * then answers, streams, sends and executes what the commit says (ARCHITECTURE.md).
 *
 * `LocalHost` runs all actors of its store, `ClusterHost` those of the shards that it holds, and routes to the process
 * that runs an actor otherwise. What ends in `Here` is done by this very process, or fails with `Elsewhere`.
 */
export abstract class Host {
  readonly feed: Feed
  readonly rows: RowWriter
  readonly settler: Settler
  readonly effects: EffectRunner
  readonly ownership: Ownership
  readonly telemetry: Telemetry | undefined
  /** Takes up what earlier processes left undone. */
  readonly recovery: ShardRecovery
  /** What goes on no further by itself. */
  readonly stuck: StuckBook
  /** What effects answer while they run here. */
  readonly atWork = new AtWork()
  readonly #options: HostOptions
  readonly #outbox: Outbox
  readonly #residents: Residents
  readonly #stepper: Stepper
  readonly #reviver: Reviver
  readonly #executor: CommitExecutor
  /** Called when an actor may take its reminders at once. */
  onReminders: (actor: string) => void = () => {}

  constructor(options: HostOptions) {
    const { storage, clock, log, ownership } = options
    this.#options = options
    this.ownership = ownership
    this.telemetry = options.telemetry
    const elsewhere = () => this.recovery.rowsWith(this.rowsElsewhere())
    this.rows = new RowWriter({ records: storage.records, clock, log, elsewhere })
    this.settler = new Settler(storage.commits, clock, log)
    this.stuck = new StuckBook(this.rows, clock)
    const catalog = checkedCatalog(options.definitions, options.effects(this))
    this.effects = new EffectRunner({ catalog, host: this, clock, log })
    this.feed = this.#openFeed()
    this.#outbox = this.#openOutbox()
    const { rows: rowWriter, settler, effects, feed, stuck } = this
    const live = { rowWriter, settler, effects, feed, stuck, outbox: this.#outbox }
    this.#executor = new CommitExecutor({
      ...options,
      ...live,
      decided: (resident, decision) => {
        release(resident, decision, { ...live, reminders: this.onReminders })
        this.#executor.resume(resident)
      },
      committed: (resident, events) => this.committedHere(resident, events),
    })
    this.#residents = new Residents({
      ...options,
      came: (found) => this.#executor.takeUp(found),
      superseded: (id, error) => this.#giveUp(id, error),
    })
    const holds = (id: string): boolean => ownership.heldUnder(shardOf(id)) !== undefined
    this.#reviver = new Reviver({ load: (id) => this.#residents.load(id), holds, clock, log })
    this.#stepper = this.#openStepper()
    this.rows.listen(stuckRowsOf(this.stuck, (id) => this.#residents.get(id)))
    this.recovery = new ShardRecovery({ ...options, host: this })
  }

  #openFeed(): Feed {
    const reader = {
      read: (actor: string, after: number) => this.readLog(actor, after),
      standing: (actor: string) => this.#standing(actor),
      followed: (actor: string) => this.followed(actor),
    }
    return new Feed(reader, this.#options.log, this.#options.clock)
  }

  #openOutbox(): Outbox {
    const { sinks, storage } = this.#options
    const erased = (actor: string) => isErased(storage.records, actor)
    const discarded = async (sender: string, message: string): Promise<boolean> =>
      (await storage.commits.byCause(sender, discardCause('poison_message', message))) !== null
    const parts = { sinks: sinks?.(this) ?? {}, erased, discarded, ...stuckMessages(this.stuck) }
    return new Outbox(this, { ...this.#options, ...parts })
  }

  #openStepper(): Stepper {
    const { mostBehind = usualBehind } = this.#options
    const landed = (id: string, written: Promise<unknown>) => written.catch(() => this.#reviver.underWay(id))
    return new Stepper({
      ...this.#options,
      sending: ({ id }, messages, written) => this.#outbox.announce(messages, landed(id, written)),
      settled: (resident, draft, commit) => this.#executor.carryOut(resident, draft, commit),
      overtaken: (resident) => this.#residents.evict(resident),
      doubtful: (resident, error) => this.#doubt(resident, error),
      isFull: () => this.rows.size + this.#outbox.size >= mostBehind,
      again: (id, delivery, reloads) => this.deliverHere(id, delivery, reloads),
      check: (resident) => this.check(resident),
      checkCertain: (resident) => this.checkCertain(resident),
    })
  }

  /** Number of this process's start. */
  get epoch(): number {
    return this.ownership.epoch
  }

  /** Commits made durable since the start. */
  get committed(): number {
    return this.#executor.committed
  }

  /** Actors in memory. */
  get live(): number {
    return this.#residents.size
  }

  /** Live actors, for passivation and pages. */
  residents(): IterableIterator<Resident> {
    return this.#residents.values()
  }

  /** Whether an actor is still this process's, as it was when it was loaded or made. */
  runs(resident: Resident): boolean {
    return this.#residents.isCurrent(resident)
  }

  /** The actor, when it is in memory. */
  resident(id: string): Resident | undefined {
    return this.#residents.get(id)
  }

  /** A new actor's id, of a shard that this process holds if it holds any. */
  abstract readonly newActorId: (prefix: string) => string

  /**
   * Starts an actor with its first commit. The same id again is answered from that commit.
   * @throws {StoreUnavailable}
   */
  abstract create(creation: Creation): Promise<Delivered>

  /**
   * Gives an actor one event and resolves when what it does is durable.
   * @throws {ServiceError} what the machine refuses with; `not_found`; {StoreUnavailable}.
   */
  abstract deliver(id: string, delivery: Delivery): Promise<Delivered>

  /** `deliver` to an actor that is at hand, and whose log the caller will follow. */
  abstract deliverTo(resident: Resident, delivery: Delivery): Promise<Delivered>

  /** The actor; when this process runs it, loaded, and what its newest commit left undone is taken up. Null when there is none. */
  abstract load(id: string): Promise<Resident | null>

  /** What an effect of an actor answers now, wherever it runs; null when none does. @throws {StoreUnavailable} */
  abstract question(id: string, question: JsonObject): Promise<JsonObject | null>

  /** Resolves when what an actor has sent is taken. @throws {StoreUnavailable} when a request cannot wait for that. */
  abstract delivered(id: string): Promise<void>

  /** Resolves when the rows of everything that other processes acknowledged are written, or after a moment; undefined for none. */
  protected abstract rowsElsewhere(): Promise<void> | undefined

  /** Events of an actor that this process does not run. */
  protected abstract readLogElsewhere(id: string, after: number): Promise<readonly LogEvent[]>

  /** How far an actor is that is not in memory here; undefined when it does nothing by itself then. */
  protected abstract standingElsewhere(id: string): FeedState | 'unknown' | undefined

  /** The first stream of an actor began here. */
  protected abstract followed(id: string): void

  /** An actor here has made a durable commit. */
  protected abstract committedHere(resident: Resident, events: readonly LogEvent[]): void

  /** @throws {Elsewhere} when this process may not move the actor, or cannot be certain that it may. */
  protected abstract check(resident: Resident): void

  /** @throws {Elsewhere} when another process may have moved the actor on: a refusal by what is in memory may be wrong. */
  protected abstract checkCertain(resident: Resident): void

  /** An actor could not be loaded here, for this process does not run it, or cannot be certain that it does. */
  protected abstract gaveUp(id: string): void

  /**
   * The actor, when it exists, is of this kind and belongs to the scope. One that another process runs is read from the
   * store: it is good for looking at, and for `deliverTo`.
   *
   * @throws {ServiceError} `not_found` otherwise, foreign ids included; `actor_parked`; under a scope that begins something,
   * what `admits` refuses with.
   */
  async find(scope: Scope, kind: MachineDefinition, id: string): Promise<Resident> {
    const coming = this.#outbox.coming(id)
    if (coming !== undefined) await coming
    const resident = id.startsWith(`${kind.idPrefix}_`) ? await this.load(id) : null
    if (resident === null || !covers(scope, resident.owner)) throw new ServiceError('not_found', { param: 'id' })
    if (resident.parked !== undefined) throw new ServiceError('actor_parked')
    if (kind.gone?.(storedState(resident.state.snapshot))) throw new ServiceError('not_found', { param: 'id' })
    const admitted = scope.work === true ? this.#options.admits?.(resident.owner) : undefined
    if (admitted !== undefined) await admitted
    return resident
  }

  /** `create` by this very process. @throws {Elsewhere} */
  async createHere(creation: Creation): Promise<Delivered> {
    if (this.#residents.get(creation.id) !== undefined) return { commit: null, duplicate: true }
    const { made, resident, draft, commit } = await this.#stepper.first(creation)
    if (!made) return { commit: await this.#options.storage.commits.at(creation.id, 1), duplicate: true }
    // removed once it was there: the mark stands before the log goes, so it is seen after a write that came too late
    if (creation.again === true && (await isErased(this.#options.storage.records, creation.id))) {
      await this.#options.storage.commits.forget(creation.id)
      return { commit: null, duplicate: true }
    }
    // a request may have loaded it meanwhile, and so taken up what its commit says
    if (this.#residents.add(resident)) this.#executor.carryOut(resident, draft, commit)
    return { commit, duplicate: false }
  }

  /** `deliver` by this very process. @throws {Elsewhere} */
  async deliverHere(id: string, delivery: Delivery, reloads = 0): Promise<Delivered> {
    const resident = this.#residents.get(id) ?? (await this.#residents.load(id))
    if (resident === null) throw new ServiceError('not_found')
    return this.deliverToHere(resident, delivery, reloads)
  }

  /** `deliverHere` to an actor that is at hand. */
  protected deliverToHere(resident: Resident, delivery: Delivery, reloads = 0): Promise<Delivered> {
    return this.#stepper.deliver(resident, delivery, reloads)
  }

  /** What a cause made of an actor; null when it was not processed. What it says is under way then. */
  async commitOf(id: string, cause: string): Promise<Commit | null> {
    const commit = await this.#options.storage.commits.byCause(id, cause)
    if (commit === null || !this.isHere(id)) return commit
    await this.loadFrom(id, commit.seq).catch((error: unknown) => {
      // its next owner does what it says
      if (!(error instanceof Superseded)) throw error
    })
    return commit
  }

  /** Events after a sequence number: from memory, else one page from the store. */
  readLog(id: string, after: number): readonly LogEvent[] | Promise<readonly LogEvent[]> {
    const resident = this.#residents.get(id)
    return resident?.eventsAfter(after) ?? this.#readStore(id, after)
  }

  /** Forgets an actor whose log was removed, and ends its streams. */
  drop(id: string): void {
    this.#residents.evict(this.#residents.get(id))
    this.feed.end(id)
  }

  /** `load` by this very process. @throws {Elsewhere} */
  loadHere(id: string): Promise<Resident | null> {
    return this.#residents.load(id)
  }

  /** `loadHere`, anew when the store is further than memory: a write that an earlier process had sent came in late. */
  loadFrom(id: string, seq: number): Promise<Resident | null> {
    const resident = this.#residents.get(id)
    if (resident !== undefined && !resident.working && resident.state.seq < seq) this.#residents.evict(resident)
    return this.#residents.load(id)
  }

  /**
   * Resolves when an actor is made that a commit of this process requested; undefined when none of this id is under way.
   * @throws {StoreUnavailable} when that takes longer than a request waits.
   */
  coming(id: string): Promise<void> | undefined {
    return this.#outbox.coming(id)
  }

  /** `delivered` by this very process. @throws {Elsewhere} */
  async deliveredHere(id: string): Promise<void> {
    const resident = await this.#residents.load(id)
    if (resident === null) return
    await within(this.#options.clock, deliveryMs, resident.outbox)
    if (!this.runs(resident)) throw new Elsewhere('the actor was given away before all was taken')
  }

  /** Gives back the memory of an actor that has nothing to do. False when it has. */
  passivate(resident: Resident): boolean {
    const { state } = resident
    const occupied = resident.working || resident.undelivered > 0 || this.rows.waits(resident.id)
    if (occupied || Object.keys(state.inFlight).length > 0) return false
    this.#residents.evict(resident)
    return true
  }

  /** The actors of these shards are another process's now: nothing of them goes on here. */
  loseShards(lost: ReadonlySet<number>): void {
    for (const resident of [...this.#residents.values()]) if (lost.has(resident.shard)) this.#residents.evict(resident)
    this.effects.abandonShards(lost)
  }

  /** The actors of these shards stay: effects that were not begun while they were about to leave are begun. */
  resumeShards(kept: ReadonlySet<number>): void {
    for (const resident of this.#residents.values()) if (kept.has(resident.shard)) this.#executor.resume(resident)
  }

  /** Loads an actor as soon as the store answers, whether or not a request comes for it. */
  revive(id: string): void {
    this.#reviver.revive(id)
  }

  /** Writes the actor's list row from its newest state. */
  projectRow(resident: Resident): void {
    this.#executor.projectRow(resident)
  }

  /** Events after a sequence number with the times of their commits, at most `limit`. */
  readPage(resident: Resident, after: number, limit: number): Promise<readonly StoredLogEvent[]> {
    return logPage(this.#logOf(resident), after, limit)
  }

  /** Whether this process runs the actor, though it may not be certain of that now. */
  protected isHere(id: string): boolean {
    return this.ownership.heldUnder(shardOf(id)) !== undefined
  }

  #logOf({ id, owner }: Resident): ActorLog {
    return { storage: this.#options.storage, actor: id, project: owner.project }
  }

  async #readStore(id: string, after: number): Promise<readonly LogEvent[]> {
    if (!this.isHere(id)) return this.readLogElsewhere(id, after)
    try {
      const resident = await this.#residents.load(id)
      return resident === null ? [] : await streamPage(this.#logOf(resident), after)
    } catch (error) {
      // a stream outlives that its actor moves
      if (!(error instanceof Superseded)) throw error
      return this.readLogElsewhere(id, after)
    }
  }

  #standing(id: string): FeedState | 'unknown' | undefined {
    const resident = this.#residents.get(id)
    if (resident === undefined) return this.standingElsewhere(id)
    return { busy: resident.busy, lastSequence: resident.state.lastSequence }
  }

  #doubt(resident: Resident, error: unknown): void {
    this.#residents.evict(resident)
    if (!(error instanceof Elsewhere)) this.#reviver.revive(resident.id)
  }

  /**
   * The actor is another process's now: its effects are started there, and its streams go on there. Or the lease could
   * not be renewed in time, and it is not known whose it is: what runs goes on until another holder shows.
   */
  #giveUp(id: string, error: Superseded): void {
    const isUncertain = error instanceof Elsewhere && this.isHere(id)
    if (!isUncertain) this.effects.abandon(id)
    this.gaveUp(id)
  }
}
