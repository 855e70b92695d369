import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { follow } from '../../console/follow.ts'

/** A fake of the browser's EventSource. */
class Source {
  readyState = 0
  onopen: (() => void) | null = null
  onerror: (() => void) | null = null
  closed = false
  readonly url: string
  readonly #listeners = new Map<string, (frame: { lastEventId: string; data: string }) => void>()

  constructor(url: string) {
    this.url = url
  }

  addEventListener(name: string, listener: (frame: { lastEventId: string; data: string }) => void) {
    this.#listeners.set(name, listener)
  }

  frame(name: string, id: number, payload: unknown) {
    this.#listeners.get(name)?.({ lastEventId: String(id), data: JSON.stringify(payload) })
  }

  fails(readyState: number) {
    this.readyState = readyState
    this.onerror?.()
  }

  close() {
    this.closed = true
  }
}

const start = ({ mayRetry = async () => true } = {}) => {
  const sources: Source[] = []
  const events: { readonly sequence: number; readonly event_type: string; readonly payload: unknown }[] = []
  const statuses: string[] = []
  const stop = follow({
    url: () => `/stream?after=${events.at(-1)?.sequence ?? 0}`,
    onEvent: (event: (typeof events)[number]) => events.push(event),
    onStatus: (status: string) => statuses.push(status),
    mayRetry,
    open: (url: string) => {
      const source = new Source(url)
      sources.push(source)
      return source
    },
  })
  const newest = () => {
    const source = sources.at(-1)
    if (source === undefined) throw new Error('nothing was opened')
    return source
  }
  return { sources, newest, events, statuses, stop }
}

describe('following a log', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('passes each frame on with its event type in the log', () => {
    const { newest, events } = start()
    newest().frame('turn.started', 1, { turn_number: 1 })
    newest().frame('response.output_text.delta', 2, { delta: 'Hi' })
    expect(events).toMatchObject([
      { sequence: 1, event_type: 'turn.started', payload: { turn_number: 1 } },
      { sequence: 2, event_type: 'output_text.delta', payload: { delta: 'Hi' } },
    ])
  })

  it('leaves a broken stream to the browser, which resumes it', async () => {
    const { newest, sources, statuses } = start()
    newest().onopen?.()
    newest().fails(0)
    await vi.runAllTimersAsync()
    expect(sources).toHaveLength(1)
    newest().onopen?.()
    expect(statuses).toEqual(['connecting', 'live', 'reconnecting', 'live'])
  })

  it('reopens a refused stream after the last event, with a longer delay each time', async () => {
    const { newest, sources } = start()
    newest().frame('turn.started', 1, {})
    newest().fails(2)
    await vi.advanceTimersByTimeAsync(500)
    expect(sources.map(({ url }) => url)).toEqual(['/stream?after=0', '/stream?after=1'])
    newest().fails(2)
    await vi.advanceTimersByTimeAsync(999)
    expect(sources).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(sources).toHaveLength(3)
  })

  it('stops when a retry is not allowed', async () => {
    const { newest, sources } = start({ mayRetry: async () => false })
    newest().fails(2)
    await vi.runAllTimersAsync()
    expect(sources).toHaveLength(1)
  })

  it('opens no stream again that ended because its actor was deleted', async () => {
    const { newest, sources, statuses } = start()
    newest().onopen?.()
    newest().frame('stream.ended', 0, { reason: 'deleted' })
    await vi.runAllTimersAsync()
    expect([sources.length, newest().closed, statuses.at(-1)]).toEqual([1, true, 'ended'])
  })

  it('reopens a stream whose credential has ended only if that is allowed', async () => {
    const allowed = start()
    const refused = start({ mayRetry: async () => false })
    for (const { newest } of [allowed, refused]) newest().frame('stream.ended', 0, { reason: 'credential_ended' })
    await vi.runAllTimersAsync()
    expect([allowed.sources.length, refused.sources.length]).toEqual([2, 1])
    expect([allowed, refused].map(({ events }) => events)).toEqual([[], []])
  })

  it('opens no stream after it was stopped', async () => {
    const { newest, sources, stop } = start()
    newest().fails(2)
    stop()
    await vi.runAllTimersAsync()
    expect(sources).toHaveLength(1)
    expect(newest().closed).toBe(true)
  })
})
