import { describe, expect, it } from 'vitest'
import type { ByteSink } from '#actors/call/call.ts'
import { recordedStream } from '#transport/streams/recorded-stream.ts'

const megabyte = Buffer.alloc(1024 * 1024)

/** A recorded stream, whose source the test pushes. */
const open = () => {
  const held: { sink: ByteSink | null } = { sink: null }
  const source = {
    start: (sink: ByteSink) => {
      held.sink = sink
      return { resume: () => {}, stop: () => {} }
    },
  }
  const recorded = recordedStream({ contentType: 'audio/pcm', bytes: source })
  if (recorded === null || held.sink === null) throw new Error('not recorded')
  const { bytes } = recorded.result
  if (typeof bytes !== 'object' || !('start' in bytes)) throw new Error('no stream')
  const reader = { parts: 0, push: () => ++reader.parts > 0, end: () => {}, abort: () => {} }
  return { source: held.sink, stream: bytes, reader, kept: recorded.recorded }
}

describe('a stream that is recorded', () => {
  it('is kept whole when its reader leaves, up to the longest one', async () => {
    const { source, stream, reader, kept } = open()
    source.push(megabyte)
    stream.start(reader).stop()
    for (let at = 0; at < 7; at++) source.push(megabyte)
    source.end()
    const { bytes } = await kept
    if (typeof bytes !== 'object' || !('base64' in bytes)) throw new Error('not kept')
    expect([bytes.broken, Buffer.from(bytes.base64, 'base64').length]).toEqual([false, 8 * megabyte.length])
    expect(reader.parts).toBe(1)
  })

  it.each([
    ['after its reader has left', 1, 8],
    ['before its reader leaves', 9, 0],
  ])('holds no more than that, also of one that exceeds it %s', async (_, before, after) => {
    const { source, stream, reader, kept } = open()
    const control = stream.start(reader)
    for (let at = 0; at < before; at++) source.push(megabyte)
    control.stop()
    for (let at = 0; at < after; at++) source.push(megabyte)
    source.end()
    await expect(kept).rejects.toMatchObject({ code: 'idempotency_answer_not_kept' })
  })

  it.each([false, true])('has all of its parts for a reader that starts late; ended before: %s', async (isEnded) => {
    const { source, stream, reader, kept } = open()
    for (let at = 0; at < 9; at++) source.push(megabyte)
    if (isEnded) source.end()
    const lengths: number[] = []
    stream.start({ ...reader, push: (part) => lengths.push(part.length) > 0 })
    expect(lengths).toEqual([9 * megabyte.length])
    if (!isEnded) source.end()
    await expect(kept).rejects.toMatchObject({ code: 'idempotency_answer_not_kept' })
  })
})
