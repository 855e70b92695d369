import { describe, expect, it } from 'vitest'
import { type CallStatus, firstStatus, nextStatus, toolCallMachine } from '#machines/tool-call/tool-call.ts'
import { restingStates } from '../outcome.ts'
import { events } from './tool-call-samples.ts'

describe('a tool call', () => {
  it('starts in a state that depends on its tool and its approval', () => {
    expect(firstStatus({ runs: false, gated: true, by: 'caller_now' })).toBe('resolved')
    expect(firstStatus({ runs: true, gated: true, by: 'caller_later' })).toBe('pending')
    expect(firstStatus({ runs: true, gated: false, by: 'caller_now' })).toBe('pending')
    expect(firstStatus({ runs: true, gated: false, by: 'caller_later' })).toBe('deferred')
    expect(firstStatus({ runs: true, gated: false, by: 'server' })).toBe('running')
  })

  const ends = { 'its action has run': 'resolved', 'its tool has answered': 'resolved' } as const

  /** Events that are not listed are ignored. */
  const table: Record<CallStatus, Partial<Record<keyof typeof events, CallStatus>>> = {
    pending: {
      approved: 'running',
      'its input is answered': 'running',
      'approved with an output': 'resolved',
      rejected: 'resolved',
    },
    running: {
      ...ends,
      'its connection is missing': 'pending',
      'its server requests input': 'pending',
      'its child has ended': 'resolved',
      'its child was refused': 'resolved',
    },
    deferred: { 'the next turn': 'resolved' },
    resolved: {},
  }

  it.each(Object.entries(table))('that is %s handles the events of the table and no others', (status, row) => {
    const known = Object.keys(table).find((each): each is CallStatus => each === status)
    const taken = Object.entries(events).map(([name, event]) => [name, known && nextStatus(known, event)])
    const expected = new Map<string, CallStatus>(Object.entries(row))
    expect(taken).toEqual(Object.keys(events).map((name) => [name, expected.get(name) ?? null]))
  })

  it('rests exactly in the states that sessions and runs store', () => {
    expect(restingStates(toolCallMachine)).toEqual(Object.keys(table))
  })
})
