import { describe, expect, it, vi } from 'vitest'
import { type AnyMachineSnapshot, transition } from 'xstate'
import { charts, definitions } from '#actors/capabilities.ts'
import type { StateValue } from '#machines/definition.ts'
import type { ListedAction } from '#runtime/schema.ts'
import { deepFrozen } from '../support/deep-frozen.ts'
import { outcomeOf } from './outcome.ts'
import { reachedIn } from './reached.ts'
import { walks } from './walks.ts'

// every event in every state: slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const plain = ({ value, context }: AnyMachineSnapshot): { value: StateValue; context: unknown } => ({ value, context })

const said = (next: AnyMachineSnapshot, actions: readonly ListedAction[]): string =>
  JSON.stringify([plain(next), actions.map(({ type, params }) => ({ type, params }))])

/** Asserts that two texts are equal; an assertion for each of hundreds of thousands that are costs more than the steps. */
const same = (found: string, expected: string): void => {
  if (found !== expected) expect(found).toBe(expected)
}

describe.each(walks)('in every state of %s', (_, { machine, input, events, kindOf }) => {
  const reached = reachedIn({ machine, input, events, kindOf })

  it('continues from JSON as from memory, and refuses only events without a transition', () => {
    const taken: string[] = []
    for (const snapshot of reached) {
      const restored = machine.resolveState(JSON.parse(JSON.stringify(plain(snapshot))))
      for (const event of events) {
        const outcome = outcomeOf(machine, snapshot, event)
        same(outcomeOf(machine, restored, event), outcome)
        if (outcome.startsWith('refused ') && snapshot.status !== 'done' && snapshot.can(event)) taken.push(outcome)
      }
    }
    expect(taken).toEqual([])
  })

  it('has the same result for the same event twice, and mutates neither its context nor the event', () => {
    for (const snapshot of reached) {
      deepFrozen(snapshot.context)
      for (const event of events.map(deepFrozen))
        same(said(...transition(machine, snapshot, event)), said(...transition(machine, snapshot, event)))
    }
    expect(reached).not.toEqual([])
  })
})

describe('a machine', () => {
  it.each(definitions.map((definition) => [definition.name, definition] as const))(
    'gives no action a name reserved by XState: %s',
    (_, { machine }) => {
      const own = ['emit', 'raise', 'assign', 'log', 'cancel', 'sendTo', 'forwardTo', 'spawnChild', 'stopChild']
      expect(Object.keys(machine.implementations.actions).filter((name) => own.includes(name))).toEqual([])
    },
  )

  it.each(['session', 'action', 'agent_version', 'delivery', 'erasure', 'tool_call'])(
    'has one final state: %s',
    (name) => {
      const chart = charts.find((each) => each.name === name)
      const states = chart === undefined ? [] : Object.values(chart.machine.root.states)
      expect(states.filter(({ type }) => type === 'final').map(({ key }) => key)).toHaveLength(1)
    },
  )
})
