import { describe, expect, it } from 'vitest'
import { initialTransition } from 'xstate'
import { after, outcomeOf, pathOf } from '../outcome.ts'
import {
  cancels,
  continues,
  deletion,
  expires,
  fails,
  finishes,
  machine,
  retention,
  starts,
  steps,
  submits,
  waits,
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
    ['open.waiting', [starts(1), waits(1)]],
    ['open.waiting', [starts(1), waits(1), submits(1)]],
    ['open.running', [starts(1), waits(1), continues]],
    ['open.running', [starts(1), waits(1), starts(2)]],
    ['failed', [starts(1), waits(1), expires]],
    ['failed', [starts(1), waits(1), fails]],
    ['cancelled', [starts(1), waits(1), cancels]],
    ['erasing', [starts(1), waits(1), deletion]],
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

  it('restarts its steps when it is run again', () => {
    expect(job(starts(1), steps(1), starts(2)).context).toMatchObject({ attempts: 2, steps: [], started_at_ms: 1 })
  })

  it.each([
    ['a start after something was submitted', [starts(1), submits(1)], starts(2)],
    ['a step of an earlier attempt', [starts(1), starts(2)], steps(1)],
    ['a submission of an earlier attempt', [starts(1), starts(2)], submits(1)],
    ['a start while it waits after something was submitted', [starts(1), waits(1), submits(1)], starts(2)],
    ['a wait of an earlier attempt', [starts(1), starts(2)], waits(1)],
    ['the same start twice', [starts(1)], starts(1)],
    ['a cancellation once it is completed', [starts(1), finishes], cancels],
  ] as const)('ignores %s', (_what, before, event) => {
    expect(outcomeOf(machine, job(...before), event)).toBe('ignored')
  })

  it.each([
    ['before it begins', []],
    ['while it runs', [starts(1)]],
    ['a second time', [starts(1), waits(1), continues]],
    ['once it has ended', [starts(1), fails]],
  ] as const)('refuses to continue %s', (_when, before) => {
    expect(outcomeOf(machine, job(...before), continues)).toBe('refused invalid_transition')
  })

  it('states what it waits for, and until when', () => {
    const waiting = { message: 'Please log in.', since_ms: 1_000, expires_at_ms: 61_000 }
    expect(job(starts(1), waits(1)).context).toMatchObject({ waiting })
    for (const end of [continues, expires, fails, cancels, finishes, starts(2)])
      expect(job(starts(1), waits(1), end).context.waiting).toBeNull()
  })

  it('fails if it is not continued in time', () => {
    expect(job(starts(1), waits(1), expires).context).toMatchObject({
      ...{ error: { code: 'hand_over_expired' }, ended_at_ms: 61_000 },
    })
  })

  it.each([
    ['finished', finishes],
    ['failed', fails],
    ['cancelled', cancels],
  ] as const)('keeps none of the typed text once it is %s', (_how, end) => {
    expect(JSON.stringify(job(starts(1)).context)).toContain('typed')
    expect(JSON.stringify(job(starts(1), end).context.request)).not.toContain('typed')
  })
})
