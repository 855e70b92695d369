import type { AnyStateMachine } from 'xstate'
import type { StatusRule } from '#machines/status.ts'

/** A state, or a pseudo-state: the start of a region (`initial`), or one that stands for any state (`any`). */
export interface ChartState {
  /** Dotted path, e.g. `active.idle`; that of a pseudo-state ends in `@initial` or `@any`. */
  readonly id: string
  readonly label: string
  readonly kind: 'state' | 'region' | 'final' | 'initial' | 'any'
  readonly states: readonly ChartState[]
}

/** All transitions from one state to another, drawn as one arrow. */
export interface ChartTransition {
  readonly from: string
  readonly to: string
  /** Events, `after <delay>`, or the guard of an eventless transition. */
  readonly labels: readonly string[]
  /** The events with their guards, for a tooltip: `event [guard]`. */
  readonly details: readonly string[]
}

/** A machine's state chart, as a picture shows it. */
export interface ChartGraph {
  readonly states: readonly ChartState[]
  readonly transitions: readonly ChartTransition[]
}

type StateNode = AnyStateMachine['root']
type Definition = StateNode['always'] extends readonly (infer T)[] | undefined ? T : never

/**
 * Returns the states of a machine and the transitions between them. Transitions without a target (a refusal, an
 * emission) are left out.
 */
export function chartGraph(machine: AnyStateMachine): ChartGraph {
  const ways = allNodes(machine.root).flatMap(waysFrom)
  const needsAny = ways.some(({ from }) => from === anyState)
  const any: ChartState = { id: anyState, label: 'any state', kind: 'any', states: [] }
  return {
    states: [...childrenOf(machine.root), ...(needsAny ? [any] : [])],
    transitions: [...entries(machine.root), ...merged(ways)],
  }
}

const anyState = '@any'

const allNodes = (node: StateNode): readonly StateNode[] => [node, ...Object.values(node.states).flatMap(allNodes)]

const pathOf = (node: StateNode): string => node.path.join('.')

const initialOf = (node: StateNode): string => `${pathOf(node)}@initial`

function childrenOf(node: StateNode): readonly ChartState[] {
  const states = Object.values(node.states).map((child) => chartState(child))
  if (states.length === 0 || node.type === 'parallel') return states
  return [{ id: initialOf(node), label: '', kind: 'initial', states: [] }, ...states]
}

function chartState(node: StateNode): ChartState {
  const states = childrenOf(node)
  const kind = states.length > 0 ? 'region' : node.type === 'final' ? 'final' : 'state'
  return { id: pathOf(node), label: labelOf(node), kind, states }
}

/** The state's name, and the status that the API shows in it where that has another name. */
function labelOf({ key, meta }: StateNode): string {
  const status: StatusRule = meta?.status
  if (status === undefined || status === null || status === key) return key
  return `${key} (${typeof status === 'string' ? status : status.oneOf.join(' or ')})`
}

/** Transitions from each region's initial pseudo-state to its first state. */
const entries = (node: StateNode): readonly ChartTransition[] =>
  allNodes(node).flatMap((each) => {
    const target = each.type === 'compound' ? each.initial?.target?.[0] : undefined
    return target === undefined ? [] : [{ from: initialOf(each), to: pathOf(target), labels: [], details: [] }]
  })

function waysFrom(node: StateNode): readonly ChartTransition[] {
  const onEvents = Array.from(node.transitions.values()).flat()
  return [...onEvents, ...(node.always ?? [])].flatMap((definition) => {
    const target = definition.target?.[0]
    return target === undefined ? [] : [way(node, target, definition)]
  })
}

function way(node: StateNode, target: StateNode, definition: Definition): ChartTransition {
  const event = eventName(definition.eventType, node)
  const guard = guardName(definition.guard)
  return {
    from: pathOf(node) || anyState,
    to: pathOf(target),
    labels: [event ?? guard ?? 'otherwise'],
    details: [[event, guard && `[${guard}]`].filter(Boolean).join(' ') || 'otherwise'],
  }
}

/**
 * Returns the name of an event; null for an eventless transition. XState names a delayed one
 * `xstate.after.<delay>.<state id>`.
 */
function eventName(type: string, node: StateNode): string | null {
  if (type === '') return null
  const delayed = /^xstate\.after\.(.*)$/.exec(type)?.[1]
  return delayed === undefined ? type : `after ${delayed.replace(`.${node.id}`, '')}`
}

function guardName(guard: unknown): string | undefined {
  if (typeof guard === 'string') return guard
  const named = typeof guard === 'object' && guard !== null && 'type' in guard ? guard.type : undefined
  return typeof named === 'string' ? named : undefined
}

/** Merges all transitions between the same two states into one. */
function merged(ways: readonly ChartTransition[]): readonly ChartTransition[] {
  const byPair = new Map<string, ChartTransition>()
  for (const each of ways) {
    const pair = `${each.from} ${each.to}`
    const before = byPair.get(pair)
    byPair.set(pair, before === undefined ? each : joined(before, each))
  }
  return [...byPair.values()]
}

const joined = (first: ChartTransition, second: ChartTransition): ChartTransition => ({
  ...first,
  labels: [...new Set([...first.labels, ...second.labels])],
  details: [...first.details, ...second.details],
})
