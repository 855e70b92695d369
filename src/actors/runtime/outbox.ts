import type { Logger } from 'pino'
import { ServiceError } from '../../../specs/errors.ts'
import type { MachineDefinition } from '../../machines/definition.ts'
import type { JsonObject, MessageRecord } from '../../storage/ports.ts'
import type { Owner } from './actor-state.ts'
import { backoffMs, type Clock, pause, within } from './clock.ts'
import type { Delivery, Resident, Told } from './resident.ts'
import { isObject } from './schema.ts'
import type { Sinks } from './sinks.ts'

/** How long a request waits for an actor that is being made, in ms. */
const patienceMs = 3000

/** What the outbox needs of its host. */
export interface MessageHost {
  /** False when another process has taken the actor over: it delivers what is not delivered yet. */
  runs(sender: Resident): boolean
  deliver(actor: string, delivery: Delivery): Promise<Told>
  create(kind: MachineDefinition, id: string, owner: Owner, input: JsonObject, cause: string): Promise<Told>
}

/** What an outbox is made of. */
export interface OutboxOptions {
  readonly definitions: readonly MachineDefinition[]
  /** Who takes messages that are for no actor. */
  readonly sinks?: Sinks
  /** Whether an actor's log was removed a short time ago. @throws {StoreUnavailable} */
  readonly erased: (project: string, actor: string) => Promise<boolean>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Delivers the messages of durable commits: in order per sender, again and again until they are taken. The id of a
 * message is its cause at the receiver, so one that arrives twice is processed once.
 */
export class Outbox {
  readonly #host: MessageHost
  readonly #definitions: readonly MachineDefinition[]
  readonly #sinks: Sinks
  readonly #erased: OutboxOptions['erased']
  readonly #clock: Clock
  readonly #log: Logger
  readonly #coming = new Map<string, Promise<void>>()

  constructor(host: MessageHost, { definitions, sinks = {}, erased, clock, log }: OutboxOptions) {
    this.#erased = erased
    this.#host = host
    this.#definitions = definitions
    this.#sinks = sinks
    this.#clock = clock
    this.#log = log
  }

  /**
   * Queues messages behind those that the actor has sent; `resident.outbox` resolves when they are delivered.
   *
   * @param again they may have been delivered before, and what they made may have been removed since.
   */
  post(resident: Resident, messages: readonly MessageRecord[], again = false): Promise<void> {
    if (messages.length === 0) return resident.outbox
    resident.undelivered++
    resident.outbox = resident.outbox.then(async () => {
      for (const message of messages) {
        await this.#send(resident, message, again)
        this.#coming.delete(message.to)
      }
      resident.undelivered--
    })
    for (const { event, to } of messages) if (event.type === 'create') this.#coming.set(to, resident.outbox)
    return resident.outbox
  }

  /**
   * A commit is on its way to the store, and once it is there others may read of the actors that it asks for: before
   * whoever wrote it hears of that.
   *
   * @param written settles when that is over; what the commit sends is posted then.
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
   * Resolves when an actor is made that a durable commit asked for, and whose id may be in a stream already;
   * undefined when none of this id is under way.
   *
   * @throws {StoreUnavailable} when that takes longer than a request waits: it is not that there is none.
   */
  coming(id: string): Promise<void> | undefined {
    const made = this.#coming.get(id)
    return made && within(this.#clock, patienceMs, made)
  }

  async #send(sender: Resident, message: MessageRecord, again: boolean): Promise<void> {
    for (let attempt = 0; this.#host.runs(sender); attempt++) {
      try {
        const { project } = sender.owner
        const gone = again && message.event.type === 'create' && (await this.#erased(project, message.to))
        if (!gone) await this.#hand(sender.owner, message)
        return
      } catch (error) {
        if (error instanceof ServiceError && error.code !== 'actor_parked') {
          this.#log.debug({ to: message.to, code: error.code }, 'message not wanted')
          return
        }
        this.#log.warn({ to: message.to, attempt, err: error }, 'message not delivered, trying again')
        await pause(this.#clock, backoffMs(attempt, 50, 5000))
      }
    }
  }

  async #hand(owner: Owner, message: MessageRecord): Promise<void> {
    const { event, id, to } = message
    const sink = this.#sinks[to]
    if (sink !== undefined) return sink(owner, message)
    if (event.type !== 'create') {
      await this.#host.deliver(to, { event, cause: id })
      return
    }
    const kind = this.#definitions.find(({ idPrefix }) => to.startsWith(`${idPrefix}_`))
    const input = event.input
    if (kind === undefined || !isObject(input)) throw new ServiceError('not_found')
    await this.#host.create(kind, to, { ...owner, createdAt: this.#clock.now() }, input, id)
  }
}

const nothing = (): void => {}
