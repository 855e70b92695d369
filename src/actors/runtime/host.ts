import type { Logger } from 'pino'
import { ServiceError } from '../../../specs/errors.ts'
import { covers, type Scope } from '../../../specs/scope.ts'
import type { MachineDefinition } from '../../machines/definition.ts'
import {
  type Commit,
  type JsonObject,
  type LogEvent,
  type RecordKind,
  type Storage,
  type StoredLogEvent,
  StoreUnavailable,
} from '../../storage/ports.ts'
import { activate } from './activation.ts'
import { rowRecord } from './actor-row.ts'
import { type Owner, stateAlone, storedState } from './actor-state.ts'
import { type Clock, within } from './clock.ts'
import { type CommitFacts, commitOf, compacted } from './commit-document.ts'
import { writeCommit } from './commit-writer.ts'
import { EffectRunner } from './effect-runner.ts'
import type { EffectCatalog } from './effects.ts'
import { Feed } from './feed.ts'
import { Superseded } from './fence.ts'
import { type ActorLog, logPage, streamPage } from './log-page.ts'
import { Outbox } from './outbox.ts'
import { type Delivery, Resident, type Told } from './resident.ts'
import { Reviver } from './reviver.ts'
import { RowWriter } from './row-writer.ts'
import { Settler } from './settler.ts'
import { shardOf } from './shard.ts'
import type { Sinks } from './sinks.ts'
import { type Draft, firstStep, nextStep, type Step, startedStep } from './step.ts'

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
  readonly clock: Clock
  readonly log: Logger
  /** Number of this process's turn at owning the actors; higher than any before it. */
  readonly epoch: number
}

/** An actor that somebody else moved on is loaded and tried again this often. */
const maxReloads = 5
/** How long a request waits for messages of an actor to be taken. */
const deliveryMs = 2000

/**
 * Runs actors: loads them, gives them their messages one at a time, makes each step durable by one commit, and only
 * then answers, streams, sends and executes what the commit says (DESIGN "An actor").
 */
export class Host {
  readonly feed: Feed
  readonly rows: RowWriter
  readonly settler: Settler
  readonly effects: EffectRunner
  readonly #options: HostOptions
  readonly #outbox: Outbox
  readonly #residents = new Map<string, Resident>()
  readonly #loading = new Map<string, Promise<Resident | null>>()
  readonly #reviver: Reviver
  #committed = 0

  constructor(options: HostOptions) {
    this.#options = options
    const { storage, clock, log } = options
    this.rows = new RowWriter(storage.records, clock, log)
    this.settler = new Settler(storage.commits, clock, log)
    this.effects = new EffectRunner(options.effects(this), this, clock, log)
    this.#reviver = new Reviver((id) => this.#load(id), clock, log)
    this.#outbox = new Outbox(this, { ...options, sinks: options.sinks?.(this) ?? {} })
    this.feed = new Feed(
      {
        read: (actor, after) => this.readLog(actor, after),
        standing: (actor) => {
          const resident = this.#residents.get(actor)
          return resident && { busy: resident.busy, lastSequence: resident.state.lastSequence }
        },
      },
      log,
    )
  }

  /** This process's turn at owning the actors. */
  get epoch(): number {
    return this.#options.epoch
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

  /**
   * The actor, when it exists, is of this kind and belongs to the scope.
   * @throws {ServiceError} `not_found` otherwise, foreign ids included; `actor_parked`.
   */
  async find(scope: Scope, kind: MachineDefinition, id: string): Promise<Resident> {
    const coming = this.#outbox.coming(id)
    if (coming !== undefined) await coming
    const resident = id.startsWith(`${kind.idPrefix}_`) ? await this.#load(id) : null
    if (resident === null || !covers(scope, resident.owner)) throw new ServiceError('not_found', { param: 'id' })
    if (resident.parked !== undefined) throw new ServiceError('actor_parked')
    if (kind.gone?.(storedState(resident.state.snapshot))) throw new ServiceError('not_found', { param: 'id' })
    return resident
  }

  /**
   * Starts an actor with its first commit. The same id again is answered from that commit.
   * @throws {StoreUnavailable}
   */
  async create(kind: MachineDefinition, id: string, owner: Owner, input: JsonObject, cause: string): Promise<Told> {
    const existing = this.#residents.get(id)
    if (existing !== undefined) return { commit: null, duplicate: true }
    const { clock } = this.#options
    const event = { type: 'create', input }
    const step = firstStep(kind, input, { actor: id, event, at: clock.now() })
    if (step.kind !== 'next') throw new Error(`${kind.name} refuses to start`)
    const resident = new Resident(id, kind, owner, shardOf(id), step.draft, clock.now())
    const facts = this.#factsFor(resident, cause, { type: 'create' })
    const commit = await compacted(commitOf(kind, step.draft, facts), this.#options.storage.blobs)
    const written = await this.#write(resident, commit)
    if (written !== 'done') return { commit: await this.#options.storage.commits.at(id, 1), duplicate: true }
    // somebody who asked for it meanwhile has loaded it, and taken up what its commit says
    if (this.#residents.has(id)) return { commit, duplicate: false }
    this.#residents.set(id, resident)
    this.#settled(resident, step.draft, commit)
    return { commit, duplicate: false }
  }

  /**
   * Gives an actor one event and resolves when what it does is durable.
   * @throws {ServiceError} what the machine refuses with; `not_found`; {StoreUnavailable}.
   */
  async deliver(id: string, delivery: Delivery, reloads = 0): Promise<Told> {
    const resident = this.#residents.get(id) ?? (await this.#load(id))
    if (resident === null) throw new ServiceError('not_found')
    return this.tell(resident, delivery, reloads)
  }

  /** `deliver` to an actor that is at hand. */
  tell(resident: Resident, delivery: Delivery, reloads = 0): Promise<Told> {
    if (resident.dead) return this.deliver(resident.id, delivery, reloads)
    return new Promise((resolve, reject) => {
      resident.mailbox.push({ delivery, reloads, resolve, reject })
      if (!resident.working) void this.#work(resident)
    })
  }

  /** What a cause made of an actor; null when it was not processed. What it says is under way then. */
  async commitOf(id: string, cause: string): Promise<Commit | null> {
    const commit = await this.#options.storage.commits.byCause(id, cause)
    if (commit !== null) await this.loadFrom(id, commit.seq)
    return commit
  }

  /** Events after a sequence number: from memory, else one page from the store. */
  readLog(id: string, after: number): readonly LogEvent[] | Promise<readonly LogEvent[]> {
    const resident = this.#residents.get(id)
    return resident?.eventsAfter(after) ?? this.#readStore(id, after)
  }

  /** Forgets an actor whose log was removed, and ends its streams. */
  drop(id: string): void {
    this.#evict(this.#residents.get(id))
    this.feed.end(id)
  }

  /** Loads an actor and takes up what its newest commit left undone. Null when there is none. */
  load(id: string): Promise<Resident | null> {
    return this.#load(id)
  }

  /** `load`, anew when the store is further than memory: a write that an earlier process had sent came in late. */
  loadFrom(id: string, seq: number): Promise<Resident | null> {
    const resident = this.#residents.get(id)
    if (resident !== undefined && !resident.working && resident.state.seq < seq) this.#evict(resident)
    return this.#load(id)
  }

  /** Resolves when what an actor has sent is taken. @throws {StoreUnavailable} when a request cannot wait for that. */
  async delivered(id: string): Promise<void> {
    const resident = await this.#load(id)
    if (resident !== null) await within(this.#options.clock, deliveryMs, resident.outbox)
  }

  /** Gives back the memory of an actor that has nothing to do. False when it has. */
  passivate(resident: Resident): boolean {
    const { state } = resident
    const occupied = resident.working || resident.undelivered > 0 || this.rows.waits(resident.id)
    if (occupied || Object.keys(state.inFlight).length > 0) return false
    this.#evict(resident)
    return true
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

  async #readStore(id: string, after: number): Promise<readonly LogEvent[]> {
    const resident = await this.#load(id)
    return resident === null ? [] : streamPage(this.#logOf(resident), after)
  }

  async #work(resident: Resident): Promise<void> {
    resident.working = true
    for (let next = resident.mailbox.shift(); next !== undefined; next = resident.mailbox.shift()) {
      try {
        next.resolve(await this.#handle(resident, next.delivery, next.reloads))
      } catch (error) {
        next.reject(error)
      }
    }
    resident.working = false
  }

  async #handle(resident: Resident, delivery: Delivery, reloads: number): Promise<Told> {
    if (resident.dead) return this.deliver(resident.id, delivery, reloads)
    if (resident.parked !== undefined) throw new ServiceError('actor_parked')
    const late = delivery.done ?? delivery.part ?? delivery.starts
    if (late !== undefined && resident.state.inFlight[late] === undefined) return { commit: null, duplicate: false }
    const step = this.#step(resident, delivery)
    if (step.kind === 'ignored') return this.#replay(resident, delivery)
    if (step.kind === 'refused') return this.#refuse(resident, delivery, step)
    const facts = this.#factsFor(resident, delivery.cause, delivery.stored ?? delivery.event)
    const draft = commitOf(resident.definition, step.draft, facts)
    const small = compacted(draft, this.#options.storage.blobs)
    const commit = small instanceof Promise ? await small : small
    const written = await this.#write(resident, commit)
    if (written === 'done') {
      this.#settled(resident, step.draft, commit)
      return { commit, duplicate: false }
    }
    if (written === 'duplicate') return this.#replay(resident, delivery)
    this.#evict(resident)
    if (reloads >= maxReloads) throw new StoreUnavailable('the actor moves elsewhere')
    return this.deliver(resident.id, delivery, reloads + 1)
  }

  #step(resident: Resident, delivery: Delivery): Step {
    if (delivery.starts !== undefined) return { kind: 'next', draft: startedStep(resident.state, delivery.starts) }
    try {
      return nextStep(resident.definition, resident.state, {
        actor: resident.id,
        event: delivery.event,
        at: this.#options.clock.now(),
        ...(delivery.done !== undefined && { done: delivery.done }),
        ...(delivery.part !== undefined && { part: delivery.part }),
      })
    } catch (error) {
      this.#options.log.error(
        { actorId: resident.id, event: delivery.event.type, err: error },
        'event refused as poison',
      )
      throw new ServiceError('internal_error')
    }
  }

  async #write(resident: Resident, commit: Commit) {
    try {
      return await writeCommit(this.#options.storage.commits, commit, this.#options.clock)
    } catch (error) {
      // whether it landed is unknown: nothing may be built on what is in memory
      this.#evict(resident)
      void this.#reviver.revive(resident.id)
      throw error
    }
  }

  /** A cause that was processed before is answered by what it did then, even where the machine would refuse it now. */
  async #replay(resident: Resident, delivery: Delivery): Promise<Told> {
    const prior = await this.#options.storage.commits.byCause(resident.id, delivery.cause)
    return { commit: prior, duplicate: prior !== null }
  }

  async #refuse(resident: Resident, delivery: Delivery, step: Step & { kind: 'refused' }): Promise<Told> {
    const told = await this.#replay(resident, delivery)
    if (told.duplicate) return told
    const { code, param, message } = step.refusal
    throw new ServiceError(code, { ...(param !== undefined && { param }), ...(message !== undefined && { message }) })
  }

  #factsFor(resident: Resident, cause: string, event: CommitFacts['event']): CommitFacts {
    const { epoch, clock } = this.#options
    return { actor: resident.id, shard: resident.shard, epoch, at: clock.now(), owner: resident.owner, cause, event }
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
    void this.#outbox.post(resident, draft.messages)
    for (const effect of draft.effects) {
      const flight = draft.inFlight[effect.id]
      if (flight !== undefined) this.effects.start(resident, effect.id, flight, true)
    }
    if (draft.events.length > 0) this.feed.publish(resident.id, draft.events)
    this.#retire(resident, commit.seq - 2)
  }

  #retire(resident: Resident, seq: number): void {
    if (seq > 0) resident.retiring.push(seq)
    if (resident.undelivered > 0) return
    for (const each of resident.retiring) this.settler.retire({ actor: resident.id, seq: each })
    resident.retiring.length = 0
  }

  #load(id: string): Promise<Resident | null> {
    const resident = this.#residents.get(id)
    if (resident !== undefined) {
      resident.usedAt = this.#options.clock.now()
      return Promise.resolve(resident)
    }
    const loading = this.#loading.get(id) ?? this.#activate(id).finally(() => this.#loading.delete(id))
    this.#loading.set(id, loading)
    return loading
  }

  async #activate(id: string): Promise<Resident | null> {
    const found = await activate(this.#options, id).catch((error: unknown) => {
      if (error instanceof Superseded) this.#giveUp(id)
      throw error
    })
    if (found === null) return null
    const present = this.#residents.get(id)
    if (present !== undefined) return present
    const { resident, open, unsent } = found
    this.#residents.set(id, resident)
    if (resident.parked !== undefined) return resident
    void this.#outbox.post(resident, unsent)
    if (open) this.projectRow(resident)
    for (const [effectId, flight] of Object.entries(resident.state.inFlight)) {
      this.effects.start(resident, effectId, flight, false)
    }
    this.feed.refresh(id)
    return resident
  }

  /** The actor is another process's now: its effects are started there, and its streams go on there. */
  #giveUp(id: string): void {
    this.effects.abandon(id)
    this.feed.end(id)
  }

  #evict(resident: Resident | undefined): void {
    if (resident === undefined) return
    resident.dead = true
    if (this.#residents.get(resident.id) === resident) this.#residents.delete(resident.id)
  }
}
