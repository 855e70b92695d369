import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keptAliveAfter, PushedBody } from '#gateway/call/streaming/pushed-body.ts'

/** A reader that accepts `room` parts before it requests a pause. */
const reader = (room = Number.POSITIVE_INFINITY) => {
  const parts: string[] = []
  const state = { ended: 0, aborted: 0, room }
  return {
    parts,
    state,
    push: (part: string | Uint8Array) => {
      parts.push(String(part))
      return --state.room > 0
    },
    end: (last?: string | Uint8Array) => {
      if (last !== undefined) parts.push(String(last))
      state.ended++
    },
    abort: () => {
      state.aborted++
    },
  }
}

const task = () => new Promise((resolve) => setImmediate(resolve))

describe('a pushed body', () => {
  const [resume, gone] = [vi.fn(), vi.fn()]
  beforeEach(() => vi.clearAllMocks())
  afterEach(() => vi.useRealTimers())

  it('keeps what is written before a reader starts', () => {
    const body = new PushedBody({ resume })
    body.write('a')
    body.write(Buffer.from('b'))
    const sink = reader()
    body.start(sink)
    expect(sink.parts).toEqual(['ab'])
  })

  it('joins the frames of one task', async () => {
    const body = new PushedBody({ resume })
    const sink = reader()
    body.start(sink)
    body.write('a')
    await task()
    body.write('b')
    body.write('c')
    expect(sink.parts).toEqual(['a'])
    await task()
    expect(sink.parts).toEqual(['a', 'bc'])
  })

  it('ends once, after all written parts', async () => {
    const body = new PushedBody({ resume })
    const sink = reader()
    body.start(sink)
    body.write('a')
    body.write('b')
    body.end()
    body.end()
    body.abort()
    body.write('late')
    await task()
    expect(sink.parts).toEqual(['ab'])
    expect(sink.state).toMatchObject({ ended: 1, aborted: 0 })
  })

  it('aborts after all written parts, and does not end then', async () => {
    const body = new PushedBody({ resume })
    const sink = reader()
    body.start(sink)
    body.write('a')
    body.abort()
    body.end()
    await task()
    expect(sink.parts).toEqual(['a'])
    expect(sink.state).toMatchObject({ ended: 0, aborted: 1 })
  })

  it.each([
    ['whole', 'end', { ended: 1, aborted: 0 }],
    ['broken', 'abort', { ended: 0, aborted: 1 }],
  ] as const)('that was %s before a reader starts settles at once', (_, ending, state) => {
    const body = new PushedBody({ resume })
    body.write('all')
    body[ending]()
    const sink = reader()
    body.start(sink)
    expect(sink.parts).toEqual(['all'])
    expect(sink.state).toMatchObject(state)
  })

  it('ends without any written part', () => {
    const body = new PushedBody({ resume })
    const sink = reader()
    body.start(sink)
    body.end()
    expect(sink.parts).toEqual([])
    expect(sink.state.ended).toBe(1)
  })

  it('pauses its writer for a slow reader', async () => {
    const body = new PushedBody({ resume })
    const sink = reader(1)
    const control = body.start(sink)
    expect(body.write('a')).toBe(true)
    await task()
    expect(body.write('b')).toBe(false)
    control.resume()
    expect(resume).toHaveBeenCalledTimes(1)
    control.resume()
    expect(resume).toHaveBeenCalledTimes(1)
  })

  it('sends nothing to a reader that left, and reports that once', async () => {
    const body = new PushedBody({ resume, gone })
    const sink = reader()
    const control = body.start(sink)
    body.write('a')
    await task()
    control.stop()
    body.write('b')
    body.end()
    await task()
    expect(sink.parts).toEqual(['a'])
    expect(sink.state.ended).toBe(0)
    expect(gone).toHaveBeenCalledTimes(1)
  })

  it('sends a keep-alive comment during silence', async () => {
    vi.useFakeTimers()
    const body = new PushedBody({ resume }, keptAliveAfter(1000))
    const sink = reader()
    body.start(sink)
    body.write('a')
    await vi.advanceTimersByTimeAsync(999)
    expect(sink.parts).toEqual(['a'])
    await vi.advanceTimersByTimeAsync(500)
    expect(sink.parts).toEqual(['a', ': keep-alive\n\n'])
    body.end()
    await vi.advanceTimersByTimeAsync(5000)
    expect(sink.parts).toHaveLength(2)
  })

  it('sends no keep-alive comment to a paused reader', async () => {
    vi.useFakeTimers()
    const body = new PushedBody({ resume }, keptAliveAfter(1000))
    const sink = reader(1)
    body.start(sink)
    body.write('a')
    await vi.advanceTimersByTimeAsync(5000)
    expect(sink.parts).toEqual(['a'])
  })
})

describe('the head of a pushed body', () => {
  const [resume, open] = [vi.fn(), vi.fn()]
  beforeEach(() => vi.clearAllMocks())
  afterEach(() => vi.useRealTimers())

  it('is sent once, with the headers of the first frame', () => {
    const body = new PushedBody({ open, resume })
    expect(body.isOpen).toBe(false)
    body.open([['x-a', '1']])
    body.open([['x-b', '2']])
    expect(open.mock.calls).toEqual([[[['x-a', '1']]]])
    expect(body.isOpen).toBe(true)
  })

  it('is sent with a comment after a long silence', async () => {
    vi.useFakeTimers()
    const body = new PushedBody({ open, resume }, keptAliveAfter(1000))
    await vi.advanceTimersByTimeAsync(1500)
    expect(open.mock.calls).toEqual([[[]]])
    const sink = reader()
    body.start(sink)
    expect(sink.parts).toEqual([': keep-alive\n\n'])
  })

  it('is never sent after the body was closed', async () => {
    vi.useFakeTimers()
    const body = new PushedBody({ open, resume }, keptAliveAfter(1000))
    body.close()
    await vi.advanceTimersByTimeAsync(5000)
    expect(open).not.toHaveBeenCalled()
  })
})
