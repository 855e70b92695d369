import { setTimeout as pause } from 'node:timers/promises'
import { type Frame, frames } from '#scripts/quickstart/sse-lines.ts'

/** What a client sees of a stream: its frames, and each loss of the connection. */
export interface StreamListener {
  readonly onFrame: (frame: Frame) => void
  readonly onLost: (lastId: string) => void
  readonly onResumed: (lastId: string) => void
}

/** Reads a stream to the end of its turn; reconnects after the last event whenever the connection breaks. */
export const readStream = async (url: string, authorization: string, listener: StreamListener): Promise<void> => {
  let [last, isLost] = ['0', false]
  for (;;) {
    const headers = { authorization, 'last-event-id': last }
    try {
      const { body } = await fetch(url, { headers })
      if (body === null) throw new Error('the stream has no body')
      if (isLost) listener.onResumed(last)
      isLost = false
      for await (const frame of frames(body)) {
        if (frame.id !== '') last = frame.id
        listener.onFrame(frame)
        if (frame.event === 'turn.completed') return
      }
    } catch {
      if (!isLost) listener.onLost(last)
      isLost = true
      await pause(100)
    }
  }
}
