import type { EventSink, EventStream, StreamControl } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** A stream that is obtained asynchronously; if that fails, it ends as `deleted` or `lost`. */
export const deferredStream = (find: () => Promise<EventStream>, onError: (error: unknown) => void): EventStream => ({
  start: (sink: EventSink): StreamControl => {
    let control: StreamControl | null = null
    let stopped = false
    const begin = async (): Promise<void> => {
      const stream = await find()
      if (!stopped) control = stream.start(sink)
    }
    const failed = (error: unknown): void => {
      if (!stopped) sink.end(isMissing(error) ? 'deleted' : 'lost')
      onError(error)
    }
    void begin().catch(failed)
    return {
      resume: () => control?.resume(),
      stop: () => {
        stopped = true
        control?.stop()
      },
    }
  },
})

const isMissing = (error: unknown): boolean => error instanceof ServiceError && error.code === 'not_found'
