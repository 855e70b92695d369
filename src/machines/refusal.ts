import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import type { StoredEvent } from './json.ts'
import type { Refusal } from './vocabulary.ts'

/** An event of one type, and the context in which it arrives. */
export interface At<Context, Event> {
  readonly context: Context
  readonly event: Event
}

/** The refusal of an event in a state: fixed, or computed from context and event; null ignores the event. */
type RefusalRule<Context, Event, Code extends string = string> =
  | Refusal<Code>
  | null
  | ((at: At<Context, Event>) => Refusal<Code> | null)

/** A state's `meta`: refusals of events for which the state has no transition, or none whose guard holds. */
export type Refusing<Context, Event extends { readonly type: string }, Code extends string = string> = {
  readonly refuses?: {
    readonly [Type in Event['type']]?: RefusalRule<Context, Extract<Event, { readonly type: Type }>, Code>
  }
}

/**
 * Returns the refusal of an event that a snapshot did not accept, by the rule of the innermost state that has one. Null
 * when there is no rule, or the rule returns null: then the event is ignored.
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

/**
 * Returns the events that a snapshot accepts of those that its machine refuses in other states, which are what callers
 * can send.
 */
export const acceptedNow = ({ machine, _nodes }: AnyMachineSnapshot): readonly string[] => {
  const refusable = refusableIn(machine.root)
  return [...new Set(_nodes.flatMap(({ ownEvents }) => ownEvents))].filter((type) => refusable.has(type))
}

/** Events that a state, or one within it, refuses for another reason than that its actor is deleted. */
const refusableIn = ({ meta, states }: AnyStateMachine['root']): ReadonlySet<string> => {
  const rules = Object.entries<unknown>(Object(Object(meta).refuses))
  const own = rules.filter(([, rule]) => rule !== null && Object(rule).code !== 'not_found').map(([type]) => type)
  return new Set([...own, ...Object.values(states).flatMap((state) => [...refusableIn(state)])])
}

/** Number of levels in a state's id: XState names states by their path, such as `session.active.idle`. */
const depthOf = (stateId: string): number => stateId.split('.').length
