import { assign, type EventObject, type MachineContext } from 'xstate'
import type { At } from './refusal.ts'

/**
 * XState's `assign` for a part of a machine's events: what it reads of the event is there, since TypeScript lets the
 * action stand under these events only.
 */
export const assignsOf =
  <Context extends MachineContext, Event extends EventObject>() =>
  <Some extends Event>(next: (at: At<Context, Some>) => Partial<Context>) =>
    assign<Context, Some, undefined, Event, never>(next)
