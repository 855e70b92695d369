import { describe, expect, it } from 'vitest'
import { batchDefinition } from '#machines/batch/batch-definition.ts'
import { statusOf } from '#machines/index.ts'
import { firstStep, nextStep, type Step } from '#runtime/step/step.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { cancels, done, expires, input, lineFailed, validated } from './batch-samples.ts'

const actor = input.batch_id

const draftOf = (step: Step) => {
  if (step.kind !== 'next') throw new Error(`the step is ${step.kind}`)
  return step.draft
}

const ofEffects: readonly StoredEvent[] = [validated, done, lineFailed]

/** The state after these events from the start. */
const having = (...events: readonly StoredEvent[]) => {
  let draft = draftOf(firstStep(batchDefinition, input, { actor, event: { type: 'create' }, at: 0 }))
  for (const event of events) {
    const [ended] = ofEffects.includes(event) ? Object.keys(draft.inFlight) : []
    draft = draftOf(
      nextStep(batchDefinition, draft, { actor, event, at: 0, ...(ended !== undefined && { done: ended }) }),
    )
  }
  const { context } = draft.snapshot
  return {
    status: statusOf(batchDefinition, draft.snapshot),
    lines: Object.values(draft.inFlight).flatMap(({ name, params }) => (name === 'runLine' ? [params.line] : [])),
    effects: draft.effects.map(({ name }) => name),
    counts: [context.total, context.completed, context.failed],
  }
}

const times = (count: number, event: StoredEvent) => Array.from({ length: count }, () => event)

describe('a batch', () => {
  it('runs eight lines at the same time, and the next one when one has ended', () => {
    expect(having()).toMatchObject({ status: 'validating', effects: ['validateBatch'] })
    expect(having(validated)).toMatchObject({ status: 'in_progress', lines: [0, 1, 2, 3, 4, 5, 6, 7] })
    expect(having(validated, done, lineFailed).lines).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    const all = having(validated, ...times(9, done), lineFailed)
    expect(all).toMatchObject({ status: 'finalizing', lines: [], effects: ['finishBatch'], counts: [10, 9, 1] })
  })

  it('waits for the lines in progress when it is cancelled, and starts no more', () => {
    expect(having(validated, cancels, done)).toMatchObject({ status: 'cancelling', lines: [1, 2, 3, 4, 5, 6, 7] })
    const drained = having(validated, cancels, ...times(8, done))
    expect(drained).toMatchObject({ status: 'cancelling', effects: ['finishBatch'], counts: [10, 8, 0] })
  })

  it('aborts the lines in progress when its window ends', () => {
    expect(having(validated, done, expires)).toMatchObject({ status: 'finalizing', lines: [], counts: [10, 1, 0] })
  })
})
