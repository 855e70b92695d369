import type { MachineDefinition } from '#machines/definition.ts'
import { definitionOf } from '#machines/definition-of.ts'
import { type MessageRecord, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause, within } from '../clock.ts'
import { usualBehind } from '../host-options.ts'
import type { Logger } from '../logger.ts'
import { type Refuse, refusalIn, refused } from '../refused.ts'
import type { Creation, Delivered, Delivery, Resident } from '../resident.ts'
import { isObject } from '../schema.ts'
import type { Sinks } from '../sinks.ts'
import type { Owner } from '../step/actor-state.ts'
import { Backlogs } from './backlogs.ts'

/** How long a request waits for an actor that is being created, in ms. */
const patienceMs = 3000

/** How long lists wait for actors that are being created, in ms: an unreachable node delays them no longer. */
const listPatienceMs = 1000

/** Failed deliveries, other than by the receiver's machine, after which a message is kept for an operator. */
const poisonAfter = 5

/**
 * Fraction of `maxBehind` up to which messages may wait for one actor, such as a parked one. Beyond it, steps of requests
 * that send to that actor are refused, and no others.
 */
const maxShareOfActor = 0.1

/** Dependencies of an `Outbox` on its host. */
export interface MessageHost {
  /** False when another process has taken the actor over; that one delivers the undelivered messages. */
  runs(sender: Resident): boolean
  deliver(actor: string, delivery: Delivery): Promise<Delivered>
  create(creation: Creation): Promise<Delivered>
}

/** Options of an `Outbox`. */
export interface OutboxOptions {
  readonly definitions: readonly MachineDefinition[]
  /** Receivers of messages that are not addressed to an actor. */
  readonly sinks?: Sinks
  /** Whether an actor's log was removed recently. @throws {StoreUnavailable} */
  readonly erased: (actor: string) => Promise<boolean>
  /** Whether an operator has discarded the message. @throws {StoreUnavailable} */
  readonly discarded?: (sender: string, message: string) => Promise<boolean>
  /** Called when a message is found to be poison: its receiver throws at it. */
  readonly poison?: (sender: Resident, message: MessageRecord, failure: PoisonFailure) => void
  /** Called when an operator has decided to retry or discard a poison message. */
  readonly passed?: (sender: Resident, message: MessageRecord) => void
  readonly refuse?: Refuse
  /** `HostOptions.maxBehind`. */
  readonly maxBehind?: number
  readonly clock: Clock
  readonly log: Logger
}

/** Why a message is poison, and the number of attempts. */
export interface PoisonFailure {
  readonly error: unknown
  readonly attempts: number
}

/** A receiver for which too many messages wait. */
export interface FullReceiver {
  /** Name of its machine. */
  readonly machine: string
  readonly isParked: boolean
}

/**
 * Delivers the messages of durable commits, in order per sender and receiver, retrying until the receiver accepts them.
 * The id of a message is its cause at the receiver, so a message that arrives twice is processed once. A message at
 * which its receiver throws is kept for an operator, and holds up no others.
 */
export class Outbox {
  readonly #host: MessageHost
  readonly #options: OutboxOptions
  readonly #coming = new Map<string, Promise<void>>()
  /** Newest delivery per sender and receiver. */
  readonly #chains = new WeakMap<Resident, Map<string, Promise<void>>>()
  /** Functions that end the wait of a poison message, by message id; their argument is true when it is discarded. */
  readonly #poison = new Map<string, (givenUp: boolean) => void>()
  readonly #backlogs = new Backlogs()

  constructor(host: MessageHost, options: OutboxOptions) {
    this.#host = host
    this.#options = options
  }

  /** Number of undelivered messages, without those that wait for an operator. */
  get size(): number {
    return this.#backlogs.size
  }

  /** Returns the first actor among the receivers of these messages for which too many already wait. */
  fullAmong(messages: readonly MessageRecord[]): FullReceiver | undefined {
    const { definitions, maxBehind = usualBehind } = this.#options
    for (const { to } of messages) {
      if (this.#backlogs.of(to) < maxBehind * maxShareOfActor) continue
      const kind = definitionOf(definitions, to)
      if (kind !== undefined) return { machine: kind.name, isParked: this.#backlogs.isParked(to) }
    }
    return undefined
  }

  /**
   * Queues messages after those that the actor has sent to the same receivers; `resident.outbox` resolves when all its
   * messages are delivered.
   *
   * @param again the messages may have been delivered before, and what they created may have been removed since.
   */
  post(resident: Resident, messages: readonly MessageRecord[], again = false): Promise<void> {
    if (messages.length === 0) return resident.outbox
    resident.undelivered++
    const sent = messages.map((message) => this.#queue(resident, message, again))
    const before = resident.outbox
    resident.outbox = Promise.all(sent).then(() => {
      resident.undelivered--
      return before
    })
    return resident.outbox
  }

  #queue(resident: Resident, message: MessageRecord, again: boolean): Promise<void> {
    const { to, event } = message
    const chains = this.#chains.get(resident) ?? new Map<string, Promise<void>>()
    this.#chains.set(resident, chains)
    const before = chains.get(to) ?? Promise.resolve()
    this.#backlogs.add(to)
    const sent: Promise<void> = before.then(async () => {
      await this.#send(resident, message, again).finally(() => this.#backlogs.remove(to))
      if (this.#coming.get(to) === sent) this.#coming.delete(to)
      if (chains.get(to) === sent) chains.delete(to)
    })
    chains.set(to, sent)
    if (event.type === 'create') this.#coming.set(to, sent)
    return sent
  }

  /**
   * Announces a commit that is being written and requests new actors. As soon as it is stored, readers may learn of
   * those actors, even before its writer gets the acknowledgement.
   *
   * @param written settles when the write has ended; messages of the commit are posted then.
   */
  announce(messages: readonly MessageRecord[], written: Promise<unknown>): void {
    for (const { event, to } of messages) {
      if (event.type !== 'create') continue
      const made: Promise<void> = written.then(nothing, nothing).then(() => {
        const posted = this.#coming.get(to)
        if (posted !== made) return posted
        this.#coming.delete(to)
      })
      this.#coming.set(to, made)
    }
  }

  /**
   * Resolves when an actor that a durable commit requested has been created; its id may already be in a stream.
   * Undefined when no creation is pending for this id.
   *
   * @throws {StoreUnavailable} when that takes longer than a request waits; it does not mean that the actor does not
   *   exist.
   */
  coming(id: string): Promise<void> | undefined {
    const made = this.#coming.get(id)
    return made && within(this.#options.clock, patienceMs, made)
  }

  /**
   * Resolves when the actors whose creation is in progress have been created, or after a second; undefined when there
   * are none. Their ids may already be in a stream, so a list has to include them.
   */
  creations(): Promise<void> | undefined {
    if (this.#coming.size === 0) return undefined
    const made = Promise.all(this.#coming.values()).then(nothing)
    return within(this.#options.clock, listPatienceMs, made).catch(nothing)
  }

  /** Retries or discards a poison message; does nothing when there is none of this id. */
  release(message: string, givenUp: boolean): void {
    this.#poison.get(message)?.(givenUp)
  }

  async #send(sender: Resident, message: MessageRecord, again: boolean): Promise<void> {
    let thrown = 0
    for (let attempt = 0; this.#host.runs(sender); attempt++) {
      try {
        const repeated = again || attempt > 0
        if (!(again && (await this.#isOver(sender, message)))) await this.#hand(sender.owner, message, repeated)
        this.#backlogs.note(message.to, false)
        return
      } catch (error) {
        const trouble = troubleOf(error)
        // what did not reach the receiver says nothing of it
        if (!(error instanceof StoreUnavailable))
          this.#backlogs.note(message.to, refusalIn(error)?.code === 'actor_parked')
        if (trouble === 'unwanted') return this.#leave(message, error)
        this.#options.log.warn({ to: message.to, attempt, err: error }, 'message not delivered, trying again')
        if (trouble === 'poison' || (trouble === 'thrown' && ++thrown >= poisonAfter)) {
          return this.#hold(sender, message, { error, attempts: attempt + 1 })
        }
        await pause(this.#options.clock, backoffMs(attempt, 50, 5000))
      }
    }
  }

  /** Drops a refused message: its receiver is gone, or in a state in which the message has no effect. */
  #leave({ to, id, event }: MessageRecord, error: unknown): void {
    const code = refusalIn(error)?.code ?? 'unknown'
    this.#options.log.info({ to, message: id, event: event.type, code }, 'message refused by its receiver')
  }

  /** Keeps a poison message for an operator. Later messages are still delivered; the commit that sent it stays open. */
  #hold(sender: Resident, message: MessageRecord, failure: PoisonFailure): void {
    sender.undelivered++
    const over = this.#decided(sender, message, failure).then(() => sender.undelivered--)
    sender.recorded = Promise.all([sender.recorded, over]).then(nothing)
  }

  async #decided(sender: Resident, message: MessageRecord, failure: PoisonFailure): Promise<void> {
    const reported = Promise.withResolvers<boolean>()
    this.#poison.set(message.id, reported.resolve)
    this.#options.poison?.(sender, message, failure)
    const givenUp = await reported.promise
    this.#poison.delete(message.id)
    this.#options.passed?.(sender, message)
    if (!givenUp) await this.#send(sender, message, false)
  }

  /** Whether a redelivery must be skipped: the actor to be created was erased, or the message was discarded. */
  async #isOver(sender: Resident, { id, to, event }: MessageRecord): Promise<boolean> {
    const { erased, discarded } = this.#options
    if (event.type === 'create' && (await erased(to))) return true
    return (await discarded?.(sender.id, id)) ?? false
  }

  async #hand(owner: Owner, message: MessageRecord, again: boolean): Promise<void> {
    const { definitions, sinks = {}, clock, refuse = refused } = this.#options
    const { event, id, to } = message
    const sink = sinks[to]
    if (sink !== undefined) return sink(owner, message, again)
    if (event.type !== 'create') {
      await this.#host.deliver(to, { event, cause: id })
      return
    }
    const kind = definitionOf(definitions, to)
    const input = event.input
    if (kind === undefined || !isObject(input)) throw refuse({ code: 'not_found' })
    await this.#host.create({ kind, id: to, owner: { ...owner, createdAt: clock.now() }, input, cause: id, again })
  }
}

/**
 * Classifies a failed delivery. `passing`: the receiver may accept it later. `unwanted`: the receiver refuses it
 * permanently. `poison`: the receiver's machine, which is pure, throws at it. `thrown`: something else failed.
 */
const troubleOf = (error: unknown): 'passing' | 'unwanted' | 'poison' | 'thrown' => {
  if (error instanceof StoreUnavailable) return 'passing'
  const refusal = refusalIn(error)
  if (refusal === undefined) return 'thrown'
  if (refusal.code === 'internal_error') return 'poison'
  return refusal.isPassing ? 'passing' : 'unwanted'
}

const nothing = (): void => {}
