import { describe, expect, it } from 'vitest'
import type { ActorState } from '#runtime/step/actor-state.ts'
import { type Draft, firstStep, nextStep, type StepInput, startedStep, UnknownAction } from '#runtime/step/step.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { deepFrozen } from '#test/support/deep-frozen.ts'
import { probeDefinition as definition } from '../probe-machine.ts'

const at = 1_000_000

const first = (): Draft => {
  const step = firstStep(definition, {}, { actor: 'prb_1', event: { type: 'create' }, at })
  if (step.kind !== 'next') throw new Error('the probe starts')
  return step.draft
}

const step = (state: ActorState, event: StoredEvent, more: Partial<StepInput> = {}) =>
  nextStep(definition, state, { actor: 'prb_1', event, at, ...more })

const draft = (state: ActorState, event: StoredEvent, more: Partial<StepInput> = {}): Draft => {
  const next = step(state, event, more)
  if (next.kind !== 'next') throw new Error(`${event.type} is ${next.kind}`)
  return next.draft
}

const draftAfter = (...events: readonly StoredEvent[]): Draft =>
  events.reduce((state: Draft, event) => draft(state, event), first())

const say = (n: number): StoredEvent => ({ type: 'say', n })
const work = (policy: string): StoredEvent => ({ type: 'work', policy })

it('starts an actor at sequence 1 without events, effects, messages or reminders', () => {
  expect(first()).toMatchObject({ seq: 1, lastSequence: 0, events: [], effects: [], messages: [], reminders: {} })
})

it('numbers events without gaps over several steps', () => {
  const state = draftAfter(say(1), { type: 'count' }, say(2))
  expect(state).toMatchObject({ seq: 4, lastSequence: 3 })
  expect(state.events).toEqual([{ sequence: 3, event_type: 'said', payload: { n: 2 } }])
})

it('names messages after the commit that sends them, in order', () => {
  const messages = ['a', 'b'].map((to) => ({ to: `prb_${to}`, event: { type: 'count' } }))
  expect(draftAfter({ type: 'send', messages }).messages).toEqual([
    { id: 'prb_1:2:m0', to: 'prb_a', event: { type: 'count' } },
    { id: 'prb_1:2:m1', to: 'prb_b', event: { type: 'count' } },
  ])
})

describe('effects', () => {
  it('are named after their commit and stay in flight until their result', () => {
    const drafted = draftAfter(work('idempotent'))
    const effect = { id: 'prb_1:2:0', name: 'work', params: { policy: 'idempotent' }, policy: 'idempotent' }
    expect(drafted.effects).toEqual([effect])
    expect(drafted.inFlight).toEqual({ 'prb_1:2:0': { name: 'work', params: effect.params, policy: 'idempotent' } })
    const later = draft(drafted, say(1))
    expect(later).toMatchObject({ effects: [], inFlight: drafted.inFlight })
    expect(draft(later, { type: 'worked' }, { done: 'prb_1:2:0' }).inFlight).toEqual({})
  })

  it.each([
    ['idempotent', 'idempotent'],
    ['at_most_once', 'at_most_once'],
    ['anything else', 'at_most_once'],
  ])('with the policy %s from their params run as %s', (requested, policy) => {
    expect(draftAfter(work(requested)).effects).toMatchObject([{ policy }])
  })

  it('end with their result even if the machine ignores it', () => {
    const drafted = draftAfter(work('idempotent'))
    expect(step(drafted, { type: 'unheard_of' })).toEqual({ kind: 'ignored' })
    expect(draft(drafted, { type: 'unheard_of' }, { done: 'prb_1:2:0' })).toMatchObject({
      seq: 3,
      inFlight: {},
      events: [],
    })
  })

  it('count the parts of a stream', () => {
    const spoken = draftAfter({ type: 'speak' })
    const [id = ''] = Object.keys(spoken.inFlight)
    const one = draft(spoken, { type: 'heard', delta: 'a' }, { part: id })
    const two = draft(one, { type: 'heard', delta: 'b' }, { part: id })
    expect(two.inFlight[id]).toMatchObject({ policy: 'stream', progress: 2 })
  })

  it('that the machine ends are listed, and no others', () => {
    const both = draftAfter({ type: 'speak' }, work('idempotent'), { type: 'tidy' })
    const stopped = draft(both, { type: 'stop' })
    expect(stopped.aborted).toEqual(['prb_1:2:0', 'prb_1:3:0'])
    expect(Object.keys(stopped.inFlight)).toEqual(['prb_1:4:0'])
    expect(draft(stopped, { type: 'stop' })).toMatchObject({ aborted: [], inFlight: stopped.inFlight })
  })

  it('are marked as started by a step that does nothing else', () => {
    const drafted = draftAfter(work('at_most_once'), say(1))
    const begun = startedStep(drafted, 'prb_1:2:0')
    expect(begun).toMatchObject({ seq: 4, lastSequence: 1, events: [], effects: [], messages: [] })
    expect(begun.inFlight).toEqual({ 'prb_1:2:0': { ...drafted.inFlight['prb_1:2:0'], started: true } })
    expect(begun.snapshot).toBe(drafted.snapshot)
  })
})

describe('reminders', () => {
  const name = 'xstate.after.wait.probe.waiting'

  it('are due one delay after the step, and carry its number', () => {
    const waiting = draft(draftAfter(say(1)), { type: 'wait', ms: 5000 })
    expect(waiting.reminders).toEqual({ [name]: { due: at + 5000, event: { type: name }, n: 3 } })
  })

  it('are removed when the state is left, and reset when it is entered again', () => {
    const waiting = draftAfter({ type: 'wait', ms: 5000 })
    expect(draft(waiting, { type: 'back' }).reminders).toEqual({})
    const again = draft(waiting, { type: 'wait', ms: 1 }, { at: at + 50 })
    expect(again.reminders[name]).toMatchObject({ due: at + 5050, n: 3 })
  })

  it('are removed once they have been delivered', () => {
    const woken = draft(draftAfter({ type: 'wait', ms: 5000 }), { type: name })
    expect(woken.reminders).toEqual({})
    expect(woken.events).toMatchObject([{ event_type: 'woke' }])
  })
})

describe('the text of a turn', () => {
  const heard = (delta: string): StoredEvent => ({ type: 'heard', delta })

  it('is the concatenation of the deltas since its start, at both depths of a payload', () => {
    const ended = draftAfter({ type: 'speak' }, heard('Hel'), say(1), heard('lo'), { type: 'spoken' })
    expect(ended.events[0]?.payload).toEqual({ text: 'Hello', inside: { text: 'Hello' } })
  })

  it('starts again with the next turn', () => {
    const again = draftAfter({ type: 'speak' }, heard('old'), { type: 'speak' }, heard('new'), { type: 'spoken' })
    expect(again.events[0]?.payload).toMatchObject({ text: 'new' })
    expect(again.text).toEqual({ from: 2, value: 'new' })
  })

  it("does not replace a user's value in the shape of its marker", () => {
    const said = draftAfter({ type: 'speak' }, heard('secret'), { type: 'say', like: { $turn_text: true } })
    expect(said.events[0]?.payload).toEqual({ like: { $turn_text: true } })
  })
})

it('returns the refusal of the machine and changes nothing', () => {
  const refusal = { code: 'invalid_transition', param: 'x', message: 'No.' }
  expect(step(first(), { type: 'refuse' })).toEqual({ kind: 'refused', refusal })
})

it('ignores an event that the state does not handle', () => {
  expect(step(first(), { type: 'back' })).toEqual({ kind: 'ignored' })
})

it('throws on an action that the definition does not declare as an effect', () => {
  expect(() => step(first(), { type: 'undeclared' })).toThrow(UnknownAction)
})

it.each(['guard', 'assign'])('throws what a machine throws in its %s', (type) => {
  expect(() => step(first(), { type })).toThrow(`${type} throws`)
})

it('does not mutate the given state and event', () => {
  const { snapshot, ...rest } = draftAfter({ type: 'speak' }, work('idempotent'), { type: 'wait', ms: 1 })
  deepFrozen(snapshot.context)
  const state = { ...deepFrozen(rest), snapshot }
  for (const event of [say(1), { type: 'stop' }, { type: 'back' }, { type: 'tidy' }, { type: 'spoken' }]) {
    expect(() => step(state, deepFrozen(event), { done: 'prb_1:3:0' })).not.toThrow()
  }
})
