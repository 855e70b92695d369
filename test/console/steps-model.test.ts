import { describe, expect, it } from 'vitest'
import {
  activeAt,
  effectSpans,
  messagesOf,
  nameOf,
  queueSpans,
  type Step,
  StepBook,
  taken,
} from '../../console/steps-model.ts'

const step = (seq: number, more: Partial<Step> = {}): Step => ({
  ...{ seq, at: new Date(1_000 * seq).toISOString(), version: 'session@3', cause: `req_${seq}`, caused_by: 'request' },
  ...{
    event: 'turn',
    from: null,
    to: null,
    context: null,
    events: [],
    effects: [],
    messages: [],
    reminders: [],
    in_flight: [],
  },
  ...more,
})

const call = { id: 'ses_1:2:0', name: 'callModel', policy: 'stream', params: {} }

/** Commits of a turn: creation, model call, two parts, answer. */
const steps = [
  step(1, { caused_by: 'creation', to: 'active.idle' }),
  step(2, {
    from: 'active.idle',
    to: 'active.working.thinking',
    effects: [call],
    in_flight: [call],
    events: [{ sequence: 1, event_type: 'turn.started' }],
  }),
  step(3, {
    cause: `${call.id}#1`,
    caused_by: 'part',
    in_flight: [call],
    events: [{ sequence: 2, event_type: 'output_text.delta' }],
  }),
  step(4, { cause: `${call.id}#2`, caused_by: 'part', in_flight: [call] }),
  step(5, {
    cause: `${call.id}#done`,
    caused_by: 'effect',
    event: 'model_answered',
    from: 'active.working.thinking',
    to: 'active.idle',
    events: [{ sequence: 3, event_type: 'turn.completed' }],
  }),
]

describe('the commits of an actor', () => {
  it('have the state and the newest event at each of them', () => {
    const book = new StepBook()
    expect(book.add(steps)).toHaveLength(5)
    expect(book.add(steps)).toHaveLength(0)
    const at = steps.map((_, index) => [book.stateAt(index), book.sequenceAt(index)])
    expect(at).toEqual([
      ['active.idle', 0],
      ['active.working.thinking', 1],
      ['active.working.thinking', 2],
      ['active.working.thinking', 2],
      ['active.idle', 3],
    ])
  })

  it('have the state before the first change of a partial history', () => {
    const book = new StepBook()
    book.add(steps.slice(2))
    expect(book.stateAt(0)).toBe('active.working.thinking')
    expect(book.statesTo(9)).toEqual([
      ['active', 'active.working', 'active.working.thinking'],
      ['active', 'active.idle'],
    ])
  })

  it('have every active state, outer ones first, also of parallel regions', () => {
    expect(activeAt('active.working.thinking')).toEqual(['active', 'active.working', 'active.working.thinking'])
    expect(activeAt('a.b c')).toEqual(['a', 'a.b', 'c'])
  })

  it('have the first part, end, outcome and attempts of each effect', () => {
    const [span] = effectSpans(steps)
    const ends = { startedAt: 2_000, firstPartAt: 3_000, endedAt: 5_000 }
    expect(span).toMatchObject({ name: 'callModel', ...ends, outcome: 'model_answered', attempts: 1 })
    const threw = step(3, { cause: `${call.id}#threw/x`, caused_by: 'runtime', event: '$threw', in_flight: [call] })
    expect(effectSpans([...steps.slice(0, 2), threw])).toMatchObject([{ attempts: 2, endedAt: null }])
    const cancelled = step(3, { event: 'cancel' })
    expect(effectSpans([...steps.slice(0, 2), cancelled])).toMatchObject([{ endedAt: 3_000, outcome: 'ended' }])
  })

  it('have the times in a queue, also one that has not ended', () => {
    const waited = [
      step(1, { to: 'active.queued' }),
      step(2, { to: null }),
      step(3, { to: 'active.thinking' }),
      step(4, { to: 'active.thinking parts.queued' }),
    ]
    expect(queueSpans(waited)).toEqual([
      { startedAt: 1_000, endedAt: 3_000 },
      { startedAt: 4_000, endedAt: null },
    ])
  })

  it('have the sender, receiver and event of each message', () => {
    const [action, session] = ['act_1', 'ses_1']
    const sent = step(6, { messages: [{ id: 'ses_1:6:m0', to: action, event: 'create' }] })
    const came = step(7, { cause: 'act_1:2:m0', caused_by: 'message', event: 'action_approved' })
    expect(messagesOf(session, [sent, came])).toMatchObject([
      { from: session, to: action, event: 'create' },
      { from: action, to: session, event: 'action_approved' },
    ])
  })

  it('have the event and the guard that decided, and the possible next transitions, from the chart', () => {
    const edge = { points: [], labels: [] }
    const layout = {
      ...{ machine: 'm', version: 1, width: 1, height: 1, nodes: [] },
      edges: [
        { ...edge, from: 'active.working.thinking', to: 'active.idle', details: ['model_answered [isText]'] },
        { ...edge, from: '@any', to: 'deleted', details: ['delete'] },
      ],
    }
    const whole = { ...layout, narrow: { width: 1, height: 1, nodes: [], paths: [] } }
    expect(steps.map((each) => nameOf(whole, each)).at(-1)).toBe('model_answered [isText]')
    expect(taken(whole, ['active.idle'])).toEqual([{ detail: 'delete', to: 'deleted' }])
  })
})
