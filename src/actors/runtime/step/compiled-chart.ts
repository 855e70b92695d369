import type { AnyMachineSnapshot, AnyStateMachine, AnyTransitionDefinition } from 'xstate'
import type { StateValue } from '#machines/definition.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import {
  type At,
  type BuiltinAction,
  builtinOf,
  type Params,
  paramsIn,
  predicateOf,
  type WrittenAction,
  type WrittenGuard,
} from './schema.ts'

type Node = AnyStateMachine['root']

/** An action with its implementation looked up. */
export interface CompiledAction {
  readonly type: string
  readonly params: Params
  /** Absent for an action that only declares work. */
  readonly builtin?: BuiltinAction
}

/** A transition from one place: what it exits and enters follows from the chart alone, so it is computed once. */
export interface Way {
  /** Whether the transition can be taken; absent: always. */
  readonly guard?: (context: JsonObject, event: StoredEvent) => boolean
  /** Exits from the inside out, then the transition's own actions, then entries from the outside in. */
  readonly actions: readonly CompiledAction[]
  /** Absent when the transition stays in its place. */
  readonly to?: Place
}

/** An innermost state, and so all states around it: charts with parallel states are not compiled. */
export interface Place {
  /** A snapshot in this place; its context is no actor's. */
  readonly snapshot: AnyMachineSnapshot
  /** Ways by type of event, in the order in which XState tries them: those of inner states first. */
  readonly on: Map<string, readonly Way[]>
  always: readonly Way[]
}

/** Places by their innermost state. */
export type CompiledChart = ReadonlyMap<Node, Place>

/**
 * Compiles a chart into a table of places and ways. A transition then calls only guards and actions, whereas XState
 * derives sets of states from the chart for each microstep (specs/decisions/0006-pure-transition.md). The chart stays
 * XState's; a test compares both in every state of every machine.
 *
 * @returns undefined for a chart with features that the table does not represent: parallel, history and nested final
 *   states, invocations, output, wildcards, composed guards, several targets, actions that send to other actors.
 */
export const compiledChart = (machine: AnyStateMachine): CompiledChart | undefined => {
  const nodes = nodesIn(machine.root)
  if (machine.root.type !== 'compound' || !nodes.every(isPlain)) return undefined
  const places = new Map<Node, Place>()
  for (const node of nodes) {
    if (node.type === 'compound') continue
    const snapshot: AnyMachineSnapshot = machine.resolveState({ value: stateValueOf(node), context: {} })
    places.set(node, { snapshot, on: new Map(), always: [] })
  }
  for (const [leaf, place] of places) fillPlace(machine, places, { leaf, place })
  return places
}

/** A state and those inside it. */
export const nodesIn = (node: Node): readonly Node[] => [node, ...Object.values(node.states).flatMap(nodesIn)]

const isPlain = (node: Node): boolean =>
  (node.type === 'atomic' ||
    node.type === 'compound' ||
    (node.type === 'final' && node.parent?.parent === undefined)) &&
  node.invoke.length === 0 &&
  (node.parent !== undefined || node.output === undefined) &&
  node.initial.actions.length === 0 &&
  [...node.transitions.keys()].every((type) => !type.includes('*')) &&
  transitionsOf(node).every(isPlainTransition) &&
  [...node.entry, ...node.exit, ...transitionsOf(node).flatMap(({ actions }) => actions)].every(
    (action) => compiledAction(node.machine, action).builtin?.retryResolve === undefined,
  )

/** The transitions of a state, delayed and eventless ones included. */
export const transitionsOf = (node: Node): readonly AnyTransitionDefinition[] => [
  ...[...node.transitions.values()].flat(),
  ...(node.always ?? []),
]

const isPlainTransition = ({ target, source, guard }: AnyTransitionDefinition): boolean =>
  (target?.length ?? 0) <= 1 &&
  target?.[0] !== source.machine.root &&
  (guard === undefined || predicateIn(source.machine, guard) !== undefined)

/** XState's state value of an innermost state. */
const stateValueOf = ({ path }: Node): StateValue & (string | object) =>
  path.slice(0, -1).reduceRight<StateValue & (string | object)>((inner, key) => ({ [key]: inner }), path.at(-1) ?? '')

const fillPlace = (
  machine: AnyStateMachine,
  places: CompiledChart,
  { leaf, place }: { readonly leaf: Node; readonly place: Place },
): void => {
  const around = chainOf(leaf)
  const way = (transition: AnyTransitionDefinition): Way => wayOf(machine, places, { leaf, transition })
  for (const type of new Set(around.flatMap((node) => [...node.transitions.keys()])))
    place.on.set(
      type,
      around.flatMap((node) => (node.transitions.get(type) ?? []).map(way)),
    )
  place.always = around.flatMap((node) => (node.always ?? []).map(way))
}

/** The state and those around it, from the inside out. */
const chainOf = (node: Node): readonly Node[] => [node, ...(node.parent === undefined ? [] : chainOf(node.parent))]

const isInside = (node: Node, outer: Node): boolean => node !== outer && chainOf(node).includes(outer)

const wayOf = (
  machine: AnyStateMachine,
  places: CompiledChart,
  { leaf, transition }: { readonly leaf: Node; readonly transition: AnyTransitionDefinition },
): Way => {
  const { exited, entered } = crossed(leaf, transition)
  const last = entered.at(-1) ?? leaf
  const to = last === leaf ? undefined : places.get(last)
  // a machine that ends also leaves the states in which it ends
  const left = to?.snapshot.status === 'done' ? chainOf(last) : []
  const written = [
    ...exited.flatMap(({ exit }) => exit),
    ...transition.actions,
    ...entered.flatMap(({ entry }) => entry),
    ...left.flatMap(({ exit }) => exit),
  ]
  const guard = transition.guard === undefined ? undefined : guardOf(machine, transition.guard)
  return {
    actions: written.map((action) => compiledAction(machine, action)),
    ...(to !== undefined && { to }),
    ...(guard !== undefined && { guard }),
  }
}

interface Crossed {
  /** From the inside out. */
  readonly exited: readonly Node[]
  /** From the outside in. */
  readonly entered: readonly Node[]
}

/**
 * The states that a transition exits and enters: those inside the innermost state that it does not leave. A transition of
 * the whole machine that re-enters leaves even that.
 */
const crossed = (leaf: Node, { target, source, reenter }: AnyTransitionDefinition): Crossed => {
  const [to] = target ?? []
  if (to === undefined) return { exited: [], entered: [] }
  const stays = !reenter && (to === source || isInside(to, source))
  const domain = stays ? source : chainOf(to).find((outer) => outer !== to && isInside(source, outer))
  const isCrossed = (node: Node): boolean => domain === undefined || isInside(node, domain)
  return {
    exited: chainOf(leaf).filter(isCrossed),
    entered: [...chainOf(to).toReversed(), ...initialInside(to)].filter(isCrossed),
  }
}

/** The states that are entered inside a state by default, from the outside in. */
const initialInside = (node: Node): readonly Node[] => {
  const [first] = node.type === 'compound' ? node.initial.target : []
  return first === undefined ? [] : [first, ...initialInside(first)]
}

/** Looks the implementation of an action up. */
export const compiledAction = (machine: AnyStateMachine, action: WrittenAction): CompiledAction => {
  const isInline = typeof action === 'function'
  const name = isInline ? action.name || '(anonymous)' : typeof action === 'string' ? action : action.type
  const builtin = builtinOf(isInline ? action : machine.implementations.actions[name])
  const params = isInline ? undefined : paramsIn(action)
  return builtin === undefined ? { type: name, params } : { type: builtin.type, params, builtin }
}

const predicateIn = (
  machine: AnyStateMachine,
  guard: WrittenGuard,
): ((at: At, params: unknown) => boolean) | undefined =>
  predicateOf(
    typeof guard === 'function'
      ? guard
      : machine.implementations.guards[typeof guard === 'string' ? guard : guard.type],
  )

const guardOf = (machine: AnyStateMachine, written: WrittenGuard): Way['guard'] => {
  const params = paramsIn(written)
  const predicate = predicateIn(machine, written)
  return (context, event) => {
    const at = { context, event }
    return predicate?.(at, typeof params === 'function' ? params(at) : params) ?? false
  }
}
