import type { MachineDefinition } from '#machines/definition.ts'
import type { EffectPolicies } from '#machines/vocabulary.ts'
import type { InFlight, JsonObject, StoredEvent } from '#storage/ports.ts'
import type { Owner } from '../step/actor-state.ts'

/** What an effect is given beside its params. */
export interface EffectContext {
  readonly actor: string
  readonly owner: Owner
  /** The machine's context when the effect was declared. */
  readonly context: JsonObject
  /** The effect's id: the same on every retry, so whatever honours it acts once. */
  readonly idempotencyKey: string
  /** Aborts when the machine ends the effect. */
  readonly signal: AbortSignal
  /**
   * Journals a part of a stream; resolves when it is durable (or dropped because the effect was ended).
   * `stored` is what the commit keeps as its event.
   */
  readonly part: (event: StoredEvent, stored: StoredEvent) => Promise<void>
  /** From when on no earlier owner of the actor can still be at work on it, in ms by the steady clock. */
  readonly aloneAt: number
  /** Resolves when the messages of the actor's commits so far are delivered, and its row and those that they leave written. */
  readonly delivered: () => Promise<void>
}

/** What an effect's end reports to its machine. `gone`: the actor's log was removed and takes no event any more. */
export type EffectOutcome = { readonly event: StoredEvent; readonly stored?: StoredEvent } | 'gone'

/** Resolves with what happened, failures of the world included. A throw is trouble of ours. */
export type RunEffect = (params: JsonObject, context: EffectContext) => Promise<EffectOutcome>

/** An effect that may be repeated under its id: it is run again until it ends, and its outcome is always known. */
export interface IdempotentEffect {
  readonly policy: 'idempotent'
  readonly run: RunEffect
}

/** An effect that is not repeated once it may have happened (specs/decisions/0002-effects.md). */
export interface UncertainEffect {
  readonly policy: Exclude<EffectPolicies[string], 'idempotent'>
  readonly run: RunEffect
  /** What the machine hears when the effect may have happened and its result is lost: a crash, a cut stream, a throw. */
  readonly unknown: (params: JsonObject) => StoredEvent
  /** What the machine hears when the result is larger than a commit can be. */
  readonly tooLarge: (params: JsonObject) => StoredEvent
}

/** One effect, by how it may be repeated. */
export type Effect = IdempotentEffect | UncertainEffect

/** Effects by `<machine>.<name>`. */
export type EffectCatalog = Readonly<Record<string, Effect>>

/**
 * `catalog`, when it has all that these machines can declare, each under the policy that the machine declares: a gap shows at
 * the start, not when the effect is declared. @throws {Error}
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
 * Whether an effect found in flight after a crash must not be run again: an at-most-once call that had begun, or
 * a stream of which the client has parts already.
 */
export const isUncertain = (flight: InFlight): boolean =>
  (flight.policy === 'at_most_once' && flight.started === true) ||
  (flight.policy === 'stream' && (flight.progress ?? 0) > 0)
