import type { ByteSink, ByteStream } from '#actors/call/call.ts'
import { Gate } from '#src/concurrency/gate.ts'
import { cancelled } from '../call/failure.ts'
import type { AudioReader } from '../providers/voice/voice-format.ts'
import type { OpenAnswer } from './voice-call.ts'

/** Receives the progress of a stream. Exactly one of `whole`, `left` and `broken` is called, once. */
export interface StreamWatcher {
  sent(bytes: number): void
  whole(): void
  /** The client has disconnected. */
  left(reason: Error): void
  broken(reason: unknown): void
}

/**
 * Streams the audio of a response as it arrives, with backpressure. When the provider's response breaks off, the stream
 * is aborted.
 */
export const audioStream = (
  answer: OpenAnswer,
  reader: AudioReader,
  { signal, watcher }: { readonly signal: AbortSignal; readonly watcher: StreamWatcher },
): ByteStream => {
  const gate = new Gate()
  let over = false
  const once = (last: () => void): void => {
    if (over) return
    over = true
    signal.removeEventListener('abort', leave)
    answer.close()
    gate.open()
    last()
  }
  const leave = (): void => once(() => watcher.left(cancelled()))
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()

  const hand = async (parts: readonly Buffer[], sink: ByteSink): Promise<void> => {
    for (const part of parts) {
      watcher.sent(part.length)
      if (!sink.push(part)) await gate.closed()
      if (over) return
    }
  }
  const pump = async (sink: ByteSink): Promise<void> => {
    try {
      for (let part = await answer.next(); part !== null; part = await answer.next()) {
        await hand(reader.push(part), sink)
        if (over) return
      }
      await hand(reader.end(), sink)
      once(() => {
        watcher.whole()
        sink.end()
      })
    } catch (error) {
      once(() => {
        watcher.broken(error)
        sink.abort()
      })
    }
  }
  return {
    start(sink) {
      void pump(sink)
      return { resume: () => gate.open(), stop: leave }
    },
  }
}
