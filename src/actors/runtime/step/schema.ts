import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'

/** A chart's action as written: a name, a name with params, or a function. */
export type WrittenAction = AnyStateMachine['root']['entry'][number]
/** A chart's guard as written. */
export type WrittenGuard = NonNullable<ReturnType<AnyStateMachine['getTransitionData']>[number]['guard']>

/** What an action or guard is called with. */
export interface At {
  readonly context: JsonObject
  readonly event: StoredEvent
}

/** Params as written: fixed, or computed. */
export type Params = object | ((at: At) => unknown) | undefined

/** An action that XState itself resolves, such as `assign`, `enqueueActions` and `raise`. */
export interface BuiltinAction {
  readonly type: string
  /** Of `assign` only. */
  readonly assignment?: ((at: object, params: unknown) => object) | Readonly<Record<string, unknown>>
  readonly execute?: unknown
  /** Of `raise` only: a number of ms, its name, or a function. */
  readonly delay?: unknown
  /** Of actions that send to other actors. */
  readonly retryResolve?: unknown
  readonly resolve: (
    scope: AnyActorScope,
    snapshot: AnyMachineSnapshot,
    at: object,
    params: unknown,
    action: unknown,
    extra: { readonly internalQueue: StoredEvent[]; readonly deferredActorIds: undefined },
  ) => readonly [snapshot: AnyMachineSnapshot, params: unknown, actions?: readonly WrittenAction[]]
}

/** XState types the functions of an AnyStateMachine as `any`; these are the parts that a transition uses. */
export const builtinOf = (implementation: unknown): BuiltinAction | undefined =>
  typeof implementation === 'function' && 'resolve' in implementation
    ? (implementation as unknown as BuiltinAction)
    : undefined

export const paramsIn = (written: WrittenAction | WrittenGuard): Params =>
  typeof written === 'object' && 'params' in written ? (written.params as Params) : undefined

/** The guard's function; undefined for one that is composed of others or reads the state. */
export const predicateOf = (implementation: unknown): ((at: At, params: unknown) => boolean) | undefined =>
  typeof implementation === 'function' && !('check' in implementation)
    ? (implementation as (at: At, params: unknown) => boolean)
    : undefined
