import type { ContextFrom } from 'xstate'
import type { MachineDefinition, StateValue, StoredState } from '#machines/definition.ts'
import type { Abortion, AuditLine, Emission, Message, Notice } from '#machines/vocabulary.ts'
import type { Json, JsonObject, StoredEvent } from '#storage/ports.ts'

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is an event: an object with a type. */
export const isEvent = (value: unknown): value is StoredEvent => isObject(value) && typeof value.type === 'string'

/** Whether a value can be an XState state value. */
export const isStateValue = (value: Json | undefined): value is StateValue & Json =>
  typeof value === 'string' || (isObject(value) && Object.values(value).every(isStateValue))

/** An action as returned by XState's pure transition. */
export interface ListedAction {
  readonly type: string
  readonly params: unknown
}

/**
 * Params of the shared actions. XState types them loosely once a machine is an AnyStateMachine, so they are cast here,
 * in one place; the machines themselves are checked against `vocabulary`.
 */
export const paramsOf = {
  journal: (action: ListedAction) => action.params as { events: readonly Emission[] },
  send: (action: ListedAction) => action.params as { messages: readonly Message[] },
  notify: (action: ListedAction) => action.params as Notice,
  audit: (action: ListedAction) => action.params as { lines: readonly AuditLine[] },
  abort: (action: ListedAction) => action.params as Abortion,
  raise: (action: ListedAction) => action.params as { id?: string; delay?: number; event: StoredEvent },
  cancel: (action: ListedAction) => action.params as { sendId: string },
  effect: (action: ListedAction) => action.params as JsonObject,
}

/**
 * A machine's context read from a commit, with the machine's type. Only the machine writes it, and its version
 * guarantees the shape: an older version is migrated first (activation.ts).
 */
export const contextOf = <D extends Pick<MachineDefinition, 'machine'>>(
  _definition: D,
  { context }: Pick<StoredState, 'context'>,
): ContextFrom<D['machine']> => context as unknown as ContextFrom<D['machine']>
