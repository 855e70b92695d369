import type { EventStream } from '#runtime/index.ts'
import type { LogEvent } from '#storage/index.ts'

/**
 * A stream for readers that know nothing of restarts: of each turn it has the text of one attempt only, since such a
 * reader would append the text of the next to what that replaces. `turn.completed` has the whole text. A reader that
 * has seen no text of the turn gets the attempt that it finds.
 */
export const ofOneAttempt = (stream: EventStream): EventStream => ({
  ...stream,
  start: (sink) => {
    const attempts = new Attempts(stream.after ?? 0)
    return stream.start({
      push: (events) => {
        const shown = attempts.only(events)
        return shown.length === 0 || sink.push(shown)
      },
      end: (reason) => sink.end(reason),
    })
  },
})

class Attempts {
  /** Sequence of the last event that the reader has. */
  #last: number
  /** Attempt whose text the reader has or gets of the turn in progress; undefined: of none so far. */
  #attempt: number | undefined = 1

  constructor(after: number) {
    this.#last = after
  }

  only(events: readonly LogEvent[]): readonly LogEvent[] {
    for (const event of events)
      if (beginsAttempt.has(event.event_type) || this.#attempt !== attemptOf(event))
        return events.filter((each) => this.#isShown(each))
    return this.#took(events)
  }

  #took(events: readonly LogEvent[]): readonly LogEvent[] {
    this.#last = events.at(-1)?.sequence ?? this.#last
    return events
  }

  #isShown(event: LogEvent): boolean {
    const { event_type, payload, sequence } = event
    const before = this.#last
    this.#last = sequence
    switch (event_type) {
      case 'turn.started':
      case 'session.snapshot':
        this.#attempt = undefined
        return true
      case 'turn.restarted':
        // nothing of the text before has reached the reader
        if (before < Number(payload.from_sequence)) this.#attempt = undefined
        return false
      case 'output_text.delta':
      case 'reasoning.delta':
        this.#attempt ??= attemptOf(event)
        return this.#attempt === attemptOf(event)
      default:
        return true
    }
  }
}

/** Events after which the attempt is not the one before. A turn begins with its first attempt. */
const beginsAttempt: ReadonlySet<string> = new Set(['turn.restarted', 'session.snapshot'])

/** A reader in the middle of a first attempt is the usual one; events without text belong to every attempt. */
const attemptOf = ({ event_type, payload }: LogEvent): number =>
  event_type.endsWith('.delta') && typeof payload.attempt === 'number' ? payload.attempt : 1
