import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { ApiKeys } from '#actors/accounts/api-keys.ts'
import { projectKeys } from '#actors/accounts/kinds.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import { Ticker } from '#runtime/ticker.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { wireLimits } from '#transport/http/wire-limits.ts'
import { SseStreams } from '#transport/streams/sse.ts'
import { delta, FakeLog, FakeResponse, loopTurn, ManualTime } from '../http/fakes.ts'

const plain = { shortNames: false, reader: 'person' as const, headers: [], endless: false }

describe('an SSE stream', () => {
  let time: ManualTime
  let counters: { openStreams: number; eventsSent: number }
  let streams: SseStreams
  let log: FakeLog
  let response: FakeResponse

  beforeEach(() => {
    time = new ManualTime()
    counters = { openStreams: 0, eventsSent: 0 }
    streams = new SseStreams(new Ticker(1000, time.every), counters, pino({ level: 'silent' }))
    log = new FakeLog()
    response = new FakeResponse()
  })

  const serve = (options: Partial<typeof plain> = {}, after: number | null = null): void =>
    streams.serve(log.follow(after), response, { ...plain, ...options })

  it('has the head of an event stream and the given headers', () => {
    streams.serve(log.follow(null), response, { ...plain, headers: [['x-request-id', 'req_1']] })
    expect([response.status, response.headers]).toEqual([
      200,
      [
        ['content-type', 'text/event-stream; charset=utf-8'],
        ['cache-control', 'no-store'],
        ['x-accel-buffering', 'no'],
        ['x-request-id', 'req_1'],
      ],
    ])
  })

  it('contains name, sequence number and payload of each event, and nothing else', async () => {
    serve()
    log.append(
      { event_type: 'turn.started', turn_number: 1, payload: { turn_number: 1, input_text: 'a\n"b"' } },
      delta('é\r\n'),
    )
    await loopTurn()
    expect(response.text).toBe(
      'event: turn.started\nid: 1\ndata: {"turn_number":1,"input_text":"a\\n\\"b\\""}\n\n' +
        'event: response.output_text.delta\nid: 2\ndata: {"delta":"é\\r\\n"}\n\n',
    )
  })

  it('uses the short text event name on request, even if another reader of the batch uses the long one', async () => {
    const other = new FakeResponse()
    serve({ shortNames: true })
    streams.serve(log.follow(null), other, plain)
    log.append(delta('x'))
    await loopTurn()
    expect(response.text).toBe('event: output_text.delta\nid: 1\ndata: {"delta":"x"}\n\n')
    expect(other.text).toBe('event: response.output_text.delta\nid: 1\ndata: {"delta":"x"}\n\n')
  })

  it('combines what is pushed within one loop turn into one write', async () => {
    serve()
    for (const text of ['a', 'b', 'c']) log.append(delta(text), delta(text))
    await loopTurn()
    log.append(delta('d'))
    await loopTurn()
    expect(response.writes).toHaveLength(2)
    expect(response.text.match(/^id: \d+$/gm)).toEqual([1, 2, 3, 4, 5, 6, 7].map((id) => `id: ${id}`))
  })

  it('is written before the loop goes on to other work', async () => {
    serve()
    setImmediate(() => log.append(delta('x')))
    expect(await new Promise((resolve) => setImmediate(() => resolve(response.writes.length)))).toBe(1)
  })

  it('writes at once what grows large within one loop turn', () => {
    serve()
    for (let n = 0; n < 70; n++) log.append(delta('x'.repeat(1000)))
    expect(response.writes).toHaveLength(1)
  })

  it('sends the last events and the end together', () => {
    serve()
    log.append(delta('last'))
    log.end('done')
    expect([response.ending, response.writes.length]).toEqual(['ended', 1])
    expect(response.text).toContain('last')
  })

  it('is aborted after its events when the log is lost', () => {
    serve()
    log.append(delta('so far'))
    log.end('lost')
    expect(response.ending).toBe('aborted')
    expect(response.text).toContain('so far')
  })

  it('ends cleanly with a reason after its events when its log was deleted', () => {
    serve()
    log.append(delta('so far'))
    log.end('deleted')
    expect(response.ending).toBe('ended')
    expect(response.text).toMatch(/so far.*\n\nevent: stream.ended\ndata: {"reason":"deleted"}\n\n$/)
  })

  it('makes the producer wait for a slow reader, and continue when it reads', async () => {
    serve()
    response.blocked = true
    expect(log.append(delta('a'))).toBe(true)
    await loopTurn()
    expect(log.append(delta('b'))).toBe(false)
    await loopTurn()
    expect(log.resumes).toBe(0)
    response.drain()
    expect(log.resumes).toBe(1)
    expect(log.append(delta('c'))).toBe(true)
    await loopTurn()
    expect(response.text.match(/"delta":"."/g)).toEqual(['"delta":"a"', '"delta":"b"', '"delta":"c"'])
  })

  it('is aborted and stopped if its reader takes nothing for a minute', async () => {
    serve()
    response.blocked = true
    log.append(delta('a'))
    await loopTurn()
    time.pass(60)
    expect(response.ending).toBe('open')
    time.pass(1)
    expect([response.ending, log.following, counters.openStreams]).toEqual(['aborted', 0, 0])
  })

  it('gives a reader that takes something a new minute', async () => {
    serve()
    for (const text of ['a', 'b']) {
      response.blocked = true
      log.append(delta(text))
      await loopTurn()
      time.pass(60)
      response.drain()
    }
    expect(response.ending).toBe('open')
  })

  it('is aborted if too many bytes wait for its reader', async () => {
    serve()
    response.blocked = true
    response.bufferedBytes = 9 * 1024 * 1024
    log.append(delta('a'))
    await loopTurn()
    expect([response.ending, log.following]).toEqual(['aborted', 0])
  })

  it('is aborted if its buffered bytes exceed the memory budget, and waits for its reader otherwise', async () => {
    const held: number[] = []
    let capacity = 150_000
    const grow = (bytes: number): boolean => {
      held.push(bytes)
      return bytes <= capacity
    }
    streams.serve(log.follow(null), response, { ...plain, grow })
    response.blocked = true
    response.bufferedBytes = 100_000
    log.append(delta('a'))
    await loopTurn()
    expect([response.ending, held]).toEqual(['open', [100_000]])
    response.drain()
    expect(held).toEqual([100_000, 0])
    capacity = 50_000
    response.blocked = true
    log.append(delta('b'))
    await loopTurn()
    expect([response.ending, log.following]).toEqual(['aborted', 0])
    expect(held.at(-1)).toBe(0)
  })

  it('contains a comment after every 15 seconds of silence', async () => {
    serve()
    log.append(delta('a'))
    await loopTurn()
    time.pass(14)
    log.append(delta('b'))
    await loopTurn()
    const before = response.writes.length
    time.pass(14)
    expect(response.writes).toHaveLength(before)
    time.pass(1)
    expect(response.writes.slice(before)).toEqual([': keep-alive\n\n'])
    time.pass(15)
    expect(response.writes.slice(before)).toEqual([': keep-alive\n\n', ': keep-alive\n\n'])
  })

  it('stops when its reader disconnects', async () => {
    serve()
    log.append(delta('a'))
    response.leave()
    time.pass(1)
    expect([log.following, counters.openStreams, time.running]).toEqual([0, 0, false])
    await loopTurn()
    expect(response.writes).toEqual([])
  })

  it('stops if its reader disconnects while it starts', () => {
    let stops = 0
    const start = () => {
      response.leave()
      return { resume: () => {}, stop: () => void stops++ }
    }
    streams.serve({ start }, response, plain)
    expect([stops, counters.openStreams]).toEqual([1, 0])
  })

  it('never starts if its reader has already disconnected', () => {
    response.leave()
    serve()
    expect([log.following, counters.openStreams]).toEqual([0, 0])
  })

  it('replays what a resuming reader missed, then follows', async () => {
    for (const text of ['a', 'b', 'c']) log.append(delta(text))
    serve({}, 1)
    log.append(delta('d'))
    await loopTurn()
    expect(response.text.match(/^id: \d+$/gm)).toEqual(['id: 2', 'id: 3', 'id: 4'])
  })

  it('ends at a shutdown only if it is endless', () => {
    const follower = new FakeResponse()
    serve()
    streams.serve(log.follow(null), follower, { ...plain, endless: true })
    streams.endEndless()
    expect([response.ending, follower.ending, log.following]).toEqual(['open', 'aborted', 1])
  })

  it('is counted, and so are its events', async () => {
    serve()
    log.append(delta('a'), delta('b'))
    expect(counters).toEqual({ openStreams: 1, eventsSent: 2 })
    log.end('done')
    expect(counters).toEqual({ openStreams: 0, eventsSent: 2 })
  })

  it.each([
    ['authentication_required', 'credential_ended'],
    ['tenant_suspended', 'credential_ended'],
    ['forbidden', 'credential_ended'],
    ['tenant_deleting', 'deleted'],
  ] as const)(
    'ends within five seconds after its credential is refused with %s, with the reason %s',
    async (code, reason) => {
      let refused = false
      const recheck = async () => {
        if (refused) throw new ServiceError(code)
      }
      streams.serve(log.follow(null), response, { ...plain, recheck })
      log.append(delta('a'))
      await loopTurn()
      time.pass(5)
      await loopTurn()
      expect(response.ending).toBe('open')
      refused = true
      time.pass(5)
      await loopTurn()
      expect(response.ending).toBe('ended')
      expect(response.text.split('\n\n').at(-2)).toBe(`event: stream.ended\ndata: {"reason":"${reason}"}`)
      expect([counters.openStreams, log.following]).toEqual([0, 0])
    },
  )

  it('ends within five seconds of the revocation of its key on another node, in which other requests keep the key cached', async () => {
    const clock = { now: 1_800_000_000_000 }
    const now = () => clock.now
    const { records } = openMemoryStorage({ now })
    const keys = new ApiKeys({ records, keys: keysOf({ masterKey: Buffer.alloc(32, 1) }), now })
    const table = new Table(records, projectKeys, now)
    const stepMs = 100
    const steps = 6000 / stepMs
    /** How long a stream goes on after a key was revoked that long after its start, in ms. */
    const outlivesMs = async (revokedAfterMs: number): Promise<number> => {
      const { secret, material } = keys.mint()
      const dates = { expires_at_ms: null, revoked_at_ms: null, last_used_at_ms: now() }
      const data = { name: 'k', ...material, created_by: null, replaced_by: null, ...dates }
      const id = `key_${revokedAfterMs}`
      await table.insert({ id, project: 'prj_1', data })
      const reader = new FakeResponse()
      const recheck = async () => {
        if ((await keys.verify(secret)) === null) throw new ServiceError('authentication_required')
      }
      streams.serve(log.follow(null), reader, { ...plain, recheck })
      for (let step = 0, at = Number.POSITIVE_INFINITY; ; step++, clock.now += stepMs) {
        if (step > 0 && (step * stepMs) % wireLimits.tickMs === 0) time.pass(1)
        await loopTurn()
        const ms = step * stepMs - at
        if (reader.ending !== 'open' || ms / stepMs > steps) return ms
        await keys.verify(secret)
        if (step * stepMs !== revokedAfterMs) continue
        await table.change(projectScope('prj_1'), id, { edit: (row) => ({ ...row.data, revoked_at_ms: now() }) })
        at = revokedAfterMs
      }
    }
    const outlived: number[] = []
    for (let ms = 0; ms < 6000; ms += stepMs) outlived.push(await outlivesMs(ms))
    expect(Math.min(...outlived)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...outlived)).toBeLessThanOrEqual(5000)
  })

  it('continues while the store cannot verify its credential', async () => {
    const recheck = () => Promise.reject(new StoreUnavailable('away'))
    streams.serve(log.follow(null), response, { ...plain, recheck })
    time.pass(10)
    await loopTurn()
    expect(response.ending).toBe('open')
  })
})
