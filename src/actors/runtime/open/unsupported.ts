import type { AnyStateMachine } from 'xstate'
import { vocabulary } from '#machines/vocabulary.ts'
import { compiledAction, nodesIn, transitionsOf } from '../step/compiled-chart.ts'
import type { WrittenAction, WrittenGuard } from '../step/schema.ts'

type Node = AnyStateMachine['root']

/** XState's actions that a pure transition carries out, or that become reminders. */
const carriedOut: readonly string[] = ['xstate.assign', 'xstate.raise', 'xstate.cancel', 'xstate.enqueueActions']

/**
 * Returns the parts of a chart that cannot run here, each with its state: found before an actor starts, and not when
 * it comes to the state. What `enqueueActions` adds is only known in a step, which then fails.
 */
export const unsupportedIn = (
  machine: AnyStateMachine,
  effects: Readonly<Record<string, unknown>>,
): readonly string[] =>
  nodesIn(machine.root).flatMap((node) => {
    const transitions = transitionsOf(node)
    const initial = node.type === 'compound' ? node.initial.actions : []
    const actions = [...node.entry, ...node.exit, ...initial, ...transitions.flatMap((each) => each.actions)]
    const found = [
      ...(node.invoke.length > 0 ? ['invoke'] : []),
      ...actions.flatMap((action) => inAction(node, action, effects)),
      ...transitions.flatMap(({ guard }) => (guard === undefined ? [] : inGuard(node, guard))),
    ]
    return [...new Set(found)].map((part) => `${part} in ${node.id}`)
  })

const inAction = ({ machine }: Node, action: WrittenAction, effects: Readonly<Record<string, unknown>>): string[] => {
  const { type, builtin } = compiledAction(machine, action)
  if (builtin === undefined) {
    if (typeof action === 'function') return ['a function as an action, which only has a name in setup']
    return Object.hasOwn(vocabulary, type) || Object.hasOwn(effects, type)
      ? []
      : [`the action ${type}, which has no effect`]
  }
  if (!carriedOut.includes(type)) return [type.replace('xstate.', '')]
  const { delay } = builtin
  return typeof delay === 'string' && !Object.hasOwn(machine.implementations.delays, delay)
    ? [`the unknown delay ${delay}`]
    : []
}

const inGuard = ({ machine }: Node, guard: WrittenGuard): string[] => {
  if (typeof guard === 'function') return []
  const name = typeof guard === 'string' ? guard : guard.type
  return Object.hasOwn(machine.implementations.guards, name) ? [] : [`the unknown guard ${name}`]
}
