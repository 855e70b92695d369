import { describe, expect, it } from 'vitest'
import { initialTransition } from 'xstate'
import { after, outcomeOf, pathOf } from '../outcome.ts'
import {
  cancels,
  deletion,
  fails,
  finishes,
  machine,
  retention,
  starts,
  steps,
  submits,
  walk,
} from './browser-job-samples.ts'

const job = (...events: Parameters<typeof after>[2][]) =>
  after(machine, initialTransition(machine, walk.input)[0], ...events)

describe('a browser job', () => {
  it.each([
    ['open.queued', []],
    ['open.running', [starts(1)]],
    ['open.running', [starts(1), steps(1), starts(2)]],
    ['open.running', [starts(1), submits(1)]],
    ['completed', [starts(1), finishes]],
    ['failed', [starts(1), fails]],
    ['failed', [fails]],
    ['cancelled', [cancels]],
    ['cancelled', [starts(1), cancels]],
    ['erasing', [starts(1), finishes, retention('completed')]],
    ['erasing', [fails, retention('failed')]],
    ['erasing', [cancels, retention('cancelled')]],
    ['erasing', [starts(1), deletion]],
  ] as const)('is %s after %j', (state, events) => {
    expect(pathOf(job(...events).value)).toBe(state)
  })

  it('begins its steps anew when it is run again', () => {
    expect(job(starts(1), steps(1), starts(2)).context).toMatchObject({ attempts: 2, steps: [], started_at_ms: 1 })
  })

  it.each([
    ['a start after something was submitted', [starts(1), submits(1)], starts(2)],
    ['a step of an earlier attempt', [starts(1), starts(2)], steps(1)],
    ['a submission of an earlier attempt', [starts(1), starts(2)], submits(1)],
    ['the same start twice', [starts(1)], starts(1)],
    ['a cancellation once it is completed', [starts(1), finishes], cancels],
  ] as const)('does not hear %s', (_what, before, event) => {
    expect(outcomeOf(machine, job(...before), event)).toBe('ignored')
  })

  it.each([
    ['finished', finishes],
    ['failed', fails],
    ['cancelled', cancels],
  ] as const)('keeps nothing of what was typed once it is %s', (_how, end) => {
    expect(JSON.stringify(job(starts(1)).context)).toContain('typed')
    expect(JSON.stringify(job(starts(1), end).context.request)).not.toContain('typed')
  })
})
