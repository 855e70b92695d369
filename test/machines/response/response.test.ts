import { describe, expect, it } from 'vitest'
import { responseDefinition } from '#machines/response/response-definition.ts'
import { firstStep, nextStep, type Step } from '#runtime/step/step.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { begins, cancels, deletion, fails, input, made, restarts, shown } from './response-samples.ts'

const actor = input.response_id

const draftOf = (step: Step) => {
  if (step.kind !== 'next') throw new Error(`the step is ${step.kind}`)
  return step.draft
}

/** The state after these events from the start. */
const having = (...events: readonly StoredEvent[]) => {
  let draft = draftOf(firstStep(responseDefinition, input, { actor, event: { type: 'create' }, at: 0 }))
  for (const event of events) {
    const [done] =
      event === begins || event.type === 'response_made' || event === fails ? Object.keys(draft.inFlight) : []
    draft = draftOf(nextStep(responseDefinition, draft, { actor, event, at: 0, ...(done !== undefined && { done }) }))
  }
  return {
    state: draft.snapshot.value,
    effects: draft.effects.map(({ name }) => name),
    inFlight: Object.values(draft.inFlight).map(({ name }) => name),
    document: draft.snapshot.context.document,
    events: draft.events,
  }
}

describe('a background response', () => {
  it('is queued, then in progress, then completed', () => {
    expect(having()).toMatchObject({ state: 'queued', effects: ['beginResponse'], document: { status: 'queued' } })
    expect(having(begins)).toMatchObject({ effects: ['makeResponse'], document: { status: 'in_progress' } })
    expect(having(begins, made)).toMatchObject({ state: 'settled', inFlight: [], document: { status: 'completed' } })
  })

  it('journals what its readers have seen, and with which attempt once a crash has cut it', () => {
    const output = { event_type: 'response.output', cuts: [2, 2] }
    expect(having(begins, shown).events).toMatchObject([{ ...output, payload: { delta: 'a\nb\n' } }])
    expect(having(begins, shown, restarts).events).toMatchObject([{ event_type: 'response.restarted' }])
    const again = having(begins, shown, restarts, shown).events
    expect(again).toMatchObject([{ ...output, payload: { delta: 'a\nb\n', attempt: 1 } }])
  })

  it('journals what was still to be shown before its end', () => {
    const { events } = having(begins, { ...made, delta: 'c\n', cuts: [2] })
    expect(events.map(({ event_type }) => event_type)).toEqual(['response.output', 'response.ended'])
  })

  it('contains the error if it failed', () => {
    const error = { code: 'provider_error', message: 'It failed.' }
    expect(having(begins, fails)).toMatchObject({ state: 'settled', document: { status: 'failed', error } })
  })

  it.each([[[]], [[begins]]])('can be cancelled before it has ended, which ends its effects', (before) => {
    const cancelled = having(...before, cancels)
    expect(cancelled).toMatchObject({ state: 'settled', inFlight: [], document: { status: 'cancelled' } })
  })

  it('cannot be cancelled once it has ended', () => {
    expect(() => having(begins, made, cancels)).toThrow('the step is')
  })

  it.each([[[]], [[begins]], [[begins, made]], [[cancels]]])('removes itself in every state', (before) => {
    expect(having(...before, deletion)).toMatchObject({ state: 'erasing', inFlight: ['eraseResponse'] })
  })
})
