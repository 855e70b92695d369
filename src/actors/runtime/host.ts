import type { Logger } from 'pino'
import { ServiceError } from '../../../specs/errors.ts'
import { covers, type Scope } from '../../../specs/scope.ts'
import type { MachineDefinition } from '../../machines/definition.ts'
import type { Commit, JsonObject, LogEvent, RecordKind, Storage, StoredLogEvent } from '../../storage/ports.ts'
import type { Activated } from './activation.ts'
import { rowRecord } from './actor-row.ts'
import { type Owner, stateAlone, storedState } from './actor-state.ts'
import { type Clock, within } from './clock.ts'
import { EffectRunner } from './effect-runner.ts'
import { checkedCatalog, type EffectCatalog } from './effects.ts'
import { isErased } from './erased-actors.ts'
import { Feed, type Standing } from './feed.ts'
import type { HostLink } from './host-link.ts'
import { newId, newIdIn } from './ids.ts'
import type { Ledger } from './ledger.ts'
import { type ActorLog, logPage, streamPage } from './log-page.ts'
import { Outbox } from './outbox.ts'
import type { Ownership } from './ownership.ts'
import type { Delivery, Resident, Told } from './resident.ts'
import { Residents } from './residents.ts'
import { Reviver } from './reviver.ts'
import { RowWriter } from './row-writer.ts'
import { Settler } from './settler.ts'
import { shardOf } from './shard.ts'
import type { Sinks } from './sinks.ts'
import type { Draft } from './step.ts'
import { Stepper } from './stepper.ts'
import { Elsewhere, Superseded } from './superseded.ts'

/** What a host is made of. */
export interface HostOptions {
  readonly storage: Storage
  readonly definitions: readonly MachineDefinition[]
  /** Makes the effects for the host that will run them. */
  readonly effects: (host: Host) => EffectCatalog
  /** Makes those who take messages that are for no actor; none when absent. */
  readonly sinks?: (host: Host) => Sinks
  /** The record kind of each machine's list rows, by machine name. */
  readonly rows: Readonly<Record<string, RecordKind>>
  /** Whether something may be begun for this owner now; throws or rejects when it may not. Everything may when absent. */
  readonly admits?: (owner: Owner) => void | Promise<void>
  /** Further rows that a commit leaves; none when absent. */
  readonly ledger?: Ledger
  readonly clock: Clock
  readonly log: Logger
  /** Which actors it runs. */
  readonly ownership: Ownership
  /** Joins it to the other processes of a cluster. */
  readonly link?: (host: Host) => HostLink
}

/** How long a request waits for messages of an actor to be taken. */
const deliveryMs = 2000

/**
 * Runs actors: loads them, gives them their messages one at a time, makes each step durable by one commit, and only
 * then answers, streams, sends and executes what the commit says (DESIGN "An actor").
 *
 * In a cluster it runs those of the shards that it holds; whatever concerns another actor goes over its link.
 */
export class Host {
  readonly feed: Feed
  readonly rows: RowWriter
  readonly settler: Settler
  readonly effects: EffectRunner
  readonly ownership: Ownership
  readonly #options: HostOptions
  readonly #link: HostLink | undefined
  readonly #outbox: Outbox
  readonly #residents: Residents
  readonly #stepper: Stepper
  readonly #reviver: Reviver
  #committed = 0

  constructor(options: HostOptions) {
    const { storage, clock, log, ownership } = options
    this.#options = options
    this.ownership = ownership
    this.rows = new RowWriter(storage.records, clock, log, () => this.#link?.rowsElsewhere())
    this.settler = new Settler(storage.commits, clock, log)
    this.effects = new EffectRunner(checkedCatalog(options.definitions, options.effects(this)), this, clock, log)
    this.#residents = new Residents({
      ...options,
      came: (found) => this.#takeUp(found),
      superseded: (id) => this.#giveUp(id),
    })
    const holds = (id: string): boolean => ownership.heldUnder(shardOf(id)) !== undefined
    this.#reviver = new Reviver((id) => this.#residents.load(id), holds, clock, log)
    const erased = (project: string, actor: string) => isErased(storage.records, project, actor)
    this.#outbox = new Outbox(this, { ...options, sinks: options.sinks?.(this) ?? {}, erased })
    const landed = (id: string, written: Promise<unknown>) => written.catch(() => this.#reviver.underWay(id))
    this.#stepper = new Stepper({
      ...options,
      sending: ({ id }, messages, written) => this.#outbox.announce(messages, landed(id, written)),
      settled: (resident, draft, commit) => this.#settled(resident, draft, commit),
      overtaken: (resident) => this.#residents.evict(resident),
      doubtful: (resident, error) => this.#doubt(resident, error),
      again: (id, delivery, reloads) => this.deliverHere(id, delivery, reloads),
      check: (resident) => this.#link?.check(resident),
      checkCertain: (resident) => this.#link?.checkCertain(resident),
    })
    const read = (actor: string, after: number) => this.readLog(actor, after)
    const followed = (actor: string) => this.#link?.followed(actor)
    const left = (actor: string) => this.#link?.unfollowed(actor)
    this.feed = new Feed({ read, standing: (actor) => this.#standing(actor), followed, left }, log, clock)
    this.#link = options.link?.(this)
  }

  /** Number of this process's start. */
  get epoch(): number {
    return this.ownership.epoch
  }

  /** Commits made durable since the start. */
  get committed(): number {
    return this.#committed
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
  readonly newActorId = (prefix: string): string => {
    const shard = this.#link?.localShard()
    return shard === undefined ? newId(prefix) : newIdIn(prefix, shard)
  }

  /**
   * The actor, when it exists, is of this kind and belongs to the scope. One that another process runs is read from the
   * store: it is good for looking at, and for `tell`.
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

  /**
   * Starts an actor with its first commit. The same id again is answered from that commit.
   * @throws {StoreUnavailable}
   */
  create(kind: MachineDefinition, id: string, owner: Owner, input: JsonObject, cause: string): Promise<Told> {
    if (this.#link !== undefined) return this.#link.create(kind, id, owner, input, cause)
    return this.createHere(kind, id, owner, input, cause)
  }

  /** `create` by this very process. @throws {Elsewhere} */
  async createHere(kind: MachineDefinition, id: string, owner: Owner, input: JsonObject, cause: string): Promise<Told> {
    if (this.#residents.get(id) !== undefined) return { commit: null, duplicate: true }
    const { made, resident, draft, commit } = await this.#stepper.first(kind, id, owner, input, cause)
    if (!made) return { commit: await this.#options.storage.commits.at(id, 1), duplicate: true }
    // somebody who asked for it meanwhile has loaded it, and taken up what its commit says
    if (this.#residents.add(resident)) this.#settled(resident, draft, commit)
    return { commit, duplicate: false }
  }

  /**
   * Gives an actor one event and resolves when what it does is durable.
   * @throws {ServiceError} what the machine refuses with; `not_found`; {StoreUnavailable}.
   */
  deliver(id: string, delivery: Delivery, reloads = 0): Promise<Told> {
    if (this.#link !== undefined) return this.#link.deliver(id, delivery, false)
    return this.deliverHere(id, delivery, reloads)
  }

  /** `deliver` to an actor that is at hand. */
  tell(resident: Resident, delivery: Delivery, reloads = 0): Promise<Told> {
    if (this.#link !== undefined) return this.#link.deliver(resident.id, delivery, true)
    if (resident.dead) return this.deliver(resident.id, delivery, reloads)
    return this.#stepper.tell(resident, delivery, reloads)
  }

  /** `deliver` by this very process. @throws {Elsewhere} */
  async deliverHere(id: string, delivery: Delivery, reloads = 0): Promise<Told> {
    const resident = this.#residents.get(id) ?? (await this.#residents.load(id))
    if (resident === null) throw new ServiceError('not_found')
    return this.#link === undefined
      ? this.tell(resident, delivery, reloads)
      : this.#stepper.tell(resident, delivery, reloads)
  }

  /** What a cause made of an actor; null when it was not processed. What it says is under way then. */
  async commitOf(id: string, cause: string): Promise<Commit | null> {
    const commit = await this.#options.storage.commits.byCause(id, cause)
    if (commit === null || !this.#isHere(id)) return commit
    await this.loadFrom(id, commit.seq).catch((error: unknown) => {
      // its next owner does what it says
      if (this.#link === undefined || !(error instanceof Superseded)) throw error
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

  /** The actor; when this process runs it, loaded, and what its newest commit left undone is taken up. Null when there is none. */
  load(id: string): Promise<Resident | null> {
    return this.#link === undefined ? this.#residents.load(id) : this.#link.read(id)
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

  /** Resolves when what an actor has sent is taken. @throws {StoreUnavailable} when a request cannot wait for that. */
  delivered(id: string): Promise<void> {
    return this.#link === undefined ? this.deliveredHere(id) : this.#link.delivered(id)
  }

  /**
   * Resolves when an actor is made that a commit of this process asked for; undefined when none of this id is under way.
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
    for (const resident of this.#residents.values()) if (kept.has(resident.shard)) this.#resume(resident)
  }

  /** Loads an actor as soon as the store answers, whether or not anybody asks for it. */
  revive(id: string): void {
    this.#reviver.revive(id)
  }

  /** Writes the actor's list row from its newest state. */
  projectRow(resident: Resident): void {
    const kind = this.#options.rows[resident.definition.name]
    if (kind === undefined) return
    this.rows.put({ id: resident.id, kind, record: () => rowRecord(resident) })
  }

  /** Events after a sequence number with the times of their commits, at most `limit`. */
  readPage(resident: Resident, after: number, limit: number): Promise<readonly StoredLogEvent[]> {
    return logPage(this.#logOf(resident), after, limit)
  }

  #logOf({ id, owner }: Resident): ActorLog {
    return { storage: this.#options.storage, actor: id, project: owner.project }
  }

  #isHere(id: string): boolean {
    return this.#link === undefined || this.ownership.heldUnder(shardOf(id)) !== undefined
  }

  async #readStore(id: string, after: number): Promise<readonly LogEvent[]> {
    if (this.#link !== undefined && !this.#isHere(id)) return this.#link.readLog(id, after)
    try {
      const resident = await this.#residents.load(id)
      return resident === null ? [] : await streamPage(this.#logOf(resident), after)
    } catch (error) {
      // a stream outlives that its actor moves
      if (this.#link === undefined || !(error instanceof Superseded)) throw error
      return this.#link.readLog(id, after)
    }
  }

  #standing(id: string): Standing | 'unknown' | undefined {
    const resident = this.#residents.get(id)
    if (resident !== undefined) return { busy: resident.busy, lastSequence: resident.state.lastSequence }
    return this.#link?.standing(id)
  }

  #doubt(resident: Resident, error: unknown): void {
    this.#residents.evict(resident)
    if (!(error instanceof Elsewhere)) this.#reviver.revive(resident.id)
  }

  /** The commit is durable: the state moves on, and what the commit says is done. */
  #settled(resident: Resident, draft: Draft, commit: Commit): void {
    this.#committed++
    resident.state = stateAlone(draft)
    resident.touchedAt = commit.at
    resident.usedAt = commit.at
    resident.remember(draft.events)
    if (draft.aborted.length > 0) this.effects.abort(draft.aborted)
    this.projectRow(resident)
    this.#record(resident, commit)
    void this.#outbox.post(resident, draft.messages)
    for (const effect of draft.effects) {
      const flight = draft.inFlight[effect.id]
      if (flight !== undefined) this.effects.start(resident, effect.id, flight, true)
    }
    if (draft.events.length > 0) {
      this.feed.publish(resident.id, draft.events)
      this.#link?.committed(resident, draft.events)
    }
    if (commit.seq > 2) resident.retiring.push(commit.seq - 2)
    this.settler.retire(resident)
  }

  /** Writes the rows that a commit leaves beside the actor's own; it is not closed before they are written. */
  #record(resident: Resident, commit: Commit): void {
    const rows = this.#options.ledger?.(commit, resident.owner) ?? []
    if (rows.length === 0) return
    resident.undelivered++
    const written = Promise.all(rows.map(({ kind, record }) => this.rows.write(kind, record)))
    resident.recorded = Promise.all([resident.recorded, written.then(() => resident.undelivered--)])
  }

  #takeUp({ resident, open, unsent, unclosed }: Activated): void {
    if (resident.parked !== undefined) return
    for (const commit of unclosed) this.#record(resident, commit)
    void this.#outbox.post(resident, unsent, true)
    if (open) this.projectRow(resident)
    this.#resume(resident)
    this.feed.refresh(resident.id)
  }

  #resume(resident: Resident): void {
    for (const [effectId, flight] of Object.entries(resident.state.inFlight)) {
      this.effects.start(resident, effectId, flight, false)
    }
  }

  /**
   * The actor is another process's now: its effects are started there, and its streams go on there. Or the lease could
   * not be renewed in time, and it is this one's again: nobody may ask for it, so it is loaded anyway.
   */
  #giveUp(id: string): void {
    this.effects.abandon(id)
    if (this.#link === undefined) {
      this.feed.end(id)
      return
    }
    this.#link.doubt()
    if (this.#isHere(id)) this.revive(id)
  }
}
