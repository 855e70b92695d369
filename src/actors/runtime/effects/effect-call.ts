import type { Logger } from 'pino'
import { errors, ServiceError } from '#specs/errors/errors.ts'
import { type InFlight, type StoredEvent, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from '../clock.ts'
import { CommitTooLarge, newNonce } from '../commit/commit-document.ts'
import type { Delivered, Delivery, Resident } from '../resident.ts'
import { mostStarts } from '../step/actor-state.ts'
import { reasonOf } from '../stuck/stuck.ts'
import { isSuspect, runsAlone } from './counted-starts.ts'
import type { EffectHost } from './effect-runner.ts'
import { type Effect, type EffectCatalog, type EffectContext, type EffectOutcome, isUncertain } from './effects.ts'
import type { Suspects } from './suspects.ts'

/** A result that the machine throws at so often in a row is poison. */
const poisonAfter = 3
/** The store is tried again so soon at least, in ms: a back-off must not outlast an outage. */
const mostStoreMs = 2000
/** After the first throw an effect is tried again so soon, and ten times later each time, in ms. */
const throwPauseMs = 1000
/** An effect that may end the process runs apart from the others for so long, in ms. */
const apartMs = 2000
/** A process that ended while few of them ran has been up for so long before one runs alone, in ms: it is not ended from outside. */
const quietMs = 15_000

/** What running an effect needs. */
export interface EffectCallParts {
  readonly catalog: EffectCatalog
  readonly host: EffectHost
  readonly clock: Clock
  readonly log: Logger
  /** Effects that may end the process. */
  readonly suspects: Suspects
}

/** How an effect ended: with a result, by its machine, with its actor, or by throwing. */
export type EffectEnd = 'done' | 'ended' | 'gone' | 'threw'

/** Which effect is run. */
export interface CalledEffect {
  readonly resident: Resident
  readonly id: string
  readonly flight: InFlight
  /** Its commit was just made, so nothing of it has happened. */
  readonly fresh: boolean
}

/**
 * One run of one effect: under its policy, until its result is taken by its actor. What throws again and again, takes the
 * process with it, or has a result that the machine throws at, parks the actor with the reason.
 */
export class EffectCall {
  readonly #parts: EffectCallParts
  readonly #called: CalledEffect
  readonly #abort: AbortController
  /** Parts of its stream that were journaled, or are about to be. */
  #said = 0

  constructor(parts: EffectCallParts, called: CalledEffect, abort: AbortController) {
    this.#parts = parts
    this.#called = called
    this.#abort = abort
  }

  get #signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Never rejects. */
  async run(): Promise<EffectEnd> {
    const { resident } = this.#called
    try {
      const outcome = await this.#outcome()
      if (outcome === undefined || this.#signal.aborted) return 'ended'
      if (outcome === 'gone') {
        this.#parts.host.drop(resident.id)
        return 'gone'
      }
      await this.#settle(outcome)
      return 'done'
    } catch (error) {
      await this.#park(error)
      return 'threw'
    }
  }

  /** Brings the result; what no store takes is replaced by what the machine hears instead. */
  async #settle(outcome: Exclude<EffectOutcome, 'gone'>): Promise<void> {
    const { id } = this.#called
    const done = { cause: `${id}#done`, done: id }
    try {
      await this.#bring({ ...outcome, ...done })
    } catch (error) {
      const event = this.#tooLarge(error)
      if (event !== undefined) await this.#bring({ event, ...done })
    }
  }

  /** Undefined for an effect that has no such event: its result is small. */
  #tooLarge(error: unknown): StoredEvent | undefined {
    if (!(error instanceof CommitTooLarge)) throw error
    const { resident, flight } = this.#called
    this.#parts.log.error({ actorId: resident.id, effect: flight.name, err: error }, 'result larger than a commit')
    const effect = this.#parts.catalog[`${resident.definition.name}.${flight.name}`]
    return effect === undefined || effect.policy === 'idempotent' ? undefined : effect.tooLarge(flight.params)
  }

  async #outcome(): Promise<EffectOutcome | undefined> {
    const { resident, flight, fresh } = this.#called
    const name = `${resident.definition.name}.${flight.name}`
    const effect = this.#parts.catalog[name]
    if (effect === undefined) throw new Error(`there is no effect ${name}`)
    if (effect.policy !== 'idempotent') {
      if (!fresh && isUncertain(flight)) return { event: effect.unknown(flight.params) }
      if (flight.policy === 'at_most_once' && !(await this.#begin())) return undefined
    }
    return !fresh && isSuspect(flight) ? this.#runApart(effect) : this.#attempts(effect)
  }

  /**
   * Marks an at-most-once call as begun. No mark, no call: it is not in flight any more, or the actor is elsewhere. A mark of
   * another process comes before the fence under which this one loaded the actor, and shows in its state then
   * (specs/decisions/0142-guards-that-nothing-reaches.md).
   */
  async #begin(): Promise<boolean> {
    const { id } = this.#called
    const marked = await this.#bring({ event: { type: '$started' }, cause: `${id}#started`, starts: id })
    return marked !== undefined && marked.commit !== null && !this.#signal.aborted
  }

  /** If the process ends, it is known that one of a few effects may have ended it, or which one has. */
  async #runApart(effect: Effect): Promise<EffectOutcome | undefined> {
    const { suspects, clock } = this.#parts
    const isAlone = runsAlone(this.#called.flight)
    if (isAlone) await pause(clock, quietMs, this.#signal)
    const begun = await suspects.run(isAlone ? 'alone' : 'among few', async () => {
      const marked = this.#signal.aborted ? undefined : await this.#mark('$alone')
      if (marked === undefined || marked.commit === null || this.#signal.aborted) return undefined
      const outcome = this.#attempts(effect)
      const ended = outcome.then(nothing, nothing).then(() => true)
      const survived = pause(clock, apartMs, this.#signal).then(() => false)
      if (!(await Promise.race([ended, survived]))) void this.#mark('$survived')
      return { outcome }
    })
    return begun?.outcome
  }

  async #attempts(effect: Effect): Promise<EffectOutcome | undefined> {
    const { resident, id, flight } = this.#called
    const context = this.#context()
    for (let attempt = 0; !this.#signal.aborted; attempt++) {
      try {
        return await effect.run(flight.params, context)
      } catch (error) {
        if (this.#signal.aborted) return undefined
        this.#parts.log.error(
          { actorId: resident.id, effect: id, name: flight.name, attempt, err: error },
          'effect threw',
        )
        if (effect.policy !== 'idempotent' && !this.#mayRepeat(error)) return { event: effect.unknown(flight.params) }
        if (!(await this.#waitAfter(error, attempt))) return undefined
      }
    }
    return undefined
  }

  /** Of an effect that is not idempotent by itself. A stream that has said nothing is begun again: trouble of the store is no outcome. */
  #mayRepeat(error: unknown): boolean {
    const { policy } = this.#called.flight
    return policy === 'idempotent' || (policy === 'stream' && this.#said === 0 && error instanceof StoreUnavailable)
  }

  /** False when the effect is not tried again: it has thrown too often, or is not in flight any more. */
  async #waitAfter(error: unknown, attempt: number): Promise<boolean> {
    const { clock } = this.#parts
    if (error instanceof StoreUnavailable) {
      await pause(clock, backoffMs(attempt, 100, mostStoreMs), this.#signal)
      return true
    }
    const counted = await this.#mark('$threw', error)
    if (counted === undefined || counted.commit === null || counted.commit.snapshot?.parked !== undefined) return false
    await pause(clock, throwPauseMs * 10 ** Math.min(attempt, mostStarts), this.#signal)
    return true
  }

  #context(): EffectContext {
    const { resident, id } = this.#called
    return {
      actor: resident.id,
      owner: resident.owner,
      context: resident.state.snapshot.context,
      idempotencyKey: id,
      signal: this.#signal,
      part: (event: StoredEvent, stored: StoredEvent) =>
        this.#bring({ event, stored, cause: `${id}#${++this.#said}`, part: id }).then(nothing),
      aloneAt: this.#parts.host.ownership.aloneFrom(resident.shard),
      delivered: async () => {
        this.#parts.host.rows.hurry()
        await resident.carriedOut
        await this.#parts.host.rows.writtenOf(resident.id)
        // what is left is carried out elsewhere
        this.#signal.throwIfAborted()
      },
    }
  }

  /** Delivers until it is taken, or can be taken no more: a store that is away must not lose a result. */
  async #bring(delivery: Delivery): Promise<Delivered | undefined> {
    const { host, log, clock } = this.#parts
    const actor = this.#called.resident.id
    for (let attempt = 0, refused = 0; !this.#signal.aborted; attempt++) {
      try {
        return await host.deliver(actor, delivery)
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'not_found') return undefined
        if (error instanceof CommitTooLarge) throw error
        log.warn({ actorId: actor, cause: delivery.cause, attempt, err: error }, 'result not taken, trying again')
        if (!isPassing(error) && ++refused >= poisonAfter) return this.#park(error)
        await pause(clock, backoffMs(attempt, 50, isStore(error) ? mostStoreMs : 5000), this.#signal)
      }
    }
    return undefined
  }

  /** The actor takes nothing more until an operator looks. */
  async #park(error: unknown): Promise<undefined> {
    this.#parts.log.error({ actorId: this.#called.resident.id, effect: this.#called.id, err: error }, 'actor parked')
    await this.#mark('$parked', error)
    this.#abort.abort()
  }

  /** Writes something about the effect down. Undefined when the actor takes nothing. */
  async #mark(type: string, error?: unknown): Promise<Delivered | undefined> {
    const { host, clock, log } = this.#parts
    const { id, resident } = this.#called
    const event = { type, effect: id, ...(error !== undefined && { reason: reasonOf(error) }) }
    const delivery = { event, cause: `${id}${type}/${newNonce()}`, part: id }
    for (let attempt = 0; !this.#signal.aborted; attempt++) {
      try {
        return await host.deliver(resident.id, delivery)
      } catch (trouble) {
        if (!isStore(trouble)) return undefined
        log.warn({ actorId: resident.id, cause: delivery.cause, attempt, err: trouble }, 'mark not taken, trying again')
        await pause(clock, backoffMs(attempt, 50, mostStoreMs), this.#signal)
      }
    }
    return undefined
  }
}

const nothing = (): void => {}

const isStore = (error: unknown): boolean => error instanceof StoreUnavailable

/** Whether the actor may take later what it does not take now. */
const isPassing = (error: unknown): boolean => {
  if (isStore(error)) return true
  if (!(error instanceof ServiceError) || error.code === 'internal_error') return false
  const { status } = errors[error.code]
  return error.code === 'actor_parked' || status >= 500 || status === 429
}
