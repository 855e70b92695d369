import type { EventStream, StreamControl } from '#actors/call/call.ts'
import type { JsonObject, LogEvent } from '#storage/ports.ts'
import type { PageFrame } from '../engine/live/page-frames.ts'

/** What there is to be seen; `frame` null: nothing new. */
export interface Shown {
  readonly frame: PageFrame | null
}

/** Where a live view takes its frames from. */
export interface LiveSource {
  readonly first: Shown
  /** The newest frame after a number; `frame` null: none within seconds. Null: the page is no person's now. */
  readonly next: (after: number) => Promise<Shown | null>
  /** Why there are no more frames; null: that was for a moment only. */
  readonly ended: () => Promise<'continued' | 'ended' | null>
  /** Called when a stream broke. */
  readonly failed: (error: unknown) => void
}

/** Frames of a page, as fast as its reader takes them: the next is fetched when the one before has gone. */
export const liveStream = ({ first, next, ended, failed }: LiveSource): EventStream => ({
  start: (sink): StreamControl => {
    let stopped = false
    let isFirst = true
    let wake = (): void => {}
    const follow = async (): Promise<void> => {
      for (let after = 0; !stopped; ) {
        const found = isFirst ? first : await next(after)
        isFirst = false
        if (stopped) return
        if (found === null) {
          end(await ended())
          return
        }
        if (found.frame === null) continue
        after = found.frame.number
        const goesOn = sink.push([eventOf('frame', after, shownFrame(found.frame))])
        if (!goesOn) await new Promise<void>((resolve) => (wake = resolve))
      }
    }
    const end = (reason: 'continued' | 'ended' | null): void => {
      if (stopped) return
      if (reason !== null) sink.push([eventOf('ended', 0, { reason })])
      sink.end(reason === null ? 'lost' : 'done')
    }
    follow().catch((error: unknown) => {
      if (stopped) return
      sink.end('lost')
      failed(error)
    })
    return {
      resume: () => wake(),
      stop: () => {
        stopped = true
        wake()
      },
    }
  },
})

const eventOf = (event_type: string, sequence: number, payload: JsonObject): LogEvent => ({
  ...{ event_type, sequence, payload },
})

const shownFrame = ({ image, width, height, url, taken_at_ms }: PageFrame): JsonObject => ({
  ...{ image, width, height, url, taken_at: new Date(taken_at_ms).toISOString() },
})
