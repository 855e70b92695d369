import { expect, it } from 'vitest'
import { type AnyMachineSnapshot, transition } from 'xstate'
import { pureTransition } from '../../../src/actors/runtime/pure-transition.ts'
import type { ListedAction } from '../../../src/actors/runtime/schema.ts'
import { walkOf } from '../../machines/action/action-samples.ts'
import { reachedIn, type Walk } from '../../machines/reached.ts'
import { walk } from '../../machines/session/session-samples.ts'

const said = (next: AnyMachineSnapshot, actions: readonly ListedAction[]): string =>
  JSON.stringify([next.value, next.context, next.status, actions.map(({ type, params }) => ({ type, params }))])

it.each<readonly [string, Walk]>([
  ['sessions', walk],
  ['actions', walkOf('http')],
])('gives the snapshots and actions of the plain transition in every state of %s', (_, { machine, ...rest }) => {
  for (const snapshot of reachedIn({ machine, ...rest })) {
    for (const event of rest.events) {
      const [next, actions] = pureTransition(machine, snapshot, event)
      const [plainNext, plainActions] = transition(machine, snapshot, event)
      expect(said(next, actions)).toBe(said(plainNext, plainActions))
      expect(next === snapshot).toBe(plainNext === snapshot)
    }
  }
})
