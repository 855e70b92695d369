import { describe, expect, it } from 'vitest'
import type { LogEvent } from '#storage/ports.ts'
import { ofOneAttempt } from '#transport/streams/one-attempt.ts'

const delta = (sequence: number, text: string, attempt?: number): LogEvent => ({
  ...{ sequence, event_type: 'output_text.delta', turn_number: 1 },
  payload: { delta: text, ...(attempt !== undefined && { attempt }) },
})
const started: LogEvent = { sequence: 1, event_type: 'turn.started', turn_number: 1, payload: {} }
const restarted = (sequence: number, attempt: number): LogEvent => ({
  ...{ sequence, event_type: 'turn.restarted', turn_number: 1, payload: { from_sequence: 2, attempt } },
})
const completed: LogEvent = { sequence: 4000, event_type: 'turn.completed', turn_number: 1, payload: { output: 'b' } }

/** What a reader gets that has the events up to `after`, one batch each or all in one. */
const shown = (after: number, events: readonly LogEvent[]) =>
  [events.map((event) => [event]), [events]].map((batches) => {
    const got: number[] = []
    const sink = {
      push: (some: readonly LogEvent[]) => {
        got.push(...some.map(({ sequence }) => sequence))
        return true
      },
      end: () => {},
    }
    ofOneAttempt({
      after,
      start: ({ push }) => {
        for (const batch of batches) push(batch)
        return { resume: () => {}, stop: () => {} }
      },
    }).start(sink)
    return got
  })

const twice = (sequences: readonly number[]) => [sequences, sequences]

describe('a reader that knows nothing of restarts', () => {
  it('gets every event of a turn that was not restarted', () => {
    expect(shown(0, [started, delta(2, 'a'), delta(3, 'b'), completed])).toEqual(twice([1, 2, 3, 4000]))
  })

  it('gets no text of a second attempt after text of the first', () => {
    const events = [started, delta(2, 'a'), restarted(1027, 2), delta(1028, 'b', 2), completed]
    expect(shown(0, events)).toEqual(twice([1, 2, 4000]))
  })

  it('gets none either if it has that text from an earlier connection', () => {
    expect(shown(5, [restarted(1027, 2), delta(1028, 'b', 2), completed])).toEqual(twice([4000]))
  })

  it('gets the text of the second attempt if it has none of the first', () => {
    expect(shown(0, [started, restarted(1026, 2), delta(1027, 'b', 2), completed])).toEqual(twice([1, 1027, 4000]))
    expect(shown(1, [restarted(1026, 2), delta(1027, 'b', 2), completed])).toEqual(twice([1027, 4000]))
  })

  it('gets the text of one attempt where there are three', () => {
    const events = [
      ...[started, restarted(1026, 2), delta(1027, 'b', 2)],
      ...[restarted(2052, 3), delta(2053, 'b', 3), completed],
    ]
    expect(shown(0, events)).toEqual(twice([1, 1027, 4000]))
  })

  it('gets the text of the next turn', () => {
    const next: LogEvent = { sequence: 4001, event_type: 'turn.started', turn_number: 2, payload: {} }
    const events = [restarted(1027, 2), delta(1028, 'b', 2), completed, next, delta(4002, 'c')]
    expect(shown(5, events)).toEqual(twice([4000, 4001, 4002]))
  })
})
