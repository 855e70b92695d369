import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { ShownEvents, shownBy } from '#gateway/apis/responses/background/shown-events.ts'
import { ShownStream } from '#gateway/apis/responses/background/shown-stream.ts'
import { PushedBody } from '#gateway/call/streaming/pushed-body.ts'
import { Feed } from '#runtime/messages/feed.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }

/** The log of a response that has ended: ten events, each with the text of 1,000 deltas. */
const log = () => {
  const texts: string[] = []
  const emit = shownBy((text) => texts.push(text))
  for (let at = 0; at < 10_000; at++) emit('response.output_text.delta', { ...place, delta: `${at} ` })
  return Array.from({ length: 10 }, (_, at) => ({
    sequence: at + 1,
    event_type: 'response.output',
    payload: { delta: texts.slice(at * 1_000, (at + 1) * 1_000).join('') },
  }))
}

/** Reads the log; `takes` says whether the reader accepts more after a part. Gives the deltas of each part. */
const reading = (takes: (parts: number) => boolean) => {
  const events = log()
  const feed = new Feed(
    { read: (_, after) => events.slice(after), standing: () => undefined },
    { log: pino({ level: 'silent' }), clock: new VirtualClock() },
  )
  const parts: string[][] = []
  let source = { resume: () => {}, stop: () => {} }
  const read = new Promise<readonly string[][]>((resolve) => {
    const body = new PushedBody({ resume: () => stream.resume() })
    const shown = new ShownEvents({ after: undefined, attempt: 0 }, (frame) => body.write(frame))
    const stream = new ShownStream(body, shown, { more: () => control.resume(), end: () => body.end() })
    const take = (part: string | Uint8Array) => {
      const read = Buffer.from(part).toString()
      parts.push(Array.from(read.matchAll(/"delta":"(\d+) "/g), ([, number = '']) => number))
    }
    source = body.start({
      push: (part) => {
        take(part)
        return takes(parts.length)
      },
      end: (part) => {
        if (part !== undefined) take(part)
        resolve(parts)
      },
      abort: () => expect.unreachable(),
    })
    const control = feed.follow('resp_1', 0, { at: 'idle' }).start(stream)
  })
  return { parts, read, resume: () => source.resume() }
}

const all = Array.from({ length: 10_000 }, (_, at) => String(at))

describe('the stream of a response whose log has thousands of deltas', () => {
  it('has all of them in order, a few hundred in a turn of the loop', async () => {
    const parts = await reading(() => true).read
    expect(parts.flat()).toEqual(all)
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(256)
  })

  it('holds no more of them than a reader takes, and has them all once it does', async () => {
    const stopped = reading((parts) => parts !== 2)
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
    expect(stopped.parts.flat().length).toBeLessThanOrEqual(512)
    stopped.resume()
    expect((await stopped.read).flat()).toEqual(all)
  })
})
