import { type InFlight, type JsonObject, type StoredEvent, StoreUnavailable } from '#storage/ports.ts'
import { backoffMs, type Clock, pause } from '../clock.ts'
import { newNonce } from '../commit/commit-document.ts'
import type { Logger } from '../logger.ts'
import { refusalIn } from '../refused.ts'
import type { Delivered, Delivery, Resident } from '../resident.ts'
import { maxStarts } from '../step/actor-state.ts'
import { reasonOf } from '../stuck/stuck.ts'
import { isSuspect, runsAlone } from './counted-starts.ts'
import type { EffectHost } from './effect-runner.ts'
import {
  type Effect,
  type EffectCatalog,
  type EffectContext,
  type EffectOutcome,
  isUncertain,
  type Restart,
  type UncertainEffect,
} from './effects.ts'
import type { Suspects } from './suspects.ts'

/** After this many failures that are not transient, a result is treated as poison. */
const poisonAfter = 3
/** Maximum back-off while the store fails, in ms: the wait must not outlast an outage. */
const maxStoreMs = 2000
/** Delay before the first retry of an effect that threw, in ms; ten times longer with each further throw. */
const throwPauseMs = 1000
/** Time for which a suspect effect runs separately before it counts as survived, in ms. */
const aloneMs = 2000
/** Uptime before a suspect effect runs alone, in ms: after that long, nothing outside keeps killing the process. */
const quietMs = 15_000

/** Dependencies of an `EffectCall`. */
export interface EffectCallParts {
  readonly catalog: EffectCatalog
  readonly host: EffectHost
  readonly clock: Clock
  readonly log: Logger
  /** Effects that may crash the process. */
  readonly suspects: Suspects
}

/** How an effect ended: with a result (`done`), aborted (`ended`), with its actor erased (`gone`), or by throwing. */
export type EffectEnd = 'done' | 'ended' | 'gone' | 'threw'

/** The effect to run. */
export interface CalledEffect {
  readonly resident: Resident
  readonly id: string
  readonly flight: InFlight
  /** Its commit was just made, so the effect has not run before. */
  readonly fresh: boolean
}

/**
 * One run of one effect under its policy, until the actor accepts its result. An effect that keeps throwing, crashes
 * the process, or has a result at which the machine throws parks the actor with the reason.
 */
export class EffectCall {
  readonly #parts: EffectCallParts
  readonly #called: CalledEffect
  readonly #abort: AbortController
  readonly #signal: AbortSignal
  /** Number in the cause of the newest part. */
  #partNumber = 0
  /** Number of parts of its stream that were journaled, or are about to be. */
  #reported = 0
  /** The first attempt of a stream that begins again. */
  #prepared: Restart['run']

  constructor(parts: EffectCallParts, called: CalledEffect, abort: AbortController) {
    this.#parts = parts
    this.#called = called
    this.#abort = abort
    this.#signal = abort.signal
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

  /** Delivers the result. A result that is too large for any store is replaced by the effect's `tooLarge` event. */
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

  /** Returns the event that replaces a too large result; undefined for an idempotent effect, whose result is small. */
  #tooLarge(error: unknown): StoredEvent | undefined {
    if (!isTooLarge(error)) throw error
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
      // the policy in the commit may be that of an earlier release
      if (!fresh && effect.policy === 'stream' && effect.restarted !== undefined) {
        const ended = await this.#restart(effect, effect.restarted)
        if (ended !== 'again') return ended
      } else if (!fresh && isUncertain(flight)) return this.#unknown(effect)
      if (flight.policy === 'at_most_once' && !(await this.#begin())) return undefined
    }
    return !fresh && isSuspect(flight) ? this.#runAlone(effect) : this.#attempts(effect)
  }

  #unknown(effect: UncertainEffect): EffectOutcome {
    return { event: effect.unknown(this.#called.flight.params) }
  }

  /**
   * Delivers that the stream begins again, since its process may have shown text that no reader will find in
   * the log. Returns its outcome when it may not begin again, and undefined when it was aborted.
   */
  async #restart(
    effect: UncertainEffect,
    restarted: NonNullable<UncertainEffect['restarted']>,
  ): Promise<EffectOutcome | 'again' | undefined> {
    const { id, flight, resident } = this.#called
    const { text, seq } = resident.state
    const begun = flight.text ?? 0
    const lost = { kept: text.value.slice(0, begun), text: text.value.slice(begun), from: text.from + 2 }
    const next = await this.#decided(() => restarted(lost, this.#context()))
    if (next === undefined) return undefined
    const { again, event, stored } = next
    if (!again) return { event, stored }
    this.#prepared = next.run
    const taken = await this.#bring({ event, stored, cause: `${id}#again.${seq}`, restarts: id })
    return taken === undefined || taken.commit === null ? this.#unknown(effect) : 'again'
  }

  /** Repeats a decision while the store fails; undefined when the effect was aborted. */
  async #decided(decide: () => Promise<Restart>): Promise<Restart | undefined> {
    for (let attempt = 0; !this.#signal.aborted; attempt++) {
      try {
        return await decide()
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
        await pause(this.#parts.clock, backoffMs(attempt, 100, maxStoreMs), this.#signal)
      }
    }
    return undefined
  }

  /**
   * Marks an at-most-once call as started. Returns false when the mark was not written, because the effect is no longer
   * in flight or the actor runs elsewhere: then the call must not be made. A mark of another process comes before the
   * fence under which this one loaded the actor, so it is part of the loaded state
   * (specs/decisions/0100-what-the-simulation-compares.md).
   */
  async #begin(): Promise<boolean> {
    const { id } = this.#called
    const marked = await this.#bring({ event: { type: '$started' }, cause: `${id}#started`, starts: id })
    return marked !== undefined && marked.commit !== null && !this.#signal.aborted
  }

  /** Runs a suspect effect among few others or alone, so that a crash can be attributed to few effects, or one. */
  async #runAlone(effect: Effect): Promise<EffectOutcome | undefined> {
    const { suspects, clock } = this.#parts
    const isAlone = runsAlone(this.#called.flight)
    if (isAlone) await pause(clock, quietMs, this.#signal)
    const begun = await suspects.run(isAlone ? 'alone' : 'among few', async () => {
      const marked = this.#signal.aborted ? undefined : await this.#mark('$alone')
      if (marked === undefined || marked.commit === null || this.#signal.aborted) return undefined
      const outcome = this.#attempts(effect)
      const ended = outcome.then(nothing, nothing).then(() => true)
      const survived = pause(clock, aloneMs, this.#signal).then(() => false)
      if (!(await Promise.race([ended, survived]))) void this.#mark('$survived')
      return { outcome }
    })
    return begun?.outcome
  }

  async #attempts(effect: Effect): Promise<EffectOutcome | undefined> {
    const { resident, id, flight } = this.#called
    const context = this.#context()
    for (let attempt = 0; !this.#signal.aborted; attempt++) {
      const run = this.#prepared ?? effect.run
      this.#prepared = undefined
      try {
        return await run(flight.params, context)
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

  /**
   * Whether an effect of a policy other than idempotent may be retried. A stream without any part so far is restarted
   * after a failure of the store, which is not an outcome of the effect.
   */
  #mayRepeat(error: unknown): boolean {
    const { policy } = this.#called.flight
    return policy === 'idempotent' || (policy === 'stream' && this.#reported === 0 && error instanceof StoreUnavailable)
  }

  /** Waits before a retry; returns false when the effect threw too often or is no longer in flight. */
  async #waitAfter(error: unknown, attempt: number): Promise<boolean> {
    const { clock } = this.#parts
    if (error instanceof StoreUnavailable) {
      await pause(clock, backoffMs(attempt, 100, maxStoreMs), this.#signal)
      return true
    }
    const counted = await this.#mark('$threw', error)
    if (counted === undefined || counted.commit === null || counted.commit.snapshot?.parked !== undefined) return false
    await pause(clock, throwPauseMs * 10 ** Math.min(attempt, maxStarts), this.#signal)
    return true
  }

  #context(): EffectContext {
    const { resident, id } = this.#called
    return {
      actor: resident.id,
      owner: resident.owner,
      context: this.#contextNow(),
      idempotencyKey: id,
      signal: this.#signal,
      part: (event: StoredEvent, stored: StoredEvent) =>
        this.#bring({ event, stored, cause: `${id}#${this.#nextPart()}`, part: id }).then(nothing),
      show: (text: string) => {
        if (this.#signal.aborted) return
        this.#reported++
        this.#parts.host.shown.add(resident.id, id, text)
      },
      aloneAt: this.#parts.host.ownership.aloneFrom(resident.shard),
      delivered: async () => {
        this.#parts.host.rows.hurry()
        await resident.carriedOut
        await this.#parts.host.rows.writtenOf(resident.id)
        // an aborted effect must not continue: another process may carry out the rest
        this.#signal.throwIfAborted()
      },
    }
  }

  /**
   * The number in the cause of the next part. An idempotent effect counts, so that what it repeats after a crash is
   * accepted once. A stream that begins again has other parts, and text between them whose causes have the sequence of
   * its last event (`ShownText.part`): it takes the next sequence that neither has.
   */
  #nextPart(): number {
    this.#reported++
    const { host } = this.#parts
    const { resident, flight } = this.#called
    const { lastSequence, skip } = (host.resident(resident.id) ?? resident).state
    const newest = flight.policy === 'stream' ? Math.max(host.shown.newest(resident.id), lastSequence + skip) : 0
    this.#partNumber = Math.max(this.#partNumber, newest) + 1
    return this.#partNumber
  }

  /** The step by which a stream began again changed the machine: its context is newer than when the effect was declared. */
  #contextNow(): JsonObject {
    const { resident } = this.#called
    return (this.#parts.host.resident(resident.id) ?? resident).state.snapshot.context
  }

  /** Retries a delivery until the actor accepts it or no longer can: an outage of the store must not lose a result. */
  async #bring(delivery: Delivery): Promise<Delivered | undefined> {
    const { host, log, clock } = this.#parts
    const actor = this.#called.resident.id
    for (let attempt = 0, refused = 0; !this.#signal.aborted; attempt++) {
      try {
        return await host.deliver(actor, delivery)
      } catch (error) {
        if (refusalIn(error)?.code === 'not_found') return undefined
        if (isTooLarge(error)) throw error
        log.warn({ actorId: actor, cause: delivery.cause, attempt, err: error }, 'result not taken, trying again')
        if (!isPassing(error) && ++refused >= poisonAfter) return this.#park(error)
        await pause(clock, backoffMs(attempt, 50, isStore(error) ? maxStoreMs : 5000), this.#signal)
      }
    }
    return undefined
  }

  /** Parks the actor: it accepts nothing until an operator decides. */
  async #park(error: unknown): Promise<undefined> {
    this.#parts.log.error({ actorId: this.#called.resident.id, effect: this.#called.id, err: error }, 'actor parked')
    await this.#mark('$parked', error)
    this.#abort.abort()
  }

  /** Records something about the effect in its actor. Undefined when the actor does not accept it. */
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
        await pause(clock, backoffMs(attempt, 50, maxStoreMs), this.#signal)
      }
    }
    return undefined
  }
}

const nothing = (): void => {}

const isTooLarge = (error: unknown): boolean => refusalIn(error)?.code === 'body_too_large'

const isStore = (error: unknown): boolean => error instanceof StoreUnavailable

/** Whether the failure is transient, so that the actor may accept the event later. */
const isPassing = (error: unknown): boolean => {
  if (isStore(error)) return true
  const refusal = refusalIn(error)
  return refusal !== undefined && refusal.code !== 'internal_error' && refusal.isPassing
}
