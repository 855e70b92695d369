import type { Logger } from 'pino'
import type { Refusal } from '#machines/vocabulary.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type Commit, type MessageRecord, type Storage, StoreUnavailable } from '#storage/ports.ts'
import type { Telemetry } from '#telemetry/telemetry.ts'
import { KnownBlobs } from '../blobs/known-blobs.ts'
import type { Clock } from '../clock.ts'
import { type CommitFacts, commitOf, compacted } from '../commit/commit-document.ts'
import { type Written, writeCommit } from '../commit/commit-writer.ts'
import { Overloaded } from '../overloaded.ts'
import { epochHere, type Ownership } from '../recovery/ownership.ts'
import { shardOf } from '../recovery/shard.ts'
import { type Creation, type Delivered, type Delivery, Resident, type Waiting } from '../resident.ts'
import { rowRecord } from '../rows/actor-row.ts'
import { type Draft, firstStep, nextStep, type Step, startedStep } from './step.ts'
import { isOperatorEvent, systemStep } from './system-steps.ts'

/** What making steps needs of the host. */
export interface StepperParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Logger
  readonly ownership: Ownership
  /** Name of this node, for people. */
  readonly nodeName?: string
  readonly telemetry?: Telemetry
  /** A commit that sends these messages is being written. */
  readonly sending: (sender: Resident, messages: readonly MessageRecord[], written: Promise<unknown>) => void
  /** The commit is durable: what it says is to be done. */
  readonly settled: (resident: Resident, draft: Draft, commit: Commit) => void
  /** Another process has moved the actor on. */
  readonly overtaken: (resident: Resident) => void
  /** Whether the commit landed is not known, or it may not be written: nothing may be built on what is in memory. */
  readonly doubtful: (resident: Resident, error: unknown) => void
  /** Whether so much follows from commits and is not done that requests may add nothing to it. */
  readonly isFull: () => boolean
  /** Delivers anew to an actor that has to be loaded again. */
  readonly again: (id: string, delivery: Delivery, reloads: number) => Promise<Delivered>
  /** @throws {Elsewhere} when this process may not move the actor, not even to refuse something. */
  readonly check: (resident: Resident) => void
  /** Whether another process may have moved the actor on, so that what is refused here is not certain. @throws {Elsewhere} when so */
  readonly checkCertain: (resident: Resident) => void
}

/** So many deliveries wait at one actor. */
export const maxWaiting = 1_000

/** More would wait at an actor than it takes in time: the sender tries again. */
export class MailboxFull extends Overloaded {
  constructor(actor: string) {
    super(`${maxWaiting} deliveries wait at ${actor}`)
  }
}

/** Messages that wait are not added to by messages: refused, they would wait for each other. */
const isMessage = ({ cause }: Pick<Delivery, 'cause'>): boolean => /:m\d+$/.test(cause)

const tooMuch = 'too much of earlier commits is not done'

/** As many as the actor has effects in flight, which it started itself. */
const isOfEffect = ({ done, part, starts }: Delivery): boolean => (done ?? part ?? starts) !== undefined

/** An actor that another process moved on is loaded and tried again this often. */
const maxReloads = 5

/** Makes the steps of actors: one at a time each, and each durable by one commit before it is answered (ARCHITECTURE.md). */
export class Stepper {
  readonly #parts: StepperParts
  readonly #blobs: KnownBlobs

  constructor(parts: StepperParts) {
    this.#parts = parts
    this.#blobs = new KnownBlobs(parts.storage.blobs)
  }

  /**
   * Queues a delivery at an actor; resolves when what it does is durable.
   *
   * @throws {MailboxFull} when `maxWaiting` deliveries wait there; {Overloaded} when too much follows from earlier commits.
   *   Results of effects are always taken, and decisions of operators unless the mailbox is full.
   */
  deliver(resident: Resident, delivery: Delivery, reloads: number): Promise<Delivered> {
    if (reloads === 0 && !isOfEffect(delivery)) {
      if (resident.mailbox.length >= maxWaiting) return Promise.reject(new MailboxFull(resident.id))
      if (!isOperatorEvent(delivery.event) && this.#isFullFor(delivery)) return Promise.reject(new Overloaded(tooMuch))
    }
    return new Promise((resolve, reject) => {
      const span = this.#parts.telemetry?.tracer?.current ?? null
      resident.mailbox.push({ delivery, reloads, span, resolve, reject })
      if (!resident.working) void this.#work(resident)
    })
  }

  #isFullFor(caused: Pick<Delivery, 'cause'>): boolean {
    return this.#parts.isFull() && !isMessage(caused)
  }

  /**
   * Writes the first commit of an actor.
   *
   * @returns the actor when this very write made it; the state is the caller's to set.
   * @throws {Overloaded}
   */
  async first({ kind, id, owner, input, cause }: Creation) {
    if (this.#isFullFor({ cause })) throw new Overloaded(tooMuch)
    const { clock, ownership, nodeName } = this.#parts
    const shard = shardOf(id)
    const step = firstStep(kind, input, { actor: id, event: { type: 'create', input }, at: clock.now() })
    if (step.kind !== 'next') throw new Error(`${kind.name} refuses to start`)
    const place = { shard, epoch: epochHere(ownership, shard) }
    const resident = new Resident({ id, definition: kind, owner, place, state: step.draft, at: clock.now() })
    const facts = this.#factsFor(resident, cause, {
      type: 'create',
      ...(nodeName !== undefined && { node: nodeName }),
    })
    const commit = await compacted(commitOf(kind, step.draft, facts), this.#blobs)
    const written = await this.#write(resident, commit)
    return { made: written === 'done', resident, draft: step.draft, commit }
  }

  async #work(resident: Resident): Promise<void> {
    resident.working = true
    for (let next = resident.mailbox.shift(); next !== undefined; next = resident.mailbox.shift()) {
      try {
        next.resolve(await this.#traced(resident, next))
      } catch (error) {
        next.reject(error)
      }
    }
    resident.working = false
  }

  /** In a span of its own below that of the sender, where traces are wanted. */
  #traced(resident: Resident, { delivery, reloads, span: parent }: Waiting): Promise<Delivered> {
    const tracer = this.#parts.telemetry?.tracer
    if (tracer === undefined || tracer === null) return this.#handle(resident, delivery, reloads)
    const { name } = resident.definition
    const attributes = { 'troupe.actor': resident.id, 'troupe.machine': name, 'troupe.event': delivery.event.type }
    return tracer.run(`step ${name}.${delivery.event.type}`, { parent, attributes }, () =>
      this.#handle(resident, delivery, reloads),
    )
  }

  async #handle(resident: Resident, delivery: Delivery, reloads: number): Promise<Delivered> {
    if (resident.dead) return this.#parts.again(resident.id, delivery, reloads)
    if (resident.parked !== undefined && !isOperatorEvent(delivery.event)) throw new ServiceError('actor_parked')
    if (resident.unrestorable !== undefined) return this.#reload(resident, delivery, reloads)
    const late = delivery.done ?? delivery.part ?? delivery.starts
    if (late !== undefined && resident.state.inFlight[late] === undefined) return { commit: null, duplicate: false }
    this.#parts.check(resident)
    const step = this.#step(resident, delivery)
    if (step.kind === 'ignored') return this.#replay(resident, delivery)
    if (step.kind === 'refused') return this.#refuse(resident, delivery, step)
    const facts = this.#factsFor(resident, delivery.cause, delivery.stored ?? delivery.event)
    const draft = commitOf(resident.definition, step.draft, facts)
    const small = compacted(draft, this.#blobs)
    const commit = small instanceof Promise ? await small : small
    const writing = this.#write(resident, commit)
    if (step.draft.messages.length > 0) this.#parts.sending(resident, step.draft.messages, writing)
    const written = await writing
    if (written === 'done') {
      // the process that has taken the actor over meanwhile does what the commit says
      if (!resident.dead) this.#parts.settled(resident, step.draft, commit)
      return { commit, duplicate: false }
    }
    if (written === 'duplicate') return this.#replay(resident, delivery)
    this.#parts.overtaken(resident)
    if (reloads >= maxReloads) throw new StoreUnavailable('the actor moves elsewhere')
    return this.#parts.again(resident.id, delivery, reloads + 1)
  }

  /** A release may have brought what the newest commit could not be restored without. */
  #reload(resident: Resident, delivery: Delivery, reloads: number): Promise<Delivered> {
    if (reloads > 0) throw new ServiceError('actor_parked')
    this.#parts.overtaken(resident)
    return this.#parts.again(resident.id, delivery, reloads + 1)
  }

  #step(resident: Resident, delivery: Delivery): Step {
    if (delivery.starts !== undefined) return { kind: 'next', draft: startedStep(resident.state, delivery.starts) }
    const { definition, state } = resident
    try {
      const where = {
        actor: resident.id,
        event: delivery.event,
        at: this.#parts.clock.now(),
        ...(delivery.done !== undefined && { done: delivery.done }),
        ...(delivery.part !== undefined && { part: delivery.part }),
      }
      const isOurs = delivery.event.type.startsWith('$')
      return (isOurs ? systemStep(definition, state, where) : undefined) ?? nextStep(definition, state, where)
    } catch (error) {
      this.#parts.log.error({ actorId: resident.id, event: delivery.event.type, err: error }, 'event refused as poison')
      throw new ServiceError('internal_error', { cause: error })
    }
  }

  async #write(resident: Resident, commit: Commit): Promise<Written> {
    const startedMs = performance.now()
    try {
      const written = await writeCommit(this.#parts.storage.commits, commit, this.#parts.clock)
      this.#parts.telemetry?.metrics.commitDuration.record(performance.now() - startedMs)
      return written
    } catch (error) {
      this.#parts.doubtful(resident, error)
      throw error
    }
  }

  /** A cause that was processed before is answered by what it did then, even where the machine would refuse it now. */
  async #replay(resident: Resident, delivery: Delivery): Promise<Delivered> {
    const prior = await this.#parts.storage.commits.byCause(resident.id, delivery.cause)
    if (prior === null) this.#parts.checkCertain(resident)
    return { commit: prior, duplicate: prior !== null }
  }

  async #refuse(resident: Resident, delivery: Delivery, step: Step & { kind: 'refused' }): Promise<Delivered> {
    const result = await this.#replay(resident, delivery)
    if (result.duplicate) return result
    const { code, param, message = whyNot(step.refusal, resident, delivery) } = step.refusal
    throw new ServiceError(code, { ...(param !== undefined && { param }), ...(message !== undefined && { message }) })
  }

  #factsFor({ id, shard, epoch, owner }: Resident, cause: string, event: CommitFacts['event']): CommitFacts {
    return { actor: id, shard, epoch, at: this.#parts.clock.now(), owner, cause, event }
  }
}

/** The subject of a transition that is not possible now; undefined where the code says enough. */
const whyNot = ({ code }: Refusal, resident: Resident, { event }: Delivery): string | undefined => {
  const status = code === 'invalid_transition' ? rowRecord(resident).data.status : undefined
  if (typeof status !== 'string') return undefined
  return `The ${resident.definition.name.replaceAll('_', ' ')} is ${status}; ${event.type} is not possible now.`
}
