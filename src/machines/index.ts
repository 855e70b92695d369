/**
 * The part of the engine that describes actors: definitions, the actions that machines share, states as data. Pure, like
 * the machines that import it.
 */

export {
  type Chart,
  isIdOf,
  type MachineDefinition,
  type Migration,
  type RowOf,
  type StateValue,
  type StoredState,
} from './definition.ts'
export { definitionOf } from './definition-of.ts'
export { assignsOf } from './event-actions.ts'
export type { Json, JsonObject, LogEvent, StoredEvent } from './json.ts'
export type { InFlight } from './pending.ts'
export type { At, Refusing } from './refusal.ts'
export { topState } from './state-value.ts'
export { isBusy, isGone, type Shown, statusOf } from './status.ts'
export {
  type AuditLine,
  type Emission,
  type Message,
  maxPerEvent,
  type Notice,
  type Refusal,
  turnText,
  vocabulary,
} from './vocabulary.ts'
