import type { AnyStateMachine } from 'xstate'
import type { JsonObject, LogEvent, Storage, StoredEvent } from '#storage/ports.ts'
import { type Clock, systemClock } from '../clock.ts'
import { erasedActors } from '../erasure/erased-actors.ts'
import { derivedId, newId } from '../ids.ts'
import { type Inspection, inspector } from '../inspect/inspector.ts'
import type { Logger } from '../logger.ts'
import { type Refuse, Refused, refused } from '../refused.ts'
import { startRuntime } from '../runtime.ts'
import { epochs } from '../stuck/start-number.ts'
import { stuckRows } from '../stuck/stuck.ts'
import { ActorView, type StateOfActor } from './actor-view.ts'
import { catalogOf, definitionsOf, type EffectsOfMachines, type VersionedMachine } from './definitions.ts'
import { followedEvents } from './followed-events.ts'
import { checkDraft, checkedEvent, checkPlain } from './plain-data.ts'

/** Options of `open`. */
export interface OpenOptions {
  readonly storage: Storage
  /** XState machines, made by `setup`. The id of a machine is its name, and the prefix of its actors' ids. */
  readonly machines: readonly (AnyStateMachine | VersionedMachine)[]
  readonly effects?: EffectsOfMachines
  /** A pino logger, or one with the same four methods; absent: warnings and errors go to the console. */
  readonly log?: Logger
  readonly clock?: Clock
}

/** Where a stream of events begins. */
export interface FollowOptions {
  /** Sequence of the last event that the reader has; 0 when absent: the whole log. */
  readonly after?: number
}

/** The actor to start. */
export interface StartOptions {
  /** Input of the machine: data that JSON can express. */
  readonly input?: JsonObject
  /** Starts one actor per key: a repeated start returns the id of the existing one. */
  readonly key?: string
}

/** Outcome of a message. */
export interface Sent {
  /** False when the event changed nothing, because the state has no transition for it or it had arrived before. */
  readonly isTaken: boolean
}

/** Actors of a store, running in this process. */
export interface ActorSystem {
  /** Starts an actor of a machine, and returns its id once it is stored. @throws {StoreUnavailable} */
  start(machine: string, options?: StartOptions): Promise<string>
  /**
   * Sends an event, and resolves when what follows from it is stored.
   *
   * @param key the event is processed once per key, however often it is sent.
   * @throws {Refused} `not_found`; `actor_parked`; what the machine's `meta.refuses` says; `internal_error` when the
   *   machine throws at it. @throws {TypeError} for an event that JSON cannot express, or whose type begins with `$` or
   *   `xstate.`. @throws {StoreUnavailable}
   */
  send(id: string, event: StoredEvent, key?: string): Promise<Sent>
  /**
   * Runs the effect again for which an actor is parked; does nothing when it is not parked.
   *
   * @throws {Refused} `not_found` @throws {StoreUnavailable}
   */
  retry(id: string): Promise<void>
  /** Reads the state of an actor. @throws {Refused} `not_found` */
  read(id: string): Promise<StateOfActor>
  /**
   * Iterates over the events that an actor's machine journals: those of the log, then new ones, until the caller stops.
   *
   * @throws {Refused} `not_found`; {StreamLost} (rejects)
   */
  follow(id: string, options?: FollowOptions): AsyncGenerator<LogEvent, void>
  /** Serves the charts of the machines on a port of this computer, with the state of any actor in them. */
  inspect(options?: { readonly port?: number }): Promise<Inspection>
  /** Resolves when another process has taken over the store: this one writes nothing any more. */
  readonly replaced: Promise<void>
  /** Waits up to `graceMs` for running effects, and closes the store. What is left goes on at the next `open`. */
  close(graceMs?: number): Promise<void>
}

/** The owner of all actors: a package has no tenants. */
const project = 'local'

const usualGraceMs = 5_000

/**
 * Runs XState machines as actors that outlive their process: each step is one durable commit, before anything that
 * follows from it happens. Work that an earlier process left unfinished is resumed. The process goes on running until
 * `close`.
 *
 * @throws {TypeError} when an action of a machine has no effect, or its chart has what does not run here. @throws {StoreUnavailable}
 *
 * @example
 * const system = await open({
 *   storage: openSqliteStorage({ path: 'orders.db' }),
 *   machines: [order],
 *   effects: { order: { charge: idempotent(charge) } },
 * })
 * const id = await system.start('order', { input: { amount: 30 } })
 * await system.send(id, { type: 'approve' })
 */
export const open = async ({
  storage,
  machines,
  effects = {},
  log = consoleLog,
  clock = systemClock,
}: OpenOptions): Promise<ActorSystem> => {
  const definitions = definitionsOf(machines, effects)
  await storage.records.prepare([epochs, stuckRows, erasedActors])
  const catalog = catalogOf(effects)
  const runtime = await startRuntime({
    storage,
    definitions,
    effects: () => catalog,
    rows: {},
    clock,
    log,
    refuse: explained,
    verify: checkDraft,
  })
  const { host } = runtime
  // the runtime's own timers let a process end
  const running = setInterval(() => {}, 2 ** 30)
  const view = new ActorView(host)
  const inspections: Inspection[] = []
  return {
    start: async (machine, { input = {}, key } = {}) => {
      const kind = definitions.find(({ name }) => name === machine)
      if (kind === undefined) throw new Refused({ code: 'not_found', message: `no machine has the id ${machine}` })
      checkPlain(input, 'input')
      const id = key === undefined ? newId(machine) : derivedId(machine, 1, key)
      const owner = { project, tenant: null, user: null, createdAt: clock.now() }
      await host.create({ kind, id, owner, input: structuredClone(input), cause: `start:${id}` })
      return id
    },
    send: async (id, event, key = newId('msg')) => {
      const checked = checkedEvent(event)
      await host.coming(id)
      const { commit, duplicate } = await host.deliver(id, { event: checked, cause: `sent:${key}` })
      return { isTaken: commit !== null && !duplicate }
    },
    retry: async (id) => {
      const parked = (await view.resident(id)).state.parked
      if (parked === undefined) return
      const { kind, effect: subject } = parked
      await host.deliver(id, { event: { type: '$retry', stuck: { kind, subject } }, cause: newId('retry') })
    },
    read: (id) => view.read(id),
    follow: async function* followed(id, { after = 0 } = {}) {
      await view.resident(id)
      yield* followedEvents(host.feed.follow(id, after, { at: 'never' }))
    },
    inspect: async ({ port = 0 } = {}) => {
      const inspection = await inspector({ charts: definitions, read: (id) => view.read(id) }, port)
      inspections.push(inspection)
      return inspection
    },
    replaced: runtime.replaced,
    close: async (graceMs = usualGraceMs) => {
      clearInterval(running)
      await Promise.all(inspections.map((each) => each.close()))
      await runtime.drain(graceMs)
      await storage.close()
    },
  }
}

/** Creates refusals, with a sentence for the codes that the host gives by itself. */
const explained: Refuse = (refusal) => {
  const message = sentences[refusal.code]
  return refused({ ...(message !== undefined && { message }), ...refusal })
}

const sentences: Readonly<Record<string, string>> = {
  not_found: 'there is no such actor',
  actor_parked: 'the actor is parked: read says why, and retry runs its effect again',
}

const quiet = (): void => {}

/** Logs warnings and errors to the console. */
const consoleLog: Logger = {
  debug: quiet,
  info: quiet,
  warn: (facts, message) => console.warn(message, facts),
  error: (facts, message) => console.error(message, facts),
}
