import { describe, expect, it } from 'vitest'
import { type AnyMachineSnapshot, transition } from 'xstate'
import { runQueueDefinition } from '#machines/run-queue/run-queue-definition.ts'
import { contextOf } from '#runtime/schema.ts'
import { outcomeOf, pathOf, restingStates } from '../outcome.ts'
import { fresh, machine, picked, queue, returned, upkeep, upkeepOfFull, wake } from './run-queue-samples.ts'

/** A snapshot of a queue without runs in this state. */
function asStored(value: string): AnyMachineSnapshot {
  return machine.resolveState({ value, context: { ...fresh().context } })
}

const places = {
  new: queue(),
  'idle with runs': queue(wake(), picked(['run_1', 'run_2'])),
  'idle, a lane at its most': queue(wake(), picked(['run_1'], { capped: ['lan_1'] })),
  looking: queue(wake(), picked(['run_1']), wake()),
  'looking, with news': queue(wake(), picked(['run_1']), wake(), wake()),
  full: queue(wake(), picked(['run_1'], { full: true })),
  resting: queue(wake(), picked([])),
  'idle, as earlier ones were stored without runs': asStored('idle'),
}

const events = {
  wake: wake(),
  'wake of another lane': wake('lan_2'),
  'slot_returned by a holder': returned('run_1'),
  'slot_returned by nobody': returned('run_9'),
  'runs_picked some': picked(['run_3', 'run_4']),
  'runs_picked none': picked([]),
  'runs_picked the last': picked(['run_3'], { full: true }),
  upkeep,
  'upkeep of a full one': upkeepOfFull,
}

const look = 'picking: pickRuns!'
const pollForgetting = 'picking: forget pickRuns!'

const table: Record<keyof typeof places, Partial<Record<keyof typeof events, string>>> = {
  new: { wake: look, 'wake of another lane': look },
  'idle with runs': {
    wake: pollForgetting,
    'wake of another lane': pollForgetting,
    'slot_returned by a holder': pollForgetting,
    upkeep: pollForgetting,
  },
  'idle, a lane at its most': {
    'wake of another lane': pollForgetting,
    'slot_returned by a holder': pollForgetting,
    upkeep: pollForgetting,
  },
  looking: {
    wake: 'picking',
    'wake of another lane': 'picking',
    'slot_returned by a holder': 'picking',
    'runs_picked some': 'idle: slot_granted>run_3 slot_granted>run_4 remind',
    'runs_picked none': 'idle: remind',
    'runs_picked the last': 'full: slot_granted>run_3 remind',
  },
  'looking, with news': {
    'slot_returned by a holder': 'picking',
    'runs_picked some': 'picking: slot_granted>run_3 slot_granted>run_4 pickRuns!',
    'runs_picked none': look,
    'runs_picked the last': 'picking: slot_granted>run_3 pickRuns!',
  },
  full: { 'slot_returned by a holder': pollForgetting, 'upkeep of a full one': pollForgetting },
  resting: { wake: look, 'wake of another lane': look },
  'idle, as earlier ones were stored without runs': {
    wake: pollForgetting,
    'wake of another lane': pollForgetting,
    upkeep: 'resting: forget',
  },
}

it('covers every state of a queue', () => {
  const resting = new Set(Object.values(places).map((place) => pathOf(place.value)))
  expect([...resting].sort()).toEqual([...restingStates(machine)].sort())
})

it('covers every event of the machine', () => {
  const sampled = new Set(Object.values(events).map((event) => event.type))
  expect([...sampled].sort()).toEqual([...machine.events].sort())
})

describe.each(Object.entries(places))('a queue that is %s', (place, snapshot) => {
  const row: Readonly<Record<string, string>> = Object.entries(table).find(([name]) => name === place)?.[1] ?? {}
  it.each(Object.entries(events))('handles %s according to the table', (name, event) => {
    expect(outcomeOf(machine, snapshot, event)).toBe(row[name] ?? 'ignored')
  })
})

it('keeps the holder of a slot until the slot is returned or the run is gone', () => {
  const two = queue(wake(), picked(['run_1', 'run_2'], { capped: ['lan_1'] }))
  expect(contextOf(runQueueDefinition, two).holders).toEqual({ lan_1: ['run_1', 'run_2'] })
  const one = transition(machine, two, returned('run_1'))[0]
  expect(contextOf(runQueueDefinition, one)).toMatchObject({ holders: { lan_1: ['run_2'] }, capped: [] })
  const gone = picked([], { gone: [{ run_id: 'run_2', lane: 'lan_1' }] })
  expect(contextOf(runQueueDefinition, transition(machine, one, gone)[0]).holders).toEqual({})
})

it('stays below 20 KB with the maximum number of holders', () => {
  const runs = Array.from({ length: 500 }, (_, index) => `run_01kb00000000000000000${1000 + index}`)
  const [{ context }] = transition(machine, queue(wake()), picked(runs, { full: true }))
  expect(JSON.stringify(context).length).toBeLessThan(20_000)
})

it('has no reminder once no run has a slot', () => {
  const last = queue(wake(), picked(['run_1']), returned('run_1'))
  expect(outcomeOf(machine, last, picked([]))).toBe('resting')
})
