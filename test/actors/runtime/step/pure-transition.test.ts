import { expect, it, vi } from 'vitest'
import { type AnyMachineSnapshot, transition } from 'xstate'
import { definitions } from '#actors/capabilities.ts'
import type { ListedAction } from '#runtime/schema.ts'
import { pureTransition } from '#runtime/step/pure-transition.ts'
import { reachedIn } from '#test/machines/reached.ts'
import { walks } from '#test/machines/walks.ts'

// every event in every state: slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const said = (next: AnyMachineSnapshot, actions: readonly ListedAction[]): string =>
  JSON.stringify([next.value, next.context, next.status, actions.map(({ type, params }) => ({ type, params }))])

it.each(walks)('returns the snapshots and actions of the plain transition in every state of %s', (_, walk) => {
  const { machine, events } = walk
  const reached = reachedIn(walk)
  for (const snapshot of reached) {
    for (const event of events) {
      const [next, actions] = pureTransition(machine, snapshot, event)
      const [plainNext, plainActions] = transition(machine, snapshot, event)
      const [found, plain] = [said(next, actions), said(plainNext, plainActions)]
      // an assertion for each of hundreds of thousands that are equal costs more than the steps
      if (found !== plain) expect(found).toBe(plain)
      if ((next === snapshot) !== (plainNext === snapshot)) expect(next === snapshot).toBe(plainNext === snapshot)
    }
  }
  expect(reached).not.toEqual([])
})

it('is compared with the plain transition for every machine', () => {
  const walked = new Set(walks.map(([, { machine }]) => machine))
  expect(definitions.filter(({ machine }) => !walked.has(machine)).map(({ name }) => name)).toEqual([])
})
