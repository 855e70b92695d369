import { acceptedNow } from '#machines/refusal.ts'
import type { Refusal } from '#machines/vocabulary.ts'
import { type Commit, type MessageRecord, type Storage, StoreUnavailable } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { type CommitFacts, CommitTooLarge, commitOf, compacted } from '../commit/commit-document.ts'
import { type Written, writeCommit } from '../commit/commit-writer.ts'
import type { HostOptions } from '../host-options.ts'
import type { HostTelemetry } from '../host-telemetry.ts'
import { partsAfter, withParts } from '../log/parts.ts'
import type { Logger } from '../logger.ts'
import type { Outbox } from '../messages/outbox.ts'
import { Overloaded } from '../overloaded.ts'
import { checkCertain, checkOwner, epochHere, type Ownership } from '../recovery/ownership.ts'
import { type Refuse, refused } from '../refused.ts'
import { type Creation, type Delivered, type Delivery, effectOf, Resident, type Waiting } from '../resident.ts'
import { rowRecord } from '../rows/actor-row.ts'
import type { ShownText } from '../stream/shown-text.ts'
import { type Draft, firstStep, nextStep, type Step, startedStep } from './step.ts'
import { isOperatorEvent, reminderOver, systemStep } from './system-steps.ts'

/** Dependencies of `Stepper`. */
export interface StepperParts {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Logger
  readonly ownership: Ownership
  /** Display name of this node. */
  readonly nodeName?: string
  readonly telemetry?: HostTelemetry
  readonly refuse?: Refuse
  readonly verify?: HostOptions['verify']
  /** Called while a commit that sends these messages is being written. */
  readonly sending: (sender: Resident, messages: readonly MessageRecord[], written: Promise<unknown>) => void
  /** Called when the commit is durable and is to be carried out. */
  readonly settled: (resident: Resident, draft: Draft, commit: Commit) => void
  /** Called when another process has committed for the actor. */
  readonly overtaken: (resident: Resident) => void
  /** Called when a commit's outcome is unknown, or it may not be written: the state in memory must not be used. */
  readonly doubtful: (resident: Resident, error: unknown) => void
  /** Whether the backlog of work from earlier commits is so large that requests may not add to it. */
  readonly isFull: () => boolean
  readonly outbox: Pick<Outbox, 'fullAmong'>
  /** Delivers again, to an actor that has to be reloaded. */
  readonly again: (id: string, delivery: Delivery, reloads: number) => Promise<Delivered>
  /** Text of running effects that is not durable yet. */
  readonly shown: Pick<ShownText, 'part' | 'rest' | 'resume'>
}

/** Maximum number of deliveries waiting in one actor's mailbox. */
export const maxWaiting = 1_000

/** The actor's mailbox is full; the sender may retry. */
export class MailboxFull extends Overloaded {
  constructor(actor: string) {
    super(`${maxWaiting} deliveries wait at ${actor}`)
  }
}

/**
 * Whether the delivery is a message from another actor. Messages do not enlarge the backlog of messages; if they were
 * refused, they would wait for each other.
 */
const isMessage = ({ cause }: Pick<Delivery, 'cause'>): boolean => /:m\d+$/.test(cause)

const tooMuch = 'too much of earlier commits is not done'

/**
 * Whether the delivery comes from an effect of the actor. There are no more of these than the actor has effects in
 * flight, which it started itself.
 */
const isOfEffect = (delivery: Delivery): boolean => effectOf(delivery) !== undefined

const nothingChanged: Delivered = { commit: null, duplicate: false }

/** Maximum number of reloads of an actor for which another process has committed. */
const maxReloads = 5

/** Executes steps: one at a time per actor, each made durable by one commit before it is answered (ARCHITECTURE.md). */
export class Stepper {
  readonly #parts: StepperParts
  readonly #refuse: Refuse

  constructor(parts: StepperParts) {
    this.#parts = parts
    this.#refuse = parts.refuse ?? refused
  }

  /**
   * Queues a delivery at an actor; resolves when the resulting commit is durable.
   *
   * @throws {MailboxFull} when `maxWaiting` deliveries wait there; {Overloaded} when the backlog of earlier commits is
   *   too large. Results of effects are always accepted, and operators' decisions unless the mailbox is full.
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
   * Refuses a step, other than of a message, that sends to an actor for which too many messages wait. A deletion is
   * accepted: refused as if the actor itself were parked, its log would be removed without it (erase-listed.ts).
   *
   * @throws {RefusedError} `actor_parked` while that actor is parked; {Overloaded}
   */
  #checkReceivers({ messages }: Draft, caused: Pick<Delivery, 'cause' | 'reminder'>): void {
    const full = messages.length === 0 || isMessage(caused) ? undefined : this.#parts.outbox.fullAmong(messages)
    if (full === undefined) return
    const receiver = `the ${full.machine.replaceAll('_', ' ')} that this sends to`
    // a reminder is tried again, and is no stuck work of its own
    if (!full.isParked || caused.reminder !== undefined) throw new Overloaded(`too much waits for ${receiver}`)
    const message = `Too much already waits for ${receiver}, which is parked until an operator decides.`
    throw this.#refuse({ code: 'actor_parked', message })
  }

  /**
   * Writes the first commit of an actor.
   *
   * @returns the actor, with `made` true when this very write created it; the caller sets its state.
   * @throws {Overloaded}
   */
  async first({ kind, id, owner, input, cause }: Creation) {
    if (this.#isFullFor({ cause })) throw new Overloaded(tooMuch)
    const { clock, ownership, nodeName } = this.#parts
    const shard = ownership.space.of(id)
    const step = firstStep(kind, input, { actor: id, event: { type: 'create', input }, at: clock.now() })
    if (step.kind !== 'next') throw new Error(`${kind.name} refuses to start`)
    this.#parts.verify?.(step.draft)
    this.#checkReceivers(step.draft, { cause })
    const place = { shard, epoch: epochHere(ownership, shard) }
    const resident = new Resident({ id, definition: kind, owner, place, state: step.draft, at: clock.now() })
    const facts = this.#factsFor(resident, cause, {
      type: 'create',
      ...(nodeName !== undefined && { node: nodeName }),
    })
    const commit = await this.#compacted(resident, commitOf(kind, step.draft, facts))
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

  /** Runs the delivery in its own trace span, a child of the sender's, when tracing is on. */
  #traced(resident: Resident, { delivery, reloads, span: parent }: Waiting): Promise<Delivered> {
    const tracer = this.#parts.telemetry?.tracer
    if (tracer === undefined || tracer === null) return this.#inOrder(resident, delivery, reloads)
    const { name } = resident.definition
    const attributes = { 'troupe.actor': resident.id, 'troupe.machine': name, 'troupe.event': delivery.event.type }
    return tracer.run(`step ${name}.${delivery.event.type}`, { parent, attributes }, () =>
      this.#inOrder(resident, delivery, reloads),
    )
  }

  /** Handles a delivery after the text that running effects have shown before it. */
  async #inOrder(resident: Resident, delivery: Delivery, reloads: number): Promise<Delivered> {
    const { shown } = this.#parts
    if (delivery.flush !== undefined) {
      const part = shown.part(resident)
      return part === undefined ? nothingChanged : this.#handle(resident, part, reloads)
    }
    if (delivery.takesText === true) {
      const event = { ...delivery.event, ...shown.rest(resident, delivery) }
      return this.#handle(resident, { ...delivery, event }, reloads)
    }
    if (resident.definition.text === undefined) return this.#handle(resident, delivery, reloads)
    resident.stepping = true
    try {
      const part = shown.part(resident)
      if (part !== undefined) await this.#handle(resident, part, 0)
      return await this.#handle(resident, delivery, reloads)
    } finally {
      resident.stepping = false
      shown.resume(resident.id)
    }
  }

  async #handle(resident: Resident, delivery: Delivery, reloads: number): Promise<Delivered> {
    if (resident.dead) return this.#parts.again(resident.id, delivery, reloads)
    if (resident.parked !== undefined && !isOperatorEvent(delivery.event)) throw this.#refuse({ code: 'actor_parked' })
    if (resident.unrestorable !== undefined) return this.#reload(resident, delivery, reloads)
    const late = effectOf(delivery)
    if (late !== undefined && resident.state.inFlight[late] === undefined) return nothingChanged
    const { reminder } = delivery
    if (reminder !== undefined && resident.state.reminders[reminder.name]?.n !== reminder.n) return nothingChanged
    checkOwner(this.#parts.ownership, resident)
    const step = this.#step(resident, delivery)
    if (step.kind === 'ignored') return this.#replay(resident, delivery)
    if (step.kind === 'refused') return this.#answerRefused(resident, delivery, step)
    const isExempt = late !== undefined || isOperatorEvent(delivery.event) || delivery.event.type === 'delete'
    if (!isExempt) this.#checkReceivers(step.draft, delivery)
    const facts = this.#factsFor(resident, delivery.cause, delivery.stored ?? delivery.event)
    const draft = commitOf(resident.definition, step.draft, facts)
    const small = this.#compacted(resident, draft)
    const commit = small instanceof Promise ? await small : small
    let isDoubted = false
    const doubted = (): void => {
      isDoubted = true
    }
    const whole = withParts(commit, resident.parts)
    const writing = this.#write(resident, whole, doubted)
    if (step.draft.messages.length > 0) this.#parts.sending(resident, step.draft.messages, writing)
    const written = await writing
    if (written === 'done') {
      resident.blobs.stored(commit)
      // a copy of the write that arrives later must find its key taken
      resident.parts = isDoubted ? undefined : partsAfter(resident.parts, commit, delivery.part)
      // if the actor was evicted meanwhile, its new owner carries the commit out
      if (!resident.dead) this.#parts.settled(resident, step.draft, { ...whole, events: commit.events })
      return { commit, duplicate: false }
    }
    if (written === 'duplicate') return this.#replayReminder(resident, delivery, reloads)
    this.#parts.overtaken(resident)
    if (reloads >= maxReloads) throw new StoreUnavailable('the actor moves elsewhere')
    return this.#parts.again(resident.id, delivery, reloads + 1)
  }

  /** Reloads an actor that could not be restored: a newer release may be able to restore its commit. */
  #reload(resident: Resident, delivery: Delivery, reloads: number): Promise<Delivered> {
    if (reloads > 0) throw this.#refuse({ code: 'actor_parked' })
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
        ...(delivery.reminder !== undefined && { reminder: delivery.reminder.name }),
      }
      const isOurs = delivery.event.type.startsWith('$')
      const step = (isOurs ? systemStep(definition, state, where) : undefined) ?? nextStep(definition, state, where)
      if (step.kind === 'next') this.#parts.verify?.(step.draft)
      return step
    } catch (error) {
      this.#parts.log.error({ actorId: resident.id, event: delivery.event.type, err: error }, 'event refused as poison')
      return { kind: 'refused', refusal: { code: 'internal_error' }, cause: error }
    }
  }

  #compacted({ blobs }: Resident, commit: Commit): Commit | Promise<Commit> {
    try {
      return compacted(commit, this.#parts.storage.blobs, blobs)
    } catch (error) {
      if (!(error instanceof CommitTooLarge)) throw error
      throw this.#refuse({ code: error.code, message: error.message, cause: error })
    }
  }

  async #write(resident: Resident, commit: Commit, doubted?: () => void): Promise<Written> {
    const startedMs = performance.now()
    try {
      const written = await writeCommit(this.#parts.storage.commits, commit, {
        clock: this.#parts.clock,
        unsure: () => {
          resident.unsure = true
          doubted?.()
        },
      })
      resident.unsure = false
      this.#parts.telemetry?.metrics.commitDuration.record(performance.now() - startedMs)
      return written
    } catch (error) {
      this.#parts.doubtful(resident, error)
      throw error
    }
  }

  /** A cause that was processed before is answered with its commit, even if the machine would refuse the event now. */
  async #replay(resident: Resident, delivery: Delivery): Promise<Delivered> {
    const prior = await this.#parts.storage.commits.byCause(resident.id, delivery.cause)
    if (prior === null) checkCertain(this.#parts.ownership, resident)
    else if (prior.epoch > resident.epoch) this.#parts.overtaken(resident)
    return { commit: prior, duplicate: prior !== null }
  }

  /** `#replay`; a reminder that a process of an earlier release has taken and left where it was is removed. */
  async #replayReminder(resident: Resident, delivery: Delivery, reloads: number): Promise<Delivered> {
    const result = await this.#replay(resident, delivery)
    const { cause, reminder } = delivery
    const isOver = reminder !== undefined && (result.commit?.seq ?? Number.POSITIVE_INFINITY) <= resident.state.seq
    if (!isOver || delivery.event.type === reminderOver.type) return result
    return this.#handle(resident, { event: reminderOver, cause: `${cause}:over`, reminder }, reloads)
  }

  async #answerRefused(resident: Resident, delivery: Delivery, step: Step & { kind: 'refused' }): Promise<Delivered> {
    const result = await this.#replay(resident, delivery)
    if (result.duplicate) return result
    const { code, param, message = whyNot(step.refusal, resident, delivery) } = step.refusal
    throw this.#refuse({
      code,
      ...(param !== undefined && { param }),
      ...(message !== undefined && { message }),
      ...(step.cause !== undefined && { cause: step.cause }),
    })
  }

  #factsFor({ id, shard, epoch, owner }: Resident, cause: string, event: CommitFacts['event']): CommitFacts {
    return { actor: id, shard, epoch, at: this.#parts.clock.now(), owner, cause, event }
  }
}

/**
 * Error message for a transition that is not possible in the current state; undefined when the error code says enough.
 */
const whyNot = ({ code }: Refusal, resident: Resident, { event }: Delivery): string | undefined => {
  const status = code === 'invalid_transition' ? rowRecord(resident).data.status : undefined
  if (typeof status !== 'string') return undefined
  const possible = acceptedNow(resident.state.snapshot)
  const remedy = possible.length === 0 ? '' : ` Possible now: ${possible.join(', ')}.`
  return `The ${resident.definition.name.replaceAll('_', ' ')} is ${status}; ${event.type} is not possible now.${remedy}`
}
