import type { EventSink, EventStream, StreamControl } from '../../actors/call/call.ts'

/** A stream that is only known later; a failure to get it ends it as lost. */
export const deferredStream = (find: () => Promise<EventStream>, onError: (error: unknown) => void): EventStream => ({
  start: (sink: EventSink): StreamControl => {
    let control: StreamControl | null = null
    let stopped = false
    find().then(
      (stream) => {
        if (!stopped) control = stream.start(sink)
      },
      (error: unknown) => {
        onError(error)
        if (!stopped) sink.end('lost')
      },
    )
    return {
      resume: () => control?.resume(),
      stop: () => {
        stopped = true
        control?.stop()
      },
    }
  },
})
