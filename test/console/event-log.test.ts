import { describe, expect, it } from 'vitest'
import { sessionEvents } from '#specs/events/events.ts'
import { runEvents } from '#specs/events/run-events.ts'
import { wireName } from '#transport/streams/sse-frames.ts'
import { EventLog, joined, logName } from '../../console/event-log.ts'
import { eventNames } from '../../console/event-names.ts'

interface Shown {
  readonly sequence: number
  readonly event_type: string
  readonly turn_number: number | null
  readonly payload: Record<string, unknown>
  readonly created_at: string
}

const event = (sequence: number, event_type: string, payload: Record<string, unknown> = {}): Shown => ({
  sequence,
  event_type,
  turn_number: null,
  payload,
  created_at: '2026-01-01T00:00:00.000Z',
})

const delta = (sequence: number, text: string) => event(sequence, 'output_text.delta', { delta: text })

const turn = [
  event(1, 'turn.started', { turn_number: 1 }),
  delta(2, 'Let '),
  delta(3, 'me see.'),
  event(4, 'tool_call.started', { tool: 'weather' }),
  delta(5, 'Sunny'),
  event(6, 'turn.completed', { turn_number: 1, output: 'Let me see.Sunny' }),
]

describe('the event log', () => {
  it('joins consecutive deltas into one text and keeps each event', () => {
    const texts = joined(turn).flatMap((entry) => (entry.kind === 'text' ? [entry] : []))
    expect(texts.map(({ text }) => text)).toEqual(['Let me see.', 'Sunny'])
    expect(texts[0]?.events.map(({ sequence }) => sequence)).toEqual([2, 3])
  })

  it('has texts that together are the output of the turn', () => {
    const text = joined(turn)
      .map((entry) => (entry.kind === 'text' ? entry.text : ''))
      .join('')
    expect(text).toBe(turn.at(-1)?.payload.output)
  })

  it('classifies each added event as new, grown text, known or after a gap', () => {
    const log = new EventLog(0)
    expect(turn.slice(0, 4).map((each) => log.add(each))).toEqual(['new', 'new', 'grown', 'new'])
    expect(log.add(delta(3, 'me see.'))).toBe('known')
    expect(log.add(event(6, 'turn.completed'))).toBe('hole')
    expect(log.last).toBe(4)
    expect(log.entries).toHaveLength(3)
  })

  it('assigns streamed events to the current turn', () => {
    const log = new EventLog(0)
    for (const each of [...turn, event(7, 'turn.started', { turn_number: 2 }), delta(8, 'Two')]) log.add(each)
    const turns = log.entries.map((entry) => (entry.kind === 'text' ? entry.events[0] : entry.event)?.turn_number)
    expect(turns).toEqual([1, 1, 1, 1, 1, 2, 2])
  })

  it('does not join the texts of two turns', () => {
    const other = { ...delta(2, 'b'), turn_number: 2 }
    expect(joined([{ ...delta(1, 'a'), turn_number: 1 }, other])).toHaveLength(2)
  })

  it('accepts older events before its own, and further ones after a trim', () => {
    const log = new EventLog(3)
    for (const each of turn.slice(3)) log.add(each)
    expect(log.before).toBe(3)
    expect(log.addBefore(turn)).toHaveLength(2)
    expect(log.before).toBe(0)
    expect(log.trim(2)).toBe(3)
    expect(log.before).toBe(4)
    expect(log.add(event(7, 'turn.started'))).toBe('new')
  })
})

describe('event names of the console', () => {
  it('include every declared event by its wire name', () => {
    const declared = [...Object.keys(sessionEvents), ...Object.keys(runEvents)]
    expect(eventNames).toEqual(expect.arrayContaining(declared.map((name) => wireName(name, false))))
    expect(eventNames.map(logName)).toEqual(expect.arrayContaining(declared))
  })
})
