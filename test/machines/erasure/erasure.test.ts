import { describe, expect, it } from 'vitest'
import { confirmationMs, erasureDefinition, erasureMachine } from '#machines/erasure/erasure.ts'
import { firstStep, nextStep, type Step } from '#runtime/step/step.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import { restingStates } from '../outcome.ts'
import { found, input, ofProject } from './erasure-samples.ts'

const actor = input.erasure_id

const draftOf = (step: Step) => {
  if (step.kind !== 'next') throw new Error(`the step is ${step.kind}`)
  return step.draft
}

/** The state, effects and reminders after these events from the start. */
const having = (from: JsonObject, ...events: readonly StoredEvent[]) => {
  let draft = draftOf(firstStep(erasureDefinition, from, { actor, event: { type: 'create' }, at: 0 }))
  for (const event of events) {
    const [done] = event.type === 'round_done' ? Object.keys(draft.inFlight) : []
    const reminder = Object.values(draft.reminders)[0]?.event ?? event
    const given = event.type === 'wait' ? reminder : event
    draft = draftOf(
      nextStep(erasureDefinition, draft, { actor, event: given, at: 0, ...(done !== undefined && { done }) }),
    )
  }
  return {
    state: draft.snapshot.value,
    effects: draft.effects.map(({ name }) => name),
    sent: draft.messages.map(({ event }) => event.event_type),
    dueIn: Object.values(draft.reminders).map(({ due }) => due),
  }
}

const nothing = found({})
const wait: StoredEvent = { type: 'wait' }

describe('an erasure', () => {
  it('starts with a round at once', () => {
    expect(having(input)).toEqual({ state: 'working', effects: ['eraseOwned'], sent: [], dueIn: [] })
  })

  it('runs further rounds while something is left, after increasing waits', () => {
    const some = found({ sessions: 3 })
    expect(having(input, some)).toMatchObject({ state: 'waiting', effects: [], dueIn: [200] })
    expect(having(input, some, wait)).toMatchObject({ state: 'working', effects: ['eraseOwned'] })
    expect(having(input, some, wait, some).dueIn).toEqual([400])
    const rounds = Array.from({ length: 20 }, () => [some, wait]).flat()
    expect(having(input, ...rounds, some).dueIn).toEqual([60_000])
  })

  it('ends only when two rounds in a row, some seconds apart, find nothing', () => {
    expect(having(input, nothing)).toMatchObject({ state: 'waiting', dueIn: [confirmationMs] })
    expect(having(input, nothing, wait, found({ runs: 1 })).state).toBe('waiting')
    expect(having(input, nothing, wait, found({ runs: 1 }), wait, nothing).state).toBe('waiting')
    expect(having(input, nothing, wait, nothing)).toEqual({
      state: 'finishing',
      effects: ['finishErasure'],
      sent: ['tenant.deleted'],
      dueIn: [],
    })
  })

  it('of one user sends no notice that the tenant is deleted', () => {
    const ofUser = { ...input, user: 'ada' }
    expect(having(ofUser, nothing, wait, nothing)).toMatchObject({ state: 'finishing', sent: [] })
  })

  it('of a project proceeds like that of a tenant, and notifies no webhook', () => {
    const whole = { ...input, ...ofProject }
    expect(having(whole)).toMatchObject({ state: 'working', effects: ['eraseOwned'] })
    expect(having(whole, nothing, wait, found({ actors: 1 })).state).toBe('waiting')
    expect(having(whole, nothing, wait, nothing)).toMatchObject({
      state: 'finishing',
      effects: ['finishErasure'],
      sent: [],
    })
  })

  it('ignores any other event in every state', () => {
    const events = ['delete', 'cancel', 'pause'].map((type): StoredEvent => ({ type }))
    const histories = [[], [found({ a: 1 })], [nothing, wait, nothing]]
    const states = histories.map((history) => having(input, ...history).state)
    expect(states.toSorted()).toEqual([...restingStates(erasureMachine)].toSorted())
    for (const history of histories) {
      for (const event of events) expect(() => having(input, ...history, event)).toThrow('the step is ignored')
    }
  })
})
