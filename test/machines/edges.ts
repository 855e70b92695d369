import {
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  createActor,
  isMachineSnapshot,
} from 'xstate'
import type { StoredEvent } from '#storage/ports.ts'
import { reachedIn, type Walk } from './reached.ts'

type StateNode = AnyStateMachine['root']

/** A transition of a machine, with or without a target. */
interface Edge {
  /** `source: event [guard] → target`, unique in its machine. */
  readonly name: string
  readonly definition: AnyTransitionDefinition
}

/** What walks through a machine have seen. */
export interface Coverage {
  readonly edges: readonly Edge[]
  readonly taken: ReadonlySet<string>
  /** Dotted paths of all states, and of those that were entered. */
  readonly states: readonly string[]
  readonly entered: ReadonlySet<string>
  /** Results of each guard. */
  readonly guards: ReadonlyMap<string, ReadonlySet<boolean>>
}

/** Sends every event of the walks to every state that they reach, and records the transitions that XState takes. */
export const coverageOf = (machine: AnyStateMachine, walks: readonly Walk[]): Coverage => {
  const guards = new Map<string, Set<boolean>>(
    Object.keys(machine.implementations.guards).map((name) => [name, new Set()]),
  )
  const observed = machine.provide({ guards: recording(machine.implementations.guards, guards) })
  const edges = edgesOf(observed.root)
  const taken = new Set<AnyTransitionDefinition>()
  const entered = new Set<string>()
  const scope = observingScope(observed, (transitions, snapshot) => {
    for (const transition of transitions) {
      taken.add(transition)
      entered.add(transition.source.path.join('.'))
    }
    for (const node of snapshot._nodes) entered.add(node.path.join('.'))
  })
  for (const walk of walks) {
    const initial = observed.getInitialSnapshot(scope, walk.input)
    for (const path of walk.paths ?? []) {
      path.reduce((snapshot, event) => machineStep(observed, snapshot, { event, scope }), initial)
    }
    const stored = (walk.stored ?? []).map((state) => observed.resolveState(state))
    for (const snapshot of [...stored, ...reachedIn({ ...walk, machine: observed })]) {
      for (const event of walk.events) machineStep(observed, snapshot, { event, scope })
    }
  }
  return {
    edges,
    taken: new Set(edges.filter(({ definition }) => taken.has(definition)).map(({ name }) => name)),
    states: nodesOf(observed.root).map(({ path }) => path.join('.')),
    entered,
    guards,
  }
}

const machineStep = (
  machine: AnyStateMachine,
  snapshot: AnyMachineSnapshot,
  { event, scope }: { readonly event: StoredEvent; readonly scope: AnyActorScope },
): AnyMachineSnapshot => (snapshot.status === 'active' ? machine.transition(snapshot, event, scope) : snapshot)

type Guards = AnyStateMachine['implementations']['guards']

const recording = (guards: Guards, results: ReadonlyMap<string, Set<boolean>>): Guards =>
  Object.fromEntries(
    Object.entries(guards).map(([name, guard]) => [
      name,
      (...args: Parameters<NonNullable<typeof guard>>) => {
        const result = guard?.(...args) ?? false
        results.get(name)?.add(result)
        return result
      },
    ]),
  )

/** A scope for pure transitions whose system reports the transitions of each microstep. */
const observingScope = (
  machine: AnyStateMachine,
  observe: (transitions: readonly AnyTransitionDefinition[], snapshot: AnyMachineSnapshot) => void,
): AnyActorScope => {
  const self = createActor(machine, {
    inspect: (event) => {
      if (event.type === '@xstate.microstep' && isMachineSnapshot(event.snapshot))
        observe(event._transitions, event.snapshot)
    },
  })
  const nothing = (): void => {}
  return {
    self,
    system: self.system,
    ...{ id: '', sessionId: '', logger: nothing, defer: nothing, emit: nothing, stopChild: nothing },
    actionExecutor: nothing,
  }
}

const nodesOf = (node: StateNode): readonly StateNode[] =>
  Object.values(node.states).flatMap((inner: StateNode) => [inner, ...nodesOf(inner)])

const edgesOf = (root: StateNode): readonly Edge[] => {
  const times = new Map<string, number>()
  return [root, ...nodesOf(root)].flatMap((node) =>
    [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map((definition) => {
      const name = nameOf(node, definition)
      const nth = (times.get(name) ?? 0) + 1
      times.set(name, nth)
      return { name: nth === 1 ? name : `${name} (${nth})`, definition }
    }),
  )
}

const nameOf = (node: StateNode, { eventType, guard, target }: AnyTransitionDefinition): string => {
  const event = eventType === '' ? 'always' : eventType.replace(`.${node.id}`, '').replace('xstate.', '')
  const condition =
    guard === undefined ? '' : ` [${typeof guard === 'string' ? guard : 'type' in guard ? guard.type : guard.name}]`
  const to = target?.map(({ path }) => path.join('.')).join(' and ') ?? 'the same state'
  return `${node.path.join('.') || 'any state'}: ${event}${condition} → ${to}`
}
