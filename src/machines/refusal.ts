import type { AnyMachineSnapshot } from 'xstate'
import type { StoredEvent } from '#specs/dsl/json.ts'
import type { Refusal } from './vocabulary.ts'

/** An event of one type in a context. */
export interface At<Context, Event> {
  readonly context: Context
  readonly event: Event
}

/** Why a state does not take an event, as it is or by what it depends on; null ignores the event. */
export type RefusalRule<Context, Event> = Refusal | null | ((at: At<Context, Event>) => Refusal | null)

/** What a state's `meta` says of events for which it has no transition, or none whose guard holds. */
export type Refusing<Context, Event extends { readonly type: string }> = {
  readonly refuses?: {
    readonly [Type in Event['type']]?: RefusalRule<Context, Extract<Event, { readonly type: Type }>>
  }
}

/**
 * What an event that a snapshot did not take is answered with: the rule of the innermost state that has one. Null when
 * none has, or the rule says so: then the event is ignored.
 */
export const refusalOf = (snapshot: AnyMachineSnapshot, event: StoredEvent): Refusal | null => {
  const innermostFirst = Object.entries<Refusing<unknown, StoredEvent> | undefined>(snapshot.getMeta()).sort(
    ([left], [right]) => depthOf(right) - depthOf(left),
  )
  for (const [, meta] of innermostFirst) {
    const rule = meta?.refuses?.[event.type]
    if (rule !== undefined) return typeof rule === 'function' ? rule({ context: snapshot.context, event }) : rule
  }
  return null
}

/** XState names a state by its path: `session.active.idle`. */
const depthOf = (stateId: string): number => stateId.split('.').length
