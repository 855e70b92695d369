import { isIdOf, type MachineDefinition } from '#machines/definition.ts'
import { isGone } from '#machines/status.ts'
import type { Commit, JsonObject, LogEvent, StoredLogEvent } from '#storage/ports.ts'
import { covers, type Scope } from '#storage/scope.ts'
import { within } from './clock.ts'
import { CommitExecutor } from './commit/commit-executor.ts'
import { Settler } from './commit/settler.ts'
import { NotOwner, Superseded } from './commit/superseded.ts'
import { EffectQuestions } from './effects/effect-questions.ts'
import { EffectRunner } from './effects/effect-runner.ts'
import { checkedCatalog } from './effects/effects.ts'
import { isErased } from './erasure/erased-actors.ts'
import { deliveryMs, type HostOptions, usualBehind } from './host-options.ts'
import type { HostTelemetry } from './host-telemetry.ts'
import { type ActorLog, logPage, streamPage } from './log/log-page.ts'
import { Feed, type FeedState } from './messages/feed.ts'
import { openOutbox } from './messages/open-outbox.ts'
import type { Outbox } from './messages/outbox.ts'
import { PlacedWork } from './messages/placed-work.ts'
import type { Ownership } from './recovery/ownership.ts'
import { Reviver } from './recovery/reviver.ts'
import { ShardRecovery } from './recovery/shard-recovery.ts'
import { type Refuse, refused } from './refused.ts'
import type { Creation, Delivered, Delivery, Resident } from './resident.ts'
import { Residents } from './residents.ts'
import { RowWriter } from './rows/row-writer.ts'
import { Stepper } from './step/stepper.ts'
import { openShown, type ShownText } from './stream/shown-text.ts'
import { StuckWorkRegistry } from './stuck/stuck.ts'
import { release, stuckRowsOf } from './stuck/stuck-notes.ts'

export type { HostOptions } from './host-options.ts'

/**
 * Runs actors: loads them, delivers their events one at a time, makes each step durable by one commit, and only then
 * answers the caller, publishes events, sends messages and starts effects as that commit says (ARCHITECTURE.md).
 *
 * `LocalHost` runs all actors of its store. `ClusterHost` runs those of the shards that it holds, and routes every
 * other request to the process that runs the actor. A method whose name ends in `Here` does its work in this process,
 * or throws `NotOwner`.
 */
export abstract class Host {
  readonly feed: Feed
  readonly rows: RowWriter
  readonly settler: Settler
  readonly effects: EffectRunner
  readonly ownership: Ownership
  readonly telemetry: HostTelemetry | undefined
  /** Text of running effects that is not durable yet. */
  readonly shown: ShownText
  /** Completes the work that earlier processes left unfinished. */
  readonly recovery: ShardRecovery
  /** Work that is stuck until an operator decides. */
  readonly stuck: StuckWorkRegistry
  /** Answers questions to effects while they run in this process. */
  readonly atWork = new EffectQuestions()
  /** Work that any process can do, such as searches. */
  readonly placed: PlacedWork
  /** Creates the errors of refused requests. */
  readonly refuse: Refuse
  readonly #options: HostOptions
  readonly #outbox: Outbox
  readonly #residents: Residents
  readonly #stepper: Stepper
  readonly #reviver: Reviver
  readonly #executor: CommitExecutor
  /** Called when an operator has decided on a failing reminder: the actor's reminders are retried without delay. */
  onReminders: (actor: string) => void = () => {}

  constructor(options: HostOptions) {
    const { storage, clock, log, ownership } = options
    this.#options = options
    this.ownership = ownership
    this.telemetry = options.telemetry
    this.refuse = options.refuse ?? refused
    this.placed = new PlacedWork(clock)
    const elsewhere = () => this.recovery.rowsWith(this.rowsElsewhere())
    this.rows = new RowWriter({
      ...{ records: storage.records, clock, log, elsewhere },
      creations: () => this.#outbox.creations(),
    })
    this.settler = new Settler({ storage, clock, log })
    this.stuck = new StuckWorkRegistry(this.rows, clock)
    const catalog = checkedCatalog(options.definitions, options.effects(this))
    this.shown = openShown(options, {
      resident: (id) => this.#residents.get(id),
      deliver: (id, delivery) => this.deliverHere(id, delivery),
      publish: (resident, events) => {
        this.feed.publish(resident.id, events)
        this.showHere(resident, events)
      },
    })
    this.effects = new EffectRunner({ catalog, host: this, clock, log })
    const followed = (actor: string, isFresh: boolean) => this.followed(actor, isFresh)
    const standing = (actor: string) => this.#standing(actor)
    this.feed = new Feed({ read: (actor, after) => this.readLog(actor, after), standing, followed }, options)
    this.#outbox = openOutbox(this, options)
    const { rows: rowWriter, settler, effects, feed, stuck, shown } = this
    const live = { rowWriter, settler, effects, feed, stuck, shown, outbox: this.#outbox }
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
      ...{ ...options, foresee: (definition, commit) => this.effects.foresee(definition, commit) },
      came: (found) => this.#executor.takeUp(found),
      superseded: (id, error) => this.#giveUp(id, error),
    })
    this.#reviver = new Reviver({ load: (id) => this.#residents.load(id), holds: (id) => this.isHere(id), clock, log })
    this.#stepper = this.#openStepper()
    this.rows.listen(stuckRowsOf(this.stuck, (id) => this.#residents.get(id)))
    this.recovery = new ShardRecovery({ ...options, host: this })
  }

  #openStepper(): Stepper {
    const { maxBehind = usualBehind } = this.#options
    const landed = (id: string, written: Promise<unknown>) => written.catch(() => this.#reviver.underWay(id))
    return new Stepper({
      ...this.#options,
      sending: ({ id }, messages, written) => this.#outbox.announce(messages, landed(id, written)),
      settled: (resident, draft, commit) => this.#executor.carryOut(resident, draft, commit),
      overtaken: (resident) => this.#residents.evict(resident),
      doubtful: (resident, error) => this.#doubt(resident, error),
      isFull: () => this.rows.size + this.#outbox.size >= maxBehind,
      again: (id, delivery, reloads) => this.deliverHere(id, delivery, reloads),
      ...{ shown: this.shown, outbox: this.#outbox },
    })
  }

  /** Number of this process's start, counted over all processes of the store. */
  get epoch(): number {
    return this.ownership.epoch
  }

  /** Number of commits made durable since the start. */
  get committed(): number {
    return this.#executor.committed
  }

  /** Number of actors in memory. */
  get live(): number {
    return this.#residents.size
  }

  /** Actors in memory, for passivation and for listings. */
  residents(): IterableIterator<Resident> {
    return this.#residents.values()
  }

  /** Whether this process still holds the actor's shard under the epoch at which the actor was loaded or created. */
  runs(resident: Resident): boolean {
    return this.#residents.isCurrent(resident)
  }

  /** Returns the actor if it is in memory. */
  resident(id: string): Resident | undefined {
    return this.#residents.get(id)
  }

  /** Returns an id for a new actor, in a shard that this process holds if it holds any. */
  abstract readonly newActorId: (prefix: string) => string

  /**
   * Starts an actor with its first commit. A repeated call with the same id is answered from that commit.
   * @throws {StoreUnavailable}
   */
  abstract create(creation: Creation): Promise<Delivered>

  /**
   * Delivers one event to an actor and resolves when the resulting commit is durable.
   * @throws {RefusedError} what the machine refuses with; `not_found`; {StoreUnavailable}.
   */
  abstract deliver(id: string, delivery: Delivery): Promise<Delivered>

  /** `deliver` to an actor that is already loaded, and whose log the caller will follow. */
  abstract deliverTo(resident: Resident, delivery: Delivery): Promise<Delivered>

  /**
   * Returns the actor, or null when there is none. When this process runs it, it is loaded, and work that its newest
   * commit left unfinished is resumed.
   */
  abstract load(id: string): Promise<Resident | null>

  /** Puts a question to an actor's running effect, in any process; null: none answers. @throws {StoreUnavailable} */
  abstract question(id: string, question: JsonObject): Promise<JsonObject | null>

  /** Resolves when the messages of an actor are delivered. @throws {StoreUnavailable} when that takes too long. */
  abstract delivered(id: string): Promise<void>

  /** Resolves when other processes, if any, have written the rows of what they acknowledged, or after a timeout. */
  protected abstract rowsElsewhere(): Promise<void> | undefined

  /** Returns events of an actor that another process runs. */
  protected abstract readLogElsewhere(id: string, after: number): Promise<readonly LogEvent[]>

  /** State of the log of an actor that is not in memory here; undefined when such an actor is idle. */
  protected abstract standingElsewhere(id: string): FeedState | 'unknown' | undefined

  /** Called when a stream of an actor starts in this process, as `EventReader.followed`. */
  protected abstract followed(id: string, isFresh: boolean): void

  /** Called when an actor of this process has made a durable commit. */
  protected abstract committedHere(resident: Resident, events: readonly LogEvent[]): void

  /** Called when text of an effect of this process was shown that is not durable yet. */
  protected abstract showHere(resident: Resident, events: readonly LogEvent[]): void

  /** Called when an actor could not be loaded because this process may not be the one that runs it. */
  protected abstract gaveUp(id: string): void

  /**
   * Returns the actor if it exists, is of this kind, and belongs to the scope. An actor that another process runs is
   * read from the store: it can be inspected and passed to `deliverTo`. One that an effect has parked can be inspected.
   *
   * @throws {RefusedError} `not_found` otherwise; `actor_parked`; what `admits` refuses with for a scope of work.
   */
  async find(scope: Scope, kind: MachineDefinition, id: string): Promise<Resident> {
    const coming = this.#outbox.coming(id)
    if (coming !== undefined) await coming
    const resident = isIdOf(kind, id) ? await this.load(id) : null
    if (resident === null || !covers(scope, resident.owner)) throw this.refuse({ code: 'not_found', param: 'id' })
    const parked = scope.work === true ? resident.parked : resident.unrestorable
    if (parked !== undefined) throw this.refuse({ code: 'actor_parked' })
    if (isGone(kind, resident.state.snapshot)) throw this.refuse({ code: 'not_found', param: 'id' })
    const admitted = scope.work === true ? this.#options.admits?.(resident.owner) : undefined
    if (admitted !== undefined) await admitted
    return resident
  }

  /** `create` in this process. @throws {NotOwner} */
  async createHere(creation: Creation): Promise<Delivered> {
    if (this.#residents.get(creation.id) !== undefined) return { commit: null, duplicate: true }
    const { made, resident, draft, commit } = await this.#stepper.first(creation)
    if (!made) {
      const first = await this.#options.storage.commits.at(creation.id, 1)
      if (first?.open === true) await this.commitOf(first.actor, first.cause) // of an attempt that failed later
      return { commit: first, duplicate: true }
    }
    // the actor may have been erased before this late write: the mark of its erasure is set before its log is removed
    if (creation.again === true && (await isErased(this.#options.storage.records, creation.id))) {
      await this.#options.storage.commits.forget(creation.id)
      return { commit: null, duplicate: true }
    }
    // a request may have loaded the actor meanwhile, and loading carries out its commit
    if (this.#residents.add(resident)) this.#executor.carryOut(resident, draft, commit)
    return { commit, duplicate: false }
  }

  /** `deliver` in this process. @throws {NotOwner} */
  async deliverHere(id: string, delivery: Delivery, reloads = 0): Promise<Delivered> {
    const resident = this.#residents.get(id) ?? (await this.#residents.load(id))
    if (resident === null) throw this.refuse({ code: 'not_found' })
    return this.deliverToHere(resident, delivery, reloads)
  }

  /** `deliverHere` to an actor that is already loaded. */
  protected deliverToHere(resident: Resident, delivery: Delivery, reloads = 0): Promise<Delivered> {
    return this.#stepper.deliver(resident, delivery, reloads)
  }

  /** Returns the commit that a cause led to, and ensures that it is carried out; null for an unprocessed cause. */
  async commitOf(id: string, cause: string): Promise<Commit | null> {
    const commit = await this.#options.storage.commits.byCause(id, cause)
    if (commit === null || !this.isHere(id)) return commit
    await this.loadFrom(id, commit.seq).catch((error: unknown) => {
      // the actor's next owner carries the commit out
      if (!(error instanceof Superseded)) throw error
    })
    return commit
  }

  /** Returns events after a sequence number: from memory, or else one page from the store. */
  readLog(id: string, after: number): readonly LogEvent[] | Promise<readonly LogEvent[]> {
    const resident = this.#residents.get(id)
    const known = resident?.unsure === true ? undefined : resident?.eventsAfter(after)
    if (known === undefined) return this.#readStore(id, after)
    return this.shown.behind(id, known, after)
  }

  /** Evicts an actor whose log was removed, and ends its streams. */
  drop(id: string): void {
    this.#residents.evict(this.#residents.get(id))
    this.feed.end(id, 'deleted')
  }

  /** Evicts an actor of which another process has written the newest commit, as a read of the store has shown. */
  dropOutdated({ id, epoch }: Pick<Resident, 'id' | 'epoch'>): void {
    if ((this.#residents.get(id)?.epoch ?? epoch) < epoch) this.#residents.evict(this.#residents.get(id))
  }

  /** `load` in this process. @throws {NotOwner} */
  loadHere(id: string): Promise<Resident | null> {
    return this.#residents.load(id)
  }

  /** `loadHere`, but reloads an actor that is behind `seq`: a late write of an earlier process has been found. */
  loadFrom(id: string, seq: number): Promise<Resident | null> {
    const resident = this.#residents.get(id)
    if (resident !== undefined && !resident.working && resident.state.seq < seq) this.#residents.evict(resident)
    return this.#residents.load(id)
  }

  /**
   * Resolves when an actor that a commit of this process requested has been created; undefined when no such request is
   * pending for the id.
   * @throws {StoreUnavailable} when that takes longer than a request waits.
   */
  coming(id: string): Promise<void> | undefined {
    return this.#outbox.coming(id)
  }

  /** `delivered` in this process. @throws {NotOwner} */
  async deliveredHere(id: string): Promise<void> {
    const resident = await this.#residents.load(id)
    if (resident === null) return
    await within(this.#options.clock, deliveryMs, resident.outbox)
    if (!this.runs(resident)) throw new NotOwner('the actor was given away before all was taken')
  }

  /** Evicts an actor that has nothing to do; returns false when it has unfinished work. */
  passivate(resident: Resident): boolean {
    const occupied = resident.working || resident.undelivered > 0 || this.rows.waits(resident.id)
    if (occupied || Object.keys(resident.state.inFlight).length > 0) return false
    this.#residents.evict(resident)
    return true
  }

  /** Evicts the actors of shards that another process holds now, and ends their effects here. */
  loseShards(lost: ReadonlySet<number>): void {
    for (const resident of [...this.#residents.values()]) if (lost.has(resident.shard)) this.#residents.evict(resident)
    this.effects.abandonShards(lost)
  }

  /** Starts the effects that were held back for a handover of these shards which was given up. */
  resumeShards(kept: ReadonlySet<number>): void {
    for (const resident of this.#residents.values()) if (kept.has(resident.shard)) this.#executor.resume(resident)
  }

  /** Loads an actor as soon as the store answers, without waiting for a request (`Reviver.revive`). */
  revive(id: string, atOnce = false): void {
    this.#reviver.revive(id, atOnce)
  }

  /** Writes the actor's list row from its newest state. */
  projectRow(resident: Resident): void {
    this.#executor.projectRow(resident)
  }

  /** Returns at most `limit` events after a sequence number, with the times of their commits. */
  readPage(resident: Resident, after: number, limit: number): Promise<readonly StoredLogEvent[]> {
    return logPage(this.#logOf(resident), after, limit)
  }

  /** Whether this process holds the actor's shard; its lease may be too old to be certain. */
  protected isHere(id: string): boolean {
    return this.ownership.heldUnder(this.ownership.space.of(id)) !== undefined
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
      // a stream continues when its actor moves to another process
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
    if (!(error instanceof NotOwner)) this.#reviver.revive(resident.id)
  }

  /**
   * Another process runs the actor now: its effects are started there, and streams continue from there. If instead the
   * lease could not be renewed in time, the owner is unknown: running effects continue until another holder is seen.
   */
  #giveUp(id: string, error: Superseded): void {
    const isUncertain = error instanceof NotOwner && this.isHere(id)
    if (!isUncertain) this.effects.abandon(id)
    this.gaveUp(id)
  }
}
