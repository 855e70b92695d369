import { describe, expect, it, vi } from 'vitest'
import { type AnyMachineSnapshot, type AnyStateMachine, transition } from 'xstate'
import { charts, definitions } from '#actors/capabilities.ts'
import type { StateValue } from '#machines/definition.ts'
import { refusalOf } from '#machines/refusal.ts'
import type { ListedAction } from '#runtime/schema.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { deepFrozen } from '../support/deep-frozen.ts'
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

/** What an event does to a snapshot: all that it leads to, or why it is refused. */
const stepOf = (machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: StoredEvent) => {
  const [next, actions] = transition(machine, snapshot, event)
  if (next !== snapshot || actions.length > 0) return { text: said(next, actions), isRefused: false }
  const refusal = refusalOf(snapshot, event)
  return { text: `not taken ${refusal?.code}`, isRefused: refusal !== null }
}

describe.each(walks)('in every state of %s', (_, { machine, input, events, kindOf }) => {
  it('has the same result from JSON as from memory, mutates neither its context nor the event, and refuses only events without a transition', () => {
    const reached = reachedIn({ machine, input, events, kindOf })
    const taken: string[] = []
    for (const snapshot of reached) {
      const restored = machine.resolveState(JSON.parse(JSON.stringify(plain(snapshot))))
      deepFrozen(snapshot.context)
      for (const event of events.map(deepFrozen)) {
        const { text, isRefused } = stepOf(machine, snapshot, event)
        same(stepOf(machine, restored, event).text, text)
        if (isRefused && snapshot.status !== 'done' && snapshot.can(event)) taken.push(text)
      }
    }
    expect(taken).toEqual([])
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
