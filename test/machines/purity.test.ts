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

describe.each(walks)('in every state of %s', (_, { machine, input, events, kindOf }) => {
  const reached = reachedIn({ machine, input, events, kindOf })

  it('continues from JSON as from memory', () => {
    for (const snapshot of reached) {
      const restored = machine.resolveState(JSON.parse(JSON.stringify(plain(snapshot))))
      for (const event of events) {
        expect(outcomeOf(machine, restored, event)).toBe(outcomeOf(machine, snapshot, event))
      }
    }
  })

  it('refuses only events without a transition', () => {
    const taken = reached.flatMap((snapshot) =>
      events.filter(
        (event) =>
          snapshot.status !== 'done' &&
          snapshot.can(event) &&
          outcomeOf(machine, snapshot, event).startsWith('refused '),
      ),
    )
    expect(taken).toEqual([])
  })

  it('has the same result for the same event twice, and mutates neither its context nor the event', () => {
    for (const snapshot of reached) {
      deepFrozen(snapshot.context)
      for (const event of events.map(deepFrozen)) {
        expect(said(...transition(machine, snapshot, event))).toBe(said(...transition(machine, snapshot, event)))
      }
    }
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
