import type { MachineDefinition } from '#machines/definition.ts'
import type { Commit, InFlight } from '#storage/ports.ts'
import { type Clock, pause } from '../clock.ts'
import type { HostTelemetry } from '../host-telemetry.ts'
import type { Logger } from '../logger.ts'
import type { Ownership } from '../recovery/ownership.ts'
import type { Delivered, Delivery, Resident } from '../resident.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import { readOwner, readStoredState } from '../step/actor-state.ts'
import type { ShownText } from '../stream/shown-text.ts'
import { EffectCall, type EffectEnd } from './effect-call.ts'
import type { EffectCatalog } from './effects.ts'
import { endedByMachine } from './ended-by-machine.ts'
import { Suspects } from './suspects.ts'

/** Dependencies of an `EffectRunner` on its host. */
export interface EffectHost {
  readonly ownership: Ownership
  readonly telemetry: HostTelemetry | undefined
  readonly rows: Pick<RowWriter, 'writtenOf' | 'hurry'>
  readonly shown: Pick<ShownText, 'add' | 'drop' | 'newest'>
  resident(actor: string): Resident | undefined
  /** Delivers to an actor, loading it when it is not in memory. */
  deliver(actor: string, delivery: Delivery): Promise<Delivered>
  /** Called when the actor's log was removed. */
  drop(actor: string): void
}

interface Running {
  readonly abort: AbortController
  readonly resident: Resident
  readonly name: string
  readonly actor: string
  readonly shard: number
  /** By the steady clock, in ms. */
  readonly since: number
}

/** An effect that runs for longer than this is shown to operators, in ms. */
const overdueMs = 30 * 60_000

/** An effect that has run for a long time. */
export interface OverdueEffect {
  readonly id: string
  readonly name: string
  readonly resident: Resident
  readonly runsMs: number
}

/** Dependencies of an `EffectRunner`. */
export interface EffectRunnerParts {
  readonly catalog: EffectCatalog
  readonly host: EffectHost
  readonly clock: Clock
  readonly log: Logger
}

/** Runs effects of durable commits, each under its policy, and delivers the result as an event of the actor. */
export class EffectRunner {
  readonly #catalog: EffectCatalog
  readonly #host: EffectHost
  readonly #clock: Clock
  readonly #log: Logger
  readonly #running = new Map<string, Running>()
  /** Ids of running effects, by actor. */
  readonly #idsOf = new Map<string, Set<string>>()
  readonly #suspects = new Suspects()
  #idle: (() => void)[] = []
  #stopped = false

  constructor({ catalog, host, clock, log }: EffectRunnerParts) {
    this.#catalog = catalog
    this.#host = host
    this.#clock = clock
    this.#log = log
  }

  get running(): number {
    return this.#running.size
  }

  /**
   * Starts an effect, unless it already runs here. `fresh`: its commit was just made, so the effect has not run before.
   */
  start(
    resident: Resident,
    { id, flight, fresh }: { readonly id: string; readonly flight: InFlight; readonly fresh: boolean },
  ): void {
    const isHeld = this.#stopped || resident.parked !== undefined || this.#running.has(id)
    if (isHeld || !this.#host.ownership.opens(resident.shard)) return
    const abort = new AbortController()
    const { id: actor, shard } = resident
    const running = { abort, resident, name: flight.name, actor, shard, since: this.#clock.steady() }
    this.#running.set(id, running)
    this.#idsOf.set(resident.id, (this.#idsOf.get(resident.id) ?? new Set()).add(id))
    const parts = {
      catalog: this.#catalog,
      host: this.#host,
      clock: this.#clock,
      log: this.#log,
      suspects: this.#suspects,
    }
    const run = () => new EffectCall(parts, { resident, id, flight, fresh }, abort).run()
    void this.#measured(resident, flight.name, run).finally(() => this.#ended(id, running))
  }

  /** Lets the effects in flight of an actor that is taken over read ahead what they need to begin again. */
  foresee({ name: machine }: MachineDefinition, commit: Commit): void {
    for (const { name } of Object.values(commit.in_flight)) {
      const effect = this.#catalog[`${machine}.${name}`]
      if (effect === undefined || effect.policy === 'idempotent' || effect.foreseen === undefined) continue
      const { actor, last_sequence: lastSequence } = commit
      effect.foreseen({ actor, owner: readOwner(commit), context: readStoredState(commit).context, lastSequence })
    }
  }

  /** Whether an effect runs here, or waits for its turn. */
  runs(id: string): boolean {
    return this.#running.has(id)
  }

  /** The shards in which an effect runs here. */
  shards(): ReadonlySet<number> {
    return new Set([...this.#running.values()].map(({ shard }) => shard))
  }

  /** Aborts effects that the machine ended. */
  abort(ids: readonly string[]): void {
    for (const id of ids) this.#running.get(id)?.abort.abort(endedByMachine)
  }

  /** Aborts effects of a reloaded actor that are no longer in flight: a commit of unknown outcome had ended them. */
  keepOnly(actor: string, inFlight: Readonly<Record<string, InFlight>>): void {
    this.abort([...(this.#idsOf.get(actor) ?? [])].filter((id) => inFlight[id] === undefined))
  }

  /** Returns the effects that have run for longer than `overdueMs`. */
  overdue(): readonly OverdueEffect[] {
    const now = this.#clock.steady()
    return [...this.#running]
      .map(([id, { name, resident, since }]) => ({ id, name, resident, runsMs: now - since }))
      .filter(({ runsMs }) => runsMs > overdueMs)
  }

  /** Aborts an effect here, so that it can be started again. */
  forget(id: string): void {
    const running = this.#running.get(id)
    if (running !== undefined) this.#abandon(id, running)
  }

  /** Aborts the effects of an actor that another process runs now. */
  abandon(actor: string): void {
    for (const id of [...(this.#idsOf.get(actor) ?? [])]) this.forget(id)
  }

  /** Aborts the effects of shards that another process holds now. */
  abandonShards(shards: ReadonlySet<number>): void {
    for (const [id, running] of this.#running) if (shards.has(running.shard)) this.#abandon(id, running)
  }

  /**
   * Starts nothing more; resolves when running effects have ended or after `graceMs`. The next start resumes the rest.
   */
  async drain(graceMs: number): Promise<void> {
    this.#stopped = true
    if (this.#running.size === 0) return
    await Promise.race([new Promise<void>((resolve) => this.#idle.push(resolve)), pause(this.#clock, graceMs)])
  }

  /** Aborts everything at once, without results. */
  kill(): void {
    this.#stopped = true
    for (const { abort } of this.#running.values()) abort.abort()
  }

  /**
   * Aborts and removes the effect: the shard may return at any moment, and the effect then has to start here again,
   * even while this run is still ending.
   */
  #abandon(id: string, running: Running): void {
    running.abort.abort()
    this.#host.shown.drop(running.actor)
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

  /** Runs the effect with metrics, and in its own trace span when tracing is on. */
  async #measured(resident: Resident, name: string, run: () => Promise<EffectEnd>): Promise<void> {
    const { telemetry } = this.#host
    if (telemetry === undefined) return void (await run())
    const full = `${resident.definition.name}.${name}`
    const startedMs = performance.now()
    const parent = telemetry.spanOf?.(resident.id)
    const attributes = { 'troupe.actor': resident.id, 'troupe.effect': full }
    const options = { attributes, ...(parent !== undefined && { parent }) }
    const end = await (telemetry.tracer === null ? run() : telemetry.tracer.run(`effect ${full}`, options, run))
    telemetry.effect(full, end, performance.now() - startedMs)
  }
}
