import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { Feed, type StreamEnd } from '#runtime/messages/feed.ts'
import { type LogEvent, StoreUnavailable } from '#storage/ports.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { type Reader, read } from '../probe.ts'

const actor = 'prb_1'
const never: StreamEnd = { at: 'never' }
const idle: StreamEnd = { at: 'idle' }

/** A log whose reads a test can hold back, and its feed. */
class Log {
  readonly events: LogEvent[] = []
  busy = true
  live = true
  broken: Error | undefined
  readonly clock = new VirtualClock()
  /** Set: reads go to the store, and answer when this resolves. */
  gate: Promise<void> | undefined
  readonly feed = new Feed(
    {
      read: (_, after) => this.#read(after),
      standing: () => (this.live ? { busy: this.busy, lastSequence: this.events.length } : undefined),
    },
    { log: pino({ level: 'silent' }), clock: this.clock },
  )

  /** Commits events; `publish` false: the feed is not notified. */
  commit(count = 1, publish = true): void {
    const from = this.events.length
    const events = Array.from({ length: count }, (_, i) => ({
      sequence: from + i + 1,
      event_type: `e${from + i + 1}`,
      payload: {},
    }))
    this.events.push(...events)
    if (publish) this.feed.publish(actor, events)
  }

  follow(after: number, end: StreamEnd, capacity?: number): Reader {
    return read(this.feed.follow(actor, after, end), capacity)
  }

  #read(after: number): readonly LogEvent[] | Promise<readonly LogEvent[]> {
    const page = (): readonly LogEvent[] => {
      if (this.broken !== undefined) throw this.broken
      return this.events.slice(after, after + 3)
    }
    return this.gate === undefined ? page() : this.gate.then(page)
  }
}

const sequences = ({ events }: Reader): readonly number[] => events.map((event) => event.sequence)
const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

const gated = (): { gate: Promise<void>; open: () => void } => {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  return { gate, open: () => open() }
}

/** Readers that each block the event loop for `ms` per event, and the sequences that each received. */
const spinning = (log: Log, readers: number, ms: number): readonly (readonly number[])[] => {
  const seen = Array.from({ length: readers }, (): number[] => [])
  for (const own of seen) {
    const push = (events: readonly LogEvent[]): boolean => {
      own.push(...events.map(({ sequence }) => sequence))
      const until = performance.now() + ms * events.length
      while (performance.now() < until);
      return true
    }
    log.feed.follow(actor, 0, never).start({ push, end: () => {} })
  }
  return seen
}

/** The number of events delivered in each turn of the event loop, until every reader has `each` events. */
const perTurn = async (seen: readonly (readonly number[])[], each: number): Promise<readonly number[]> => {
  const count = (): number => seen.reduce((sum, { length }) => sum + length, 0)
  const counts = [count()]
  while (count() < each * seen.length) {
    await new Promise(setImmediate)
    counts.push(count())
  }
  return counts.slice(1).map((now, at) => now - (counts[at] ?? 0))
}

describe('a reader', () => {
  it('receives the events it missed over several pages, and then new ones', () => {
    const log = new Log()
    log.commit(10)
    const reader = log.follow(2, never)
    log.commit(2)
    expect(sequences(reader)).toEqual(upTo(12, 3))
  })

  it('receives the event after a gap that a crash has left at once, also if it was shown text of the gap', () => {
    const log = new Log()
    log.commit(3)
    const reader = log.follow(0, never)
    log.gate = new Promise(() => {})
    log.feed.publish(actor, [{ sequence: 1030, follows: 2, event_type: 'e1030', payload: {} }])
    expect(sequences(reader)).toEqual([1, 2, 3, 1030])
  })

  it('receives nothing before it starts and nothing after it stops', () => {
    const log = new Log()
    const stream = log.feed.follow(actor, 0, never)
    log.commit()
    expect(log.feed.size).toBe(0)
    const reader = read(stream)
    reader.control.stop()
    log.commit()
    expect(sequences(reader)).toEqual([1])
    expect(reader.ended).toBeUndefined()
    expect(log.feed.size).toBe(0)
  })

  it('that comes after slow readers receives its events in later turns of the event loop', async () => {
    const log = new Log()
    const seen = spinning(log, 6, 5)
    log.gate = new Promise(() => {})
    log.commit()
    log.commit()
    expect(seen.filter(({ length }) => length > 0).length).toBeLessThanOrEqual(2)
    expect(Math.max(...(await perTurn(seen, 2)))).toBeLessThanOrEqual(3)
    // without reading the store, which does not answer here
    expect(seen).toEqual(seen.map(() => [1, 2]))
  })

  it('receives many small waiting commits spread over as many turns of the event loop', async () => {
    const log = new Log()
    const seen = spinning(log, 3, 2)
    log.gate = new Promise(() => {})
    // 12 ms, so that the others wait; each of them 6
    log.commit(2)
    for (let n = 0; n < 20; n++) log.commit()
    // two slices may end between two looks; without slices all 66 come at once
    expect(Math.max(...(await perTurn(seen, 22)))).toBeLessThanOrEqual(6)
    expect(seen).toEqual(seen.map(() => upTo(22)))
  })

  it('that is slow does not delay other readers and misses nothing', () => {
    const log = new Log()
    const slow = log.follow(0, never, 2)
    const quick = log.follow(0, never)
    for (let n = 0; n < 20; n++) log.commit()
    expect(sequences(slow)).toEqual([1, 2])
    expect(sequences(quick)).toEqual(upTo(20))
    slow.capacity = 4
    slow.control.resume()
    expect(sequences(slow)).toEqual(upTo(6))
    slow.capacity = Number.POSITIVE_INFINITY
    slow.control.resume()
    log.commit()
    expect(sequences(slow)).toEqual(upTo(21))
  })

  it('reads the log again if an event is missing', () => {
    const log = new Log()
    const reader = log.follow(0, never)
    log.commit()
    log.commit(2, false)
    expect(sequences(reader)).toEqual([1])
    log.commit()
    expect(sequences(reader)).toEqual(upTo(4))
  })

  it('receives unpublished commits when the actor is loaded again', () => {
    const log = new Log()
    const reader = log.follow(0, never)
    log.commit(5, false)
    log.feed.refresh(actor)
    expect(sequences(reader)).toEqual(upTo(5))
  })

  it('misses no commit that comes while the store is read', async () => {
    const log = new Log()
    log.commit(2)
    const { gate, open } = gated()
    log.gate = gate
    const reader = log.follow(0, never)
    log.commit()
    expect(sequences(reader)).toEqual([])
    open()
    await calm()
    log.commit()
    await calm()
    expect(sequences(reader)).toEqual(upTo(4))
  })

  it('misses no commit that comes between its last page and the end of that read', async () => {
    const log = new Log()
    log.commit(2)
    let release = (): void => {}
    log.gate = new Promise((resolve) => {
      release = resolve
    })
    const reader = log.follow(2, never)
    // the page was read empty, and its answer is on the way when the commit comes
    const empty = log.gate.then(() => log.commit(1))
    release()
    await empty
    await calm()
    expect(sequences(reader)).toEqual([3])
  })
})

describe('a stream ends', () => {
  it('at once if it is caught up and the actor is idle', () => {
    const log = new Log()
    log.commit(2)
    log.busy = false
    const reader = log.follow(0, idle)
    expect(reader.ended).toBe('done')
    expect(sequences(reader)).toEqual([1, 2])
    expect(log.feed.size).toBe(0)
  })

  it('with the commit after which the actor is idle, and not before', () => {
    const log = new Log()
    const reader = log.follow(0, idle)
    log.commit()
    expect(reader.ended).toBeUndefined()
    log.busy = false
    log.commit()
    expect(reader.ended).toBe('done')
    expect(sequences(reader)).toEqual([1, 2])
  })

  it('when the actor is no longer in memory and the log is read', () => {
    const log = new Log()
    log.commit(2)
    log.live = false
    expect(log.follow(0, idle).ended).toBe('done')
  })

  it('not before a slow reader has received everything', () => {
    const log = new Log()
    const reader = log.follow(0, idle, 1)
    log.commit(2)
    log.busy = false
    log.commit(2)
    expect(reader.ended).toBeUndefined()
    reader.capacity = 10
    reader.control.resume()
    expect(sequences(reader)).toEqual(upTo(4))
    expect(reader.ended).toBe('done')
  })

  it('with the event it was to end with, and delivers nothing after it', () => {
    const log = new Log()
    log.commit(6)
    const reader = log.follow(0, { at: 'idle', after: (event) => event.sequence === 5 })
    expect(sequences(reader)).toEqual(upTo(5))
    expect(reader.ended).toBe('done')
    log.commit()
    expect(sequences(reader)).toEqual(upTo(5))
  })

  it('never by itself if it follows a session', () => {
    const log = new Log()
    log.busy = false
    log.commit(2)
    const reader = log.follow(0, never)
    log.commit()
    expect(reader.ended).toBeUndefined()
  })

  it('not while the store is away: it continues when the store is back', async () => {
    const log = new Log()
    log.commit(4)
    log.gate = Promise.resolve()
    log.broken = new StoreUnavailable('away')
    const reader = log.follow(0, never)
    await log.clock.advance(20_000)
    expect([reader.ended, reader.events.length]).toEqual([undefined, 0])
    log.broken = undefined
    await log.clock.advance(5000)
    expect(sequences(reader)).toEqual(upTo(4))
    log.commit()
    expect(sequences(reader)).toEqual(upTo(5))
  })

  it('as lost if the log is damaged, so that the reader reconnects', async () => {
    const log = new Log()
    log.gate = Promise.resolve()
    log.broken = new Error('a page is missing')
    const reader = log.follow(0, never)
    await calm()
    expect(reader.ended).toBe('lost')
    expect(log.feed.size).toBe(0)
  })

  it('as deleted when its actor was deleted, and leaves other streams open', () => {
    const log = new Log()
    const reader = log.follow(0, never)
    const other = read(log.feed.follow('prb_2', 0, never))
    log.feed.end(actor, 'deleted')
    expect([reader.ended, other.ended]).toEqual(['deleted', undefined])
    log.feed.loseAll()
    expect(other.ended).toBe('lost')
  })
})

/** An incident in the life of a stream. */
type Happening = 'commit' | 'lost commit' | 'resume' | 'pause' | 'store' | 'memory' | 'wait' | 'refresh'

const run = async (happenings: readonly Happening[], after: number): Promise<void> => {
  const log = new Log()
  log.commit(after)
  const reader = log.follow(after, never)
  for (const happening of happenings) {
    if (happening === 'commit') log.commit(2)
    if (happening === 'lost commit') log.commit(1, false)
    if (happening === 'pause') reader.capacity = 0
    if (happening === 'resume') {
      reader.capacity = 4
      reader.control.resume()
    }
    if (happening === 'store') log.gate = Promise.resolve()
    if (happening === 'memory') log.gate = undefined
    if (happening === 'wait') await Promise.resolve()
    if (happening === 'refresh') log.feed.refresh(actor)
    const last = reader.events.at(-1)?.sequence ?? after
    expect(sequences(reader)).toEqual(upTo(last, after + 1))
  }
  reader.capacity = Number.POSITIVE_INFINITY
  reader.control.resume()
  await calm()
  reader.control.resume()
  log.commit()
  await calm()
  expect(sequences(reader)).toEqual(upTo(log.events.length, after + 1))
}

it('delivers every event once and in order, whatever is slow, missing or late', async () => {
  const happening = fc.constantFrom<Happening>(
    'commit',
    'lost commit',
    'resume',
    'pause',
    'store',
    'memory',
    'wait',
    'refresh',
  )
  await fc.assert(fc.asyncProperty(fc.array(happening, { maxLength: 30 }), fc.nat(4), run), { numRuns: 300 })
})
