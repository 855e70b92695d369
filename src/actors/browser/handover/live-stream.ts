import type { EventStream, StreamControl } from '#runtime/index.ts'
import type { JsonObject, LogEvent } from '#storage/index.ts'
import type { PageFrame } from '../engine/live/page-frames.ts'

/** A view of the page; `frame` is null when nothing has changed. */
interface Shown {
  readonly frame: PageFrame | null
}

/** Source of the frames of a live view. */
export interface LiveSource {
  readonly first: Shown
  /** Newest frame after a number; `frame` is null when there is none in time. Null: the page is not handed over. */
  readonly next: (after: number) => Promise<Shown | null>
  /** Returns why there are no more frames; null when they are only interrupted. */
  readonly ended: () => Promise<'continued' | 'ended' | null>
  /** Called when the reader has gone. */
  readonly left: () => void
  /** Called when the stream failed. */
  readonly failed: (error: unknown) => void
}

/** Stream of a page's frames at the speed of its reader: the next frame is fetched once the previous one was sent. */
export const liveStream = ({ first, next, ended, left, failed }: LiveSource): EventStream => ({
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
        left()
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
