/**
 * The front door of the package: durable actors from XState machines. Every function and class has an example in its
 * comment.
 */
export type { Migrated, Migration, StateValue, StoredState } from '#machines/definition.ts'
export { assignsOf } from '#machines/event-actions.ts'
export type { At, Refusing } from '#machines/refusal.ts'
export { type Emission, type Message, type Refusal, vocabulary } from '#machines/vocabulary.ts'
export {
  type Json,
  type JsonObject,
  type LogEvent,
  type Storage,
  type StoredEvent,
  StoreUnavailable,
} from '#storage/ports.ts'
export { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
export {
  type Clock,
  derivedId,
  type EffectContext,
  type Logger,
  newId,
  Overloaded,
  Refused,
  refusalIn,
} from '../index.ts'
export type { Inspection } from '../inspect/inspector.ts'
export type { StateOfActor } from './actor-view.ts'
export type { EffectsOfMachines, VersionedMachine } from './definitions.ts'
export { atMostOnce, idempotent, type LostEvent, type Work } from './effects.ts'
export { StreamLost } from './followed-events.ts'
export { openMemoryStorage } from './memory-storage.ts'
export { type ActorSystem, type FollowOptions, type OpenOptions, open, type Sent, type StartOptions } from './open.ts'
