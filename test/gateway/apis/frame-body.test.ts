import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FrameBody } from '#gateway/apis/frame-body.ts'

/** A reader that takes `room` parts before it asks for a pause. */
const reader = (room = Number.POSITIVE_INFINITY) => {
  const parts: (string | Uint8Array)[] = []
  const state = { ended: 0, room }
  return {
    parts,
    state,
    push: (part: string | Uint8Array) => {
      parts.push(part)
      return --state.room > 0
    },
    end: () => {
      state.ended++
    },
    abort: () => {},
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a body of frames', () => {
  const resumed = vi.fn()
  beforeEach(() => resumed.mockClear())
  afterEach(() => vi.useRealTimers())

  it('keeps what is written before somebody reads', () => {
    const body = new FrameBody({ onResume: resumed })
    body.write('a')
    body.write('b')
    const sink = reader()
    body.start(sink)
    expect(sink.parts).toEqual(['ab'])
  })

  it('writes its first frames at once, and those of one turn of the loop together', async () => {
    const body = new FrameBody({ onResume: resumed })
    const sink = reader()
    body.start(sink)
    body.write('a')
    expect(sink.parts).toEqual(['a'])
    body.write('b')
    body.write('c')
    expect(sink.parts).toEqual(['a'])
    await turn()
    expect(sink.parts).toEqual(['a', 'bc'])
  })

  it('ends after all that was written, once', async () => {
    const body = new FrameBody({ onResume: resumed })
    const sink = reader()
    body.start(sink)
    body.write('a')
    body.write('b')
    body.end()
    body.end()
    body.write('late')
    await turn()
    expect(sink.parts).toEqual(['a', 'b'])
    expect(sink.state.ended).toBe(1)
  })

  it('that was whole before somebody read is whole at once', () => {
    const body = new FrameBody({ onResume: resumed })
    body.write('all')
    body.end()
    const sink = reader()
    body.start(sink)
    expect(sink.parts).toEqual(['all'])
    expect(sink.state.ended).toBe(1)
  })

  it('asks its writer to wait for a slow reader', () => {
    const body = new FrameBody({ onResume: resumed })
    const sink = reader(1)
    const control = body.start(sink)
    expect(body.write('a')).toBe(false)
    control.resume()
    expect(resumed).toHaveBeenCalledTimes(1)
    control.resume()
    expect(resumed).toHaveBeenCalledTimes(1)
  })

  it('gives nothing to a reader that is gone', async () => {
    const body = new FrameBody({ onResume: resumed })
    const sink = reader()
    const control = body.start(sink)
    body.write('a')
    control.stop()
    body.write('b')
    body.end()
    await turn()
    expect(sink.parts).toEqual(['a'])
    expect(sink.state.ended).toBe(0)
  })

  it('shows in silence that it lives', () => {
    vi.useFakeTimers()
    const body = new FrameBody({ onResume: resumed, keepAliveMs: 1000 })
    const sink = reader()
    body.start(sink)
    body.write('a')
    vi.advanceTimersByTime(999)
    expect(sink.parts).toEqual(['a'])
    vi.advanceTimersByTime(1001)
    expect(sink.parts).toEqual(['a', ': keep-alive\n\n', ': keep-alive\n\n'])
    body.end()
    vi.advanceTimersByTime(5000)
    expect(sink.parts).toHaveLength(3)
  })
})
