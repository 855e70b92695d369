import type { LogEvent } from '#storage/ports.ts'
import type { EventStream, StreamEnding } from '../messages/event-stream.ts'

/** Number of events that wait for a slow reader; the rest stays in the log. */
const maxWaiting = 256

/**
 * A stream that broke: another process has taken over, or the store was away for long.
 *
 * @example
 * if (error instanceof StreamLost) events = system.follow(id, { after: last.sequence })
 */
export class StreamLost extends Error {
  override readonly name = 'StreamLost'
}

/** Iterates over a stream, which stops with the loop. @throws {StreamLost} */
export async function* followedEvents(stream: EventStream): AsyncGenerator<LogEvent, void> {
  const waiting: LogEvent[] = []
  let ending: StreamEnding | undefined
  let wake = (): void => {}
  const control = stream.start({
    push: (events) => {
      waiting.push(...events)
      wake()
      return waiting.length < maxWaiting
    },
    end: (reason) => {
      ending = reason
      wake()
    },
  })
  try {
    for (;;) {
      yield* waiting.splice(0)
      if (waiting.length > 0) continue
      if (ending === 'lost') throw new StreamLost('the stream broke')
      if (ending !== undefined) return
      const more = new Promise<void>((resolve) => {
        wake = resolve
      })
      control.resume()
      if (waiting.length === 0 && ending === undefined) await more
    }
  } finally {
    control.stop()
  }
}
