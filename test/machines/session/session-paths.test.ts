import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AnyMachineSnapshot, matchesState, transition } from 'xstate'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { contextOf, type ListedAction, paramsOf } from '#runtime/schema.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import { outcomeOf, pathOf, restingStates } from '../outcome.ts'
import { reachedIn } from '../reached.ts'
import {
  answer,
  cancel,
  fresh,
  inactivity,
  inactivityAfterRejection,
  machine,
  remove,
  turn,
  walk,
} from './session-samples.ts'

const reached = reachedIn(walk)

const statusesOf = (snapshot: AnyMachineSnapshot): readonly string[] =>
  contextOf(sessionDefinition, snapshot).calls.map((call) => call.status)

it('reaches every state in which a session can rest', () => {
  expect([...new Set(reached.map((each) => pathOf(each.value)))].sort()).toEqual([...restingStates(machine)].sort())
})

describe('in every reachable state', () => {
  it.each([
    ['active.idle', []],
    ['active.working.acting', ['running']],
    ['paused', ['pending']],
    ['completed', []],
  ])('a session that is %s has open calls exactly if it waits for them', (state, needed) => {
    for (const snapshot of reached.filter((each) => pathOf(each.value) === state)) {
      const open = statusesOf(snapshot).filter((status) => status === 'running' || status === 'pending')
      expect(open.length > 0).toBe(needed.length > 0)
      expect(open).toEqual(expect.arrayContaining(needed))
      if (state === 'paused') expect(open).not.toContain('running')
    }
  })

  it('a session handles or refuses cancel and delete', () => {
    for (const snapshot of reached) {
      expect(outcomeOf(machine, snapshot, cancel)).not.toBe('ignored')
      expect(outcomeOf(machine, snapshot, remove)).not.toBe('ignored')
    }
  })
})

/** The course of a random life of a session, according to its actions. */
interface Tally {
  started: number
  ended: number
  modelCalls: number
  readonly waiting: Set<string>
}

const count = (tally: Tally, action: ListedAction): void => {
  if (action.type === 'callModel') tally.modelCalls++
  if (action.type === 'journal') {
    for (const { event_type } of paramsOf.journal(action).events) {
      if (event_type === 'turn.started') Object.assign(tally, { started: tally.started + 1, modelCalls: 0 })
      if (event_type === 'turn.completed' || event_type === 'turn.failed') tally.ended++
    }
  }
  if (action.type === 'send') {
    for (const { to, event } of paramsOf.send(action).messages) {
      if (event.type === 'create') tally.waiting.add(to)
      else tally.waiting.delete(to)
    }
  }
}

const check = (tally: Tally, snapshot: AnyMachineSnapshot): void => {
  const goesOn = matchesState('active.working', snapshot.value) || matchesState('paused', snapshot.value)
  const deleted = matchesState('deleted', snapshot.value)
  if (!deleted) expect(tally.started - tally.ended).toBe(goesOn ? 1 : 0)
  expect(tally.modelCalls).toBeLessThanOrEqual(16)
  if (!goesOn) expect([...tally.waiting]).toEqual([])
}

const live = (life: readonly StoredEvent[]): void => {
  const tally: Tally = { started: 0, ended: 0, modelCalls: 0, waiting: new Set() }
  let snapshot = fresh()
  for (const event of life) {
    const outcome = outcomeOf(machine, snapshot, event)
    if (outcome === 'ignored' || outcome.startsWith('refused')) continue
    // the action knows that it was resolved: it need not be cancelled
    if (event.type.startsWith('action_')) tally.waiting.delete(String(event.action_id))
    const [next, actions] = transition(machine, snapshot, event)
    for (const action of actions) count(tally, action)
    snapshot = next
    check(tally, snapshot)
  }
}

describe('after any events in any order', () => {
  const ends: ReadonlySet<StoredEvent> = new Set([inactivity, inactivityAfterRejection])
  const step = fc.constantFrom(...walk.events.filter((event) => event !== remove && !ends.has(event)))

  it('a session ends every turn once, calls the model at most sixteen times, and leaves no action waiting', () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 80 }), live), { numRuns: runsByDay(300) })
  })

  it('the same holds if the session is deleted in between', () => {
    const life = fc.tuple(fc.array(step, { maxLength: 20 }), fc.array(step, { maxLength: 10 }))
    fc.assert(
      fc.property(life, ([before, behind]) => live([...before, remove, ...behind])),
      { numRuns: runsByDay(200) },
    )
  })
})

it('fails a turn that would need a seventeenth model call', () => {
  let snapshot = transition(machine, fresh(), turn())[0]
  for (let call = 1; call < 16; call++) snapshot = transition(machine, snapshot, answer('made_up'))[0]
  expect(outcomeOf(machine, snapshot, answer('made_up'))).toMatch(/^active\.idle: .* turn\.failed remind$/)
})

it('adds up tokens and exact cost over the calls of a turn, and the cost over turns', () => {
  const used = transition(machine, transition(machine, transition(machine, fresh(), turn())[0], answer('made_up'))[0], {
    ...answer(),
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3, cost_usd: '0.2' },
  })[0]
  expect(used.context).toMatchObject({
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18, cost_usd: '0.3' },
    total_cost: '0.3',
  })
  const again = transition(machine, transition(machine, used, turn())[0], answer())[0]
  expect(again.context).toMatchObject({ usage: { total_tokens: 15, cost_usd: '0.1' }, total_cost: '0.4' })
})

it('keeps the cost of a turn unknown once a price was unknown, and the total at what is known', () => {
  const unknown = {
    ...answer('made_up'),
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, cost_usd: null },
  }
  const used = [turn(), unknown, answer()].reduce((from, event) => transition(machine, from, event)[0], fresh())
  expect(used.context).toMatchObject({ usage: { cost_usd: null, total_tokens: 17 }, total_cost: '0.1' })
})

it('writes a checkpoint with every fiftieth turn and with no other', () => {
  let snapshot = fresh()
  const requested: number[] = []
  for (let number = 1; number <= 100; number++) {
    snapshot = transition(machine, snapshot, turn())[0]
    const outcome = outcomeOf(machine, snapshot, answer())
    if (outcome.includes('writeCheckpoint!')) requested.push(number)
    snapshot = transition(machine, snapshot, answer())[0]
  }
  expect(requested).toEqual([50, 100])
})
