import { assign, type EventObject, type MachineContext } from 'xstate'
import type { At } from './refusal.ts'

/**
 * XState's `assign`, typed for some of a machine's events. The fields that it reads are present, because TypeScript
 * only accepts the action under these events.
 *
 * @example
 * const assigns = assignsOf<Context, Event>()
 * on: { paid: { actions: assigns(({ event }) => ({ receipt: event.receipt })) } }
 */
export const assignsOf =
  <Context extends MachineContext, Event extends EventObject>() =>
  <Some extends Event>(next: (at: At<Context, Some>) => Partial<Context>) =>
    assign<Context, Some, undefined, Event, never>(next)
