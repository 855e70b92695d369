import { describe, expect, it, vi } from 'vitest'
import { type AnyMachineSnapshot, transition } from 'xstate'
import type { ListedAction } from '../../src/actors/runtime/schema.ts'
import type { StateValue } from '../../src/machines/definition.ts'
import { deepFrozen } from '../support/deep-frozen.ts'
import { walkOf } from './action/action-samples.ts'
import { walk as agentVersionWalk } from './agent-version/agent-version-samples.ts'
import { outcomeOf } from './outcome.ts'
import { reachedIn, type Walk } from './reached.ts'
import { walk as runWalk } from './run/run-samples.ts'
import { walk } from './session/session-samples.ts'
import { walk as deliveryWalk } from './webhook-delivery/webhook-delivery-samples.ts'

// every event in every state: on a busy machine that takes its time
vi.setConfig({ testTimeout: 60_000 })

const walks: readonly (readonly [string, Walk])[] = [
  ['sessions', walk],
  ['actions of functions', walkOf('function')],
  ['actions of our own tools', walkOf('http')],
  ['actions of the caller', walkOf('caller')],
  ['actions of agents', walkOf('agent')],
  ['runs', runWalk],
  ['versions of agents', agentVersionWalk],
  ['deliveries', deliveryWalk],
]

const plain = ({ value, context }: AnyMachineSnapshot): { value: StateValue; context: unknown } => ({ value, context })

const said = (next: AnyMachineSnapshot, actions: readonly ListedAction[]): string =>
  JSON.stringify([plain(next), actions.map(({ type, params }) => ({ type, params }))])

describe.each(walks)('in every state of %s', (_, { machine, input, events, kindOf }) => {
  const reached = reachedIn({ machine, input, events, kindOf })

  it('goes on from JSON as from memory', () => {
    for (const snapshot of reached) {
      const restored = machine.resolveState(JSON.parse(JSON.stringify(plain(snapshot))))
      for (const event of events) {
        expect(outcomeOf(machine, restored, event)).toBe(outcomeOf(machine, snapshot, event))
      }
    }
  })

  it('answers the same event twice alike, and changes neither its context nor the event', () => {
    for (const snapshot of reached) {
      deepFrozen(snapshot.context)
      for (const event of events.map(deepFrozen)) {
        expect(said(...transition(machine, snapshot, event))).toBe(said(...transition(machine, snapshot, event)))
      }
    }
  })
})
