import type { MachineDefinition } from '#machines/definition.ts'
import type { EffectPolicies } from '#machines/vocabulary.ts'
import type { InFlight, JsonObject, StoredEvent } from '#storage/ports.ts'
import type { Owner } from '../step/actor-state.ts'

/** What an effect receives in addition to its params. */
export interface EffectContext {
  readonly actor: string
  readonly owner: Owner
  /** The machine's context when the effect was declared. */
  readonly context: JsonObject
  /** The effect's id. It is the same on every retry, so a service that honours it acts once. */
  readonly idempotencyKey: string
  /** Aborts when the machine ends the effect. */
  readonly signal: AbortSignal
  /**
   * Journals a part of a stream; resolves when the part is durable, or was dropped because the effect was ended.
   * `stored` is the form of the event that the commit keeps.
   */
  readonly part: (event: StoredEvent, stored: StoredEvent) => Promise<void>
  /** Shows text of a stream at once; it becomes durable with the actor's next step, or within a second (`ShownText`). */
  readonly show: (text: string) => void
  /** Time from which no earlier owner of the actor can still be working on it, in ms by the steady clock. */
  readonly aloneAt: number
  /** Resolves when messages of the actor's commits so far are delivered, and its list row and ledger rows written. */
  readonly delivered: () => Promise<void>
}

/**
 * Outcome of an effect: the event for its machine, or `gone` when the actor's log was removed and accepts no events.
 */
export type EffectOutcome =
  | {
      readonly event: StoredEvent
      readonly stored?: StoredEvent
      /** The event gets `delta` and `cuts`: the text that was shown and is not durable. */
      readonly takesText?: boolean
    }
  | 'gone'

/** Runs an effect. External failures are outcomes, with which it resolves; a throw is an internal error. */
type RunEffect = (params: JsonObject, context: EffectContext) => Promise<EffectOutcome>

/** An effect that may be repeated under its id: it is retried until it ends, so its outcome is always known. */
export interface IdempotentEffect {
  readonly policy: 'idempotent'
  readonly run: RunEffect
}

/** An effect that is not repeated once it may have happened (specs/decisions/0002-effects.md). */
export interface UncertainEffect {
  readonly policy: Exclude<EffectPolicies[string], 'idempotent'>
  readonly run: RunEffect
  /** Event for the machine when the effect may have happened but its result is lost: a crash, a cut stream, a throw. */
  readonly unknown: (params: JsonObject) => StoredEvent
  /** The event for the machine when the result is larger than a commit can be. */
  readonly tooLarge: (params: JsonObject) => StoredEvent
  /** Decides whether a stream of text is begun again after a crash. Absent: it never is, and ends with `unknown`. */
  readonly restarted?: (lost: LostStream, context: EffectContext) => Promise<Restart>
  /** Reads ahead what the effect needs to begin again, while its actor is taken over. Never throws. */
  readonly foreseen?: (actor: TakenOverActor) => void
}

/** An actor whose effect was in flight when another process ran it, as of its newest commit. */
type TakenOverActor = Pick<EffectContext, 'actor' | 'owner' | 'context'> & { readonly lastSequence: number }

/** What becomes of a stream that a crash cut: `event` says that it is begun again, or is its outcome. */
export interface Restart {
  readonly again: boolean
  /** Begins it again with what the decision has prepared; the effect's own `run` when absent, and after a throw. */
  readonly run?: RunEffect
  readonly event: StoredEvent
  readonly stored: StoredEvent
}

/** A stream of text that a crash cut. */
interface LostStream {
  /** Text of the stream that is durable. */
  readonly text: string
  /** Text of the turn before this stream. */
  readonly kept: string
  /** Sequence of the first event that is superseded: the one after the event with which the turn began. */
  readonly from: number
}

/** An effect, by its retry policy. */
export type Effect = IdempotentEffect | UncertainEffect

/** Effect implementations by `<machine>.<name>`. */
export type EffectCatalog = Readonly<Record<string, Effect>>

/**
 * Returns `catalog` after checking that it has every effect that these machines can declare, under the declared policy:
 * so a gap shows at start-up and not when the effect is first used.
 * @throws {Error}
 */
export const checkedCatalog = (definitions: readonly MachineDefinition[], catalog: EffectCatalog): EffectCatalog => {
  const declared = definitions.flatMap(({ name, effects }) =>
    Object.entries(effects).map(([effect, policy]) => ({ name: `${name}.${effect}`, policy })),
  )
  const missing = declared.filter(({ name }) => catalog[name] === undefined).map(({ name }) => name)
  if (missing.length > 0) throw new Error(`no effect ${missing.join(', ')}`)
  const other = declared.filter(({ name, policy }) => catalog[name]?.policy !== policy).map(({ name }) => name)
  if (other.length > 0) throw new Error(`another policy than the machine declares: ${other.join(', ')}`)
  return catalog
}

/**
 * Whether an effect found in flight after a crash must not be run again: an at-most-once call that had started, or a
 * stream of which the client already has parts.
 */
export const isUncertain = (flight: InFlight): boolean =>
  (flight.policy === 'at_most_once' && flight.started === true) ||
  (flight.policy === 'stream' && (flight.progress ?? 0) > 0)
