import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { type AnyMachineSnapshot, matchesState, transition } from 'xstate'
import { runDefinition } from '#machines/run/run-definition.ts'
import { contextOf, type ListedAction, paramsOf } from '#runtime/schema.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import { outcomeOf, pathOf, restingStates } from '../outcome.ts'
import { reachedIn } from '../reached.ts'
import {
  answer,
  cancel,
  delegate,
  duration,
  ended,
  expire,
  expiry,
  fresh,
  inputOf,
  machine,
  prepared,
  remove,
  run,
  slot,
  walk,
} from './run-samples.ts'

// every event in every state: slow on a busy machine
vi.setConfig({ testTimeout: 60_000 })

const reached = reachedIn(walk)

it('reaches every state in which a run can rest', () => {
  expect([...new Set(reached.map((each) => pathOf(each.value)))].sort()).toEqual([...restingStates(machine)].sort())
})

describe('in every reachable state', () => {
  it('a run handles or refuses cancel and delete, except for a second cancel', () => {
    for (const snapshot of reached) {
      if (pathOf(snapshot.value) !== 'cancelled') expect(outcomeOf(machine, snapshot, cancel)).not.toBe('ignored')
      expect(outcomeOf(machine, snapshot, remove)).not.toBe('ignored')
    }
  })

  it('a run has a slot exactly while it calls the model; it may while tools run', () => {
    for (const { value, context } of reached) {
      const { slot: has } = contextOf(runDefinition, { context })
      const path = pathOf(value)
      if (path === 'open.started.running.thinking') expect(has).toBe(true)
      else if (path !== 'open.started.running.acting') expect(has).toBe(false)
    }
  })

  it('a run returns or uses every slot that it is given', () => {
    for (const snapshot of reached.filter(({ context }) => !contextOf(runDefinition, { context }).slot)) {
      const outcome = outcomeOf(machine, snapshot, slot)
      const takes = ['open.queued', 'open.started.running.returning'].includes(pathOf(snapshot.value))
      expect(outcome).toContain(takes ? 'callModel!' : 'slot_returned>rqu_1')
    }
  })
})

/** The course of a random life of a run, according to its actions. */
class Tally {
  slots = 0
  requestCount = 0
  ends = 0
  parentDelivered = 0
  modelCalls = 0
  readonly actions = new Set<string>()
  readonly children = new Set<string>()

  take(action: ListedAction): void {
    if (action.type === 'callModel') this.modelCalls++
    if (action.type === 'journal') {
      for (const { event_type } of paramsOf.journal(action).events) {
        if (/^run\.(completed|failed|cancelled|expired)$/.test(event_type)) this.ends++
      }
    }
    if (action.type === 'send') for (const { to, event } of paramsOf.send(action).messages) this.#message(to, event)
  }

  #message(to: string, event: StoredEvent): void {
    if (event.type === 'join') this.requestCount++
    else if (event.type === 'slot_returned') this.slots--
    else if (event.type === 'child_ended') this.parentDelivered++
    else if (event.type === 'create') (to.startsWith('run_') ? this.children : this.actions).add(to)
    else {
      this.actions.delete(to)
      this.children.delete(to)
    }
  }
}

const live = (life: readonly StoredEvent[]): void => {
  const tally = new Tally()
  const [start, first] = transition(machine, fresh(), { type: 'nothing' })
  for (const action of first) tally.take(action)
  tally.requestCount = 1
  let snapshot: AnyMachineSnapshot = start
  for (const event of life) {
    // a queue grants each requested slot once
    if (event === slot && tally.requestCount <= 0) continue
    const outcome = outcomeOf(machine, snapshot, event)
    if (outcome === 'ignored' || outcome.startsWith('refused')) continue
    if (event === slot) {
      tally.requestCount--
      tally.slots++
    }
    // an actor that has ended needs no message
    if (event.type.startsWith('action_')) tally.actions.delete(String(event.action_id))
    if (event.type === 'child_ended') tally.children.delete(String(event.run_id))
    const [next, actions] = transition(machine, snapshot, event)
    for (const action of actions) tally.take(action)
    // the same call once more, with the shortened conversation
    if (event.type === 'context_compacted') tally.modelCalls--
    snapshot = next
    check(tally, snapshot)
  }
}

const check = (tally: Tally, snapshot: AnyMachineSnapshot): void => {
  const open = matchesState('open', snapshot.value)
  const deleted = matchesState('deleted', snapshot.value)
  expect(tally.slots).toBe(contextOf(runDefinition, snapshot).slot ? 1 : 0)
  expect(tally.modelCalls).toBeLessThanOrEqual(3)
  if (!deleted) expect(tally.ends).toBe(open ? 0 : 1)
  expect(tally.parentDelivered).toBe(open ? 0 : 1)
  if (!open) expect([...tally.actions, ...tally.children]).toEqual([])
}

describe('after any events in any order', () => {
  const last = new Set([cancel, expire, remove, expiry, duration])
  const step = fc.constantFrom(...walk.events.filter((event) => !last.has(event)))

  it('a run holds at most one slot and returns it, ends once, notifies its parent once, and leaves nothing open', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (life) => live([slot, ...life])),
      { numRuns: runsByDay(400) },
    )
  })

  it('the same holds if the run is ended from outside', () => {
    const life = fc.tuple(
      fc.array(step, { maxLength: 20 }),
      fc.constantFrom(...last),
      fc.array(fc.oneof(step, fc.constantFrom(...last)), { maxLength: 8 }),
    )
    fc.assert(
      fc.property(life, ([before, end, behind]) => live([slot, ...before, end, ...behind])),
      { numRuns: runsByDay(400) },
    )
  })
})

describe('a run that needs another model call', () => {
  const costs = (cost_usd: string | null, total_tokens = 15): StoredEvent => ({
    ...answer('made_up'),
    usage: { input_tokens: total_tokens, output_tokens: 0, total_tokens, cost_usd },
  })
  const bounded = (limits: object, ...events: readonly StoredEvent[]): AnyMachineSnapshot =>
    [slot, ...events].reduce(
      (state, event) => transition(machine, state, event)[0],
      fresh({ limits: { ...inputOf().limits, ...limits } }),
    )

  it.each([
    ['too_many_steps', { max_steps: 2 }, [answer('made_up'), answer('made_up')]],
    ['token_limit_exceeded', { max_tokens: 30 }, [costs('0'), costs('0')]],
    ['cost_limit_exceeded', { max_cost_usd: '0.3' }, [costs('0.1'), costs('0.2')]],
  ] as const)('fails with %s at its limit', (code, limits, events) => {
    const snapshot = bounded(limits, ...events)
    expect(pathOf(snapshot.value)).toBe('failed')
    expect(contextOf(runDefinition, snapshot).error?.code).toBe(code)
  })

  it('fails with time_limit_exceeded at the end of its time, whether it waits for people or not', () => {
    for (const events of [[slot], [slot, answer('confirm')], [slot, answer('helper'), prepared('helper')]]) {
      const [next] = transition(machine, run(...events), duration)
      expect(contextOf(runDefinition, next).error?.code).toBe('time_limit_exceeded')
    }
  })

  it('continues below its limits, and if the price is unknown', () => {
    const below = bounded({ max_tokens: 31, max_cost_usd: '0.31' }, costs('0.1'), costs('0.2'))
    const unknown = bounded({ max_cost_usd: '0.01' }, costs(null))
    for (const each of [below, unknown]) expect(pathOf(each.value)).toBe('open.started.running.thinking')
  })

  it('is completed by an answer that reaches the limit', () => {
    expect(pathOf(bounded({ max_tokens: 15 }, answer()).value)).toBe('completed')
  })
})

describe('delegation', () => {
  it('starts a child once, however often it is requested', () => {
    expect(outcomeOf(machine, run(slot, delegate), delegate)).toBe('ignored')
  })

  it('is refused at the deepest level, and with too many open children', () => {
    const deepest = transition(machine, fresh({ depth: 5 }), slot)[0]
    expect(outcomeOf(machine, deepest, delegate)).toBe('refused delegation_too_deep')
    let many = run(slot)
    for (let count = 0; count < 32; count++) {
      const child = inputOf({ run_id: `run_${100 + count}` })
      many = transition(machine, many, { type: 'delegate', child })[0]
    }
    expect(outcomeOf(machine, many, delegate)).toBe('refused too_many_children')
  })

  it("gives the model the result of a caller's child with its next call", () => {
    const waiting = run(slot, delegate, answer())
    const returning = transition(machine, waiting, ended('run_9', 'run_9'))[0]
    expect(contextOf(runDefinition, returning).told).toHaveLength(1)
    const [thinking, actions] = transition(machine, returning, slot)
    expect(contextOf(runDefinition, thinking)).toMatchObject({ told: [], steps: 2 })
    const listed: readonly ListedAction[] = actions
    const emitted = listed.filter(({ type }) => type === 'journal').flatMap((each) => paramsOf.journal(each).events)
    expect(emitted[0]).toMatchObject({
      event_type: 'run.model_call.started',
      hidden: { told: expect.stringContaining('done') },
    })
  })
})
