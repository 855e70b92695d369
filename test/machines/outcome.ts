import { type AnyMachineSnapshot, type AnyStateMachine, transition } from 'xstate'
import type { StateValue } from '#machines/definition.ts'
import { refusalOf } from '#machines/refusal.ts'
import { type ListedAction, paramsOf } from '#runtime/schema.ts'
import type { StoredEvent } from '#storage/ports.ts'

/** `active.working.thinking` for `{ active: { working: 'thinking' } }`. */
export const pathOf = (value: StateValue): string =>
  typeof value === 'string'
    ? value
    : Object.entries(value)
        .map(([state, inner]) => (inner === undefined ? state : `${state}.${pathOf(inner)}`))
        .join(' and ')

const textOf = (action: ListedAction): readonly string[] => {
  switch (action.type) {
    case 'journal':
      return paramsOf.journal(action).events.map((event) => event.event_type)
    case 'send':
      return paramsOf.send(action).messages.map(({ to, event }) => `${event.type}>${to}`)
    case 'abort':
      return ['abort']
    case 'audit':
      return paramsOf.audit(action).lines.map(() => 'audit!')
    case 'xstate.raise':
      return paramsOf.raise(action).delay === undefined ? [] : ['remind']
    case 'xstate.cancel':
      return ['forget']
    default:
      return [`${action.type}!`]
  }
}

/**
 * What an event does, in one line: `ignored`, `refused <code>`, or the next state and its actions in order: events of
 * the log by name, `message>receiver`, `effect!`, `abort`, `remind` and `forget` for reminders.
 */
export const outcomeOf = (machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: StoredEvent): string => {
  const [next, listed] = snapshot.status === 'done' ? [snapshot, []] : transition(machine, snapshot, event)
  const actions: readonly ListedAction[] = listed
  if (next === snapshot && actions.length === 0) return notTaken(snapshot, event)
  const requested = actions.flatMap(textOf)
  return [pathOf(next.value), ...(requested.length > 0 ? [requested.join(' ')] : [])].join(': ')
}

const notTaken = (snapshot: AnyMachineSnapshot, event: StoredEvent): string => {
  const refusal = refusalOf(snapshot, event)
  return refusal === null ? 'ignored' : `refused ${refusal.code}`
}

/** The state after `events`, each of which has to be accepted. */
export const after = (
  machine: AnyStateMachine,
  start: AnyMachineSnapshot,
  ...events: readonly StoredEvent[]
): AnyMachineSnapshot => {
  let snapshot = start
  for (const event of events) {
    const outcome = outcomeOf(machine, snapshot, event)
    if (outcome === 'ignored' || outcome.startsWith('refused')) {
      throw new Error(`${event.type} in ${pathOf(snapshot.value)} is ${outcome}`)
    }
    ;[snapshot] = transition(machine, snapshot, event)
  }
  return snapshot
}

/** Paths of all states in which a machine can rest: leaves that no `always` leaves at once. */
export const restingStates = (machine: AnyStateMachine): readonly string[] => {
  const leaves = (node: AnyStateMachine['root']): readonly string[] => {
    const inner: readonly AnyStateMachine['root'][] = Object.values(node.states)
    if (inner.length > 0) return inner.flatMap(leaves)
    return node.always !== undefined && node.always.length > 0 ? [] : [node.path.join('.')]
  }
  return leaves(machine.root)
}
