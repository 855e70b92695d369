export { type Clock, pause, systemClock } from './clock.ts'
export type {
  EffectCatalog,
  EffectContext,
  EffectOutcome,
  IdempotentEffect,
  UncertainEffect,
} from './effects/effects.ts'
export { endedByMachine } from './effects/ended-by-machine.ts'
export { derivedId, isId, newId, timeOfId } from './ids.ts'
export type { Logger } from './logger.ts'
export type { EventSink, EventStream, StreamControl, StreamEnding } from './messages/event-stream.ts'
export { Overloaded } from './overloaded.ts'
export { Refused, refusalIn } from './refused.ts'
export type { Delivered } from './resident.ts'
export { contextOf, isEvent, isObject } from './schema.ts'
export { type Owner, storedState } from './step/actor-state.ts'
