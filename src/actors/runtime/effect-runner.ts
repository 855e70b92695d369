import type { Logger } from 'pino'
import { ServiceError } from '../../../specs/errors.ts'
import { type InFlight, type StoredEvent, StoreUnavailable } from '../../storage/ports.ts'
import { backoffMs, type Clock, pause } from './clock.ts'
import { type EffectCatalog, type EffectContext, type EffectOutcome, isUncertain } from './effects.ts'
import type { Ownership } from './ownership.ts'
import type { Delivery, Resident, Told } from './resident.ts'

/** What the runner needs of its host. */
export interface EffectHost {
  readonly ownership: Ownership
  /** Delivers to an actor, loading it when it is not live. */
  deliver(actor: string, delivery: Delivery): Promise<Told>
  /** The actor's log is gone. */
  drop(actor: string): void
}

interface Running {
  readonly abort: AbortController
  readonly actor: string
  readonly shard: number
}

/** Runs effects of durable commits, each under its policy, and brings the result back as an event of the actor. */
export class EffectRunner {
  readonly #catalog: EffectCatalog
  readonly #host: EffectHost
  readonly #clock: Clock
  readonly #log: Logger
  readonly #running = new Map<string, Running>()
  /** Ids of the running effects of each actor that has some. */
  readonly #idsOf = new Map<string, Set<string>>()
  #idle: (() => void)[] = []
  #stopped = false

  constructor(catalog: EffectCatalog, host: EffectHost, clock: Clock, log: Logger) {
    this.#catalog = catalog
    this.#host = host
    this.#clock = clock
    this.#log = log
  }

  get running(): number {
    return this.#running.size
  }

  /** Starts an effect, unless it runs here already. `fresh`: its commit was just made, so nothing of it has happened. */
  start(resident: Resident, id: string, flight: InFlight, fresh: boolean): void {
    if (this.#stopped || this.#running.has(id) || !this.#host.ownership.opens(resident.shard)) return
    const abort = new AbortController()
    const running = { abort, actor: resident.id, shard: resident.shard }
    this.#running.set(id, running)
    this.#idsOf.set(resident.id, (this.#idsOf.get(resident.id) ?? new Set()).add(id))
    void this.#run(resident, id, flight, fresh, abort.signal).finally(() => this.#ended(id, running))
  }

  /** The shards in which an effect runs here. */
  shards(): ReadonlySet<number> {
    return new Set([...this.#running.values()].map(({ shard }) => shard))
  }

  /** The machine ended these effects. */
  abort(ids: readonly string[]): void {
    for (const id of ids) this.#running.get(id)?.abort.abort()
  }

  /**
   * The actor was loaded: whatever else of it still runs here was ended by a commit whose outcome was not known when it
   * was written.
   */
  keepOnly(actor: string, inFlight: Readonly<Record<string, InFlight>>): void {
    this.abort([...(this.#idsOf.get(actor) ?? [])].filter((id) => inFlight[id] === undefined))
  }

  /** Another process runs the effects of this actor now. */
  abandon(actor: string): void {
    for (const id of [...(this.#idsOf.get(actor) ?? [])]) {
      const running = this.#running.get(id)
      if (running !== undefined) this.#abandon(id, running)
    }
  }

  /** Another process runs the effects of these shards now. */
  abandonShards(shards: ReadonlySet<number>): void {
    for (const [id, running] of this.#running) if (shards.has(running.shard)) this.#abandon(id, running)
  }

  /** Starts nothing more, and resolves when what runs has ended or `graceMs` is over; the rest is found again at the next start. */
  async drain(graceMs: number): Promise<void> {
    this.#stopped = true
    if (this.#running.size === 0) return
    await Promise.race([new Promise<void>((resolve) => this.#idle.push(resolve)), pause(this.#clock, graceMs)])
  }

  /** Ends everything at once, without results. */
  kill(): void {
    this.#stopped = true
    for (const { abort } of this.#running.values()) abort.abort()
  }

  /** It may come back at any moment, and runs here again then, beside what is left of this. */
  #abandon(id: string, running: Running): void {
    running.abort.abort()
    this.#ended(id, running)
  }

  #ended(id: string, running: Running): void {
    if (this.#running.get(id) !== running) return
    this.#running.delete(id)
    const ids = this.#idsOf.get(running.actor)
    ids?.delete(id)
    if (ids?.size === 0) this.#idsOf.delete(running.actor)
    if (this.#running.size > 0) return
    for (const resolve of this.#idle) resolve()
    this.#idle = []
  }

  async #run(resident: Resident, id: string, flight: InFlight, fresh: boolean, signal: AbortSignal): Promise<void> {
    const said = { parts: 0 }
    const context = this.#contextOf(resident, id, signal, said)
    const outcome = await this.#outcome(resident, id, flight, fresh, context, said)
    if (outcome === undefined || signal.aborted) return
    if (outcome === 'gone') {
      this.#host.drop(resident.id)
      return
    }
    await this.#bring(resident.id, { ...outcome, cause: `${id}#done`, done: id }, signal)
  }

  async #outcome(
    resident: Resident,
    id: string,
    flight: InFlight,
    fresh: boolean,
    context: EffectContext,
    said: { readonly parts: number },
  ): Promise<EffectOutcome | undefined> {
    const effect = this.#catalog[`${resident.definition.name}.${flight.name}`]
    if (effect === undefined) throw new Error(`no effect ${resident.definition.name}.${flight.name}`)
    if (!fresh && effect.policy !== 'idempotent' && isUncertain(flight)) return { event: effect.unknown(flight.params) }
    if (effect.policy !== 'idempotent' && flight.policy === 'at_most_once') {
      const delivery = { event: { type: '$started' }, cause: `${id}#started`, starts: id }
      const told = await this.#bring(resident.id, delivery, context.signal)
      // no mark, no call: the effect is not in flight any more, or the actor is another process's
      if (told === undefined || told.commit === null || context.signal.aborted) return undefined
      // another process wrote the mark: it may have made the call
      if (told.duplicate && told.commit.epoch !== resident.epoch) {
        return { event: effect.unknown(flight.params) }
      }
    }
    for (let attempt = 0; !context.signal.aborted; attempt++) {
      try {
        return await effect.run(flight.params, context)
      } catch (error) {
        if (context.signal.aborted) return undefined
        this.#log.error({ actorId: resident.id, effect: flight.name, attempt, err: error }, 'effect threw')
        // a stream that has said nothing is begun again: trouble of the store is no outcome (DESIGN "An actor")
        const unsaid = flight.policy === 'stream' && said.parts === 0 && error instanceof StoreUnavailable
        const again = effect.policy === 'idempotent' || flight.policy === 'idempotent' || unsaid
        if (!again) return { event: effect.unknown(flight.params) }
        await pause(this.#clock, backoffMs(attempt, 100, 60_000), context.signal)
      }
    }
    return undefined
  }

  #contextOf(resident: Resident, id: string, signal: AbortSignal, said: { parts: number }): EffectContext {
    return {
      actor: resident.id,
      owner: resident.owner,
      context: resident.state.snapshot.context,
      idempotencyKey: id,
      signal,
      part: (event: StoredEvent, stored: StoredEvent) =>
        this.#bring(resident.id, { event, stored, cause: `${id}#${++said.parts}`, part: id }, signal).then(() => {}),
      aloneAt: this.#host.ownership.aloneFrom(resident.shard),
      delivered: async () => {
        await resident.carriedOut
        // what is left is carried out elsewhere
        signal.throwIfAborted()
      },
    }
  }

  /** Delivers until it is taken, or nobody is there to take it: a store that is away must not lose a result. */
  async #bring(actor: string, delivery: Delivery, signal: AbortSignal): Promise<Told | undefined> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        return await this.#host.deliver(actor, delivery)
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'not_found') return undefined
        this.#log.warn({ actorId: actor, cause: delivery.cause, attempt, err: error }, 'result not taken, trying again')
        await pause(this.#clock, backoffMs(attempt, 50, 5000), signal)
      }
    }
    return undefined
  }
}
