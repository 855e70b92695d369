import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { Ticker } from '#runtime/ticker.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { StreamTicker } from '#transport/streams/credential-watch.ts'
import { type SessionCommands, serveSessionSocket } from '#transport/streams/session-socket.ts'
import { delta, FakeLog, FakePeer, loopTurn, ManualTime } from '../http/fakes.ts'

const errorData = (error: unknown) =>
  error instanceof ServiceError
    ? { error: { code: error.code, param: error.details.param ?? null } }
    : { error: { code: 'internal_error', param: null } }

describe('a session socket', () => {
  let peer: FakePeer
  let log: FakeLog
  let time: ManualTime
  let counters: { openStreams: number; eventsSent: number }
  let calls: unknown[]
  let outcome: () => Promise<unknown>

  beforeEach(() => {
    peer = new FakePeer()
    log = new FakeLog()
    time = new ManualTime()
    counters = { openStreams: 0, eventsSent: 0 }
    calls = []
    outcome = () => Promise.resolve()
  })

  const record = (name: string) => (body?: unknown) => {
    calls.push(body === undefined ? [name] : [name, body])
    return outcome()
  }

  const open = (
    options: {
      shortNames?: boolean
      after?: number | null
      recheck?: () => unknown
      reserveBytes?: (bytes: number) => () => void
    } = {},
  ): void => {
    const commands: SessionCommands = {
      turn: record('turn'),
      approve: record('approve'),
      reject: record('reject'),
      cancel: record('cancel'),
      follow: (after) => log.follow(after),
    }
    const ticker: StreamTicker = new Ticker(1000, time.every)
    serveSessionSocket(peer, commands, {
      shortNames: false,
      reader: 'person' as const,
      after: null,
      errorData,
      ticker,
      counters,
      log: pino({ level: 'silent' }),
      ...options,
    })
  }

  const sent = (): unknown[] => peer.sent.map((text) => JSON.parse(text))
  const ids = (): unknown[] => peer.sent.map((text) => JSON.parse(text).id)

  it('sends the events of the session as they happen, whatever caused them', async () => {
    log.append(delta('before'))
    open()
    log.append({ event_type: 'turn.started', turn_number: 2, payload: { turn_number: 2 } }, delta('x'))
    expect(sent()).toEqual([
      { event: 'turn.started', id: 2, data: { turn_number: 2 } },
      { event: 'response.output_text.delta', id: 3, data: { delta: 'x' } },
    ])
  })

  it('uses the short name of the text event on request', () => {
    open({ shortNames: true })
    log.append(delta('x'))
    expect(sent()).toEqual([{ event: 'output_text.delta', id: 1, data: { delta: 'x' } }])
  })

  it('passes commands on in order, one at a time', async () => {
    open()
    const first = Promise.withResolvers<void>()
    outcome = () => first.promise
    peer.receive({ type: 'turn', input: 'hi', model: 'm' })
    peer.receive({ type: 'cancel' })
    await loopTurn()
    expect(calls).toEqual([['turn', { input: 'hi', model: 'm' }]])
    outcome = () => Promise.resolve()
    first.resolve()
    peer.receive({ type: 'approve', action_id: 'act_1', tool_results: [] })
    peer.receive({ type: 'reject', action_id: 'act_2' })
    await loopTurn()
    expect(calls.slice(1)).toEqual([
      ['cancel'],
      ['approve', { action_id: 'act_1', tool_results: [] }],
      ['reject', { action_id: 'act_2' }],
    ])
  })

  it('answers a refused command with an error frame, and continues', async () => {
    open()
    outcome = () => Promise.reject(new ServiceError('turn_in_progress'))
    peer.receive({ type: 'turn', input: 'hi' })
    await loopTurn()
    outcome = () => Promise.resolve()
    peer.receive({ type: 'cancel' })
    await loopTurn()
    expect(sent()).toEqual([{ event: 'error', data: { error: { code: 'turn_in_progress', param: null } } }])
    expect(calls).toHaveLength(2)
  })

  it.each([
    ['{', 'malformed_json', null],
    ['[]', 'bad_request', null],
    ['null', 'bad_request', null],
    ['"turn"', 'bad_request', null],
    ['{}', 'missing_field', 'type'],
    ['{"type":"toString"}', 'invalid_field', 'type'],
    ['{"type":1}', 'invalid_field', 'type'],
    ['{"type":"approve"}', 'missing_field', 'action_id'],
    ['{"type":"approve","action_id":7}', 'invalid_field', 'action_id'],
    ['{"type":"reject","action_id":""}', 'invalid_field', 'action_id'],
    ['{"type":"reject","action_id":"act_1","why":1}', 'unknown_field', 'why'],
    ['{"type":"resume"}', 'missing_field', 'after'],
    ['{"type":"resume","after":-1}', 'invalid_field', 'after'],
    ['{"type":"resume","after":1.5}', 'invalid_field', 'after'],
    ['{"type":"resume","after":"1"}', 'invalid_field', 'after'],
    ['{"type":"resume","after":1,"to":2}', 'unknown_field', 'to'],
    ['{"type":"cancel","now":true}', 'unknown_field', 'now'],
  ])('answers the frame %s with an error, and stays open', async (frame, code, param) => {
    open()
    peer.receive(frame)
    await loopTurn()
    expect(sent()).toEqual([{ event: 'error', data: { error: { code, param } } }])
    expect([calls, peer.closing, log.following]).toEqual([[], null, 1])
  })

  it('replays the events after the named sequence number, then continues live without gap or duplicate', async () => {
    for (const text of ['a', 'b', 'c']) log.append(delta(text))
    open()
    peer.receive({ type: 'resume', after: 1 })
    await loopTurn()
    log.append(delta('d'))
    expect(ids()).toEqual([2, 3, 4])
    expect(log.following).toBe(1)
  })

  it('starts after the sequence number that the connection names', () => {
    for (const text of ['a', 'b', 'c']) log.append(delta(text))
    open({ after: 2 })
    log.append(delta('d'))
    expect(ids()).toEqual([3, 4])
  })

  it('resumes the log when a slow peer reads again', () => {
    open()
    peer.blocked = true
    expect(log.append(delta('a'))).toBe(false)
    peer.drain()
    expect(log.resumes).toBe(1)
    expect(log.append(delta('b'))).toBe(true)
  })

  it('closes with 1013 if the peer reads nothing for a minute', () => {
    open()
    peer.blocked = true
    log.append(delta('a'))
    time.pass(60)
    expect(peer.closing).toBeNull()
    time.pass(1)
    time.pass(1)
    expect([peer.closing?.code, log.following, time.running]).toEqual([1013, 0, false])
  })

  it('closes with 1013 if too many bytes wait for the peer', () => {
    open()
    peer.blocked = true
    peer.bufferedBytes = 9 * 1024 * 1024
    log.append(delta('a'))
    expect(peer.closing?.code).toBe(1013)
  })

  it('closes with 1013 on a peer that sends frames and does not read how they are refused', async () => {
    open()
    peer.blocked = true
    peer.receive('{')
    await loopTurn()
    expect(peer.closing).toBeNull()
    peer.bufferedBytes = 9 * 1024 * 1024
    peer.receive('{')
    await loopTurn()
    expect(peer.closing?.code).toBe(1013)
  })

  it('closes with 1008 on a client that sends more than 256 frames in a turn of the loop, and not on a slower one', async () => {
    open()
    for (let turns = 0; turns < 3; turns++) {
      for (let n = 0; n < 256; n++) peer.receive('{')
      await loopTurn()
    }
    expect(peer.closing).toBeNull()
    for (let n = 0; n < 257; n++) peer.receive('{')
    expect(peer.closing?.code).toBe(1008)
    expect(log.following).toBe(0)
  })

  it('closes with 1012 when its log is lost, and with 1000 when it ends', () => {
    open()
    log.end('lost')
    expect(peer.closing?.code).toBe(1012)
    peer = new FakePeer()
    open()
    log.end('done')
    expect(peer.closing).toEqual({ code: 1000, reason: 'session ended' })
  })

  it('closes with 1000 and a final event when its log was deleted', () => {
    open()
    log.end('deleted')
    expect(sent()).toEqual([{ event: 'stream.ended', data: { reason: 'deleted' } }])
    expect(peer.closing).toEqual({ code: 1000, reason: 'session deleted' })
  })

  it('stops following and drops queued commands when the peer leaves', async () => {
    open()
    peer.receive({ type: 'cancel' })
    peer.leave()
    await loopTurn()
    time.pass(1)
    expect([calls, log.following, counters.openStreams, time.running]).toEqual([[], 0, 0, false])
  })

  it('refuses commands that arrive faster than they are processed', async () => {
    open()
    const stuck = Promise.withResolvers<void>()
    outcome = () => stuck.promise
    for (let n = 0; n < 33; n++) peer.receive({ type: 'cancel' })
    expect(sent()).toEqual([{ event: 'error', data: { error: { code: 'rate_limit_exceeded', param: null } } }])
    stuck.resolve()
    await loopTurn()
    expect(calls).toHaveLength(32)
  })

  it('queues 1 MB of frames, and refuses more as rate_limit_exceeded', async () => {
    open()
    const stuck = Promise.withResolvers<void>()
    outcome = () => stuck.promise
    const half = { type: 'turn', input: 'x'.repeat(500_000) }
    for (let n = 0; n < 3; n++) peer.receive(half)
    expect(sent()).toEqual([{ event: 'error', data: { error: { code: 'rate_limit_exceeded', param: null } } }])
    stuck.resolve()
    await expect.poll(() => calls.length).toBe(2)
    peer.receive(half)
    await expect.poll(() => calls.length).toBe(3)
  })

  it('reserves memory for a long frame until its command is done, and refuses one that finds none', async () => {
    const stuck = Promise.withResolvers<void>()
    const taken: number[] = []
    let isFull = false
    const reserveBytes = (bytes: number) => {
      if (isFull) throw new ServiceError('overloaded')
      taken.push(bytes)
      return () => void taken.pop()
    }
    open({ reserveBytes })
    outcome = () => stuck.promise
    const long = JSON.stringify({ type: 'turn', input: 'x'.repeat(16 * 1024) })
    peer.receive(long)
    peer.receive({ type: 'turn', input: 'short' })
    expect(taken).toEqual([long.length])
    isFull = true
    peer.receive(long)
    expect(sent()).toEqual([{ event: 'error', data: { error: { code: 'overloaded', param: null } } }])
    stuck.resolve()
    await expect.poll(() => taken).toEqual([])
    expect(calls).toHaveLength(2)
  })

  it.each([
    ['with more values than a body may have', `{"type":"turn","input":[${'[],'.repeat(30_000)}[]]}`, 'body_too_large'],
    ['with deeply nested lists', `{"type":"turn","input":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 'malformed_json'],
    ['that names a field twice', '{"type":"turn","input":"a","input":"b"}', 'malformed_json'],
  ])('refuses a frame %s', async (_, frame, code) => {
    open()
    peer.receive(frame)
    await expect.poll(() => sent()).toMatchObject([{ data: { error: { code } } }])
    expect(calls).toEqual([])
  })

  it('closes within five seconds after its credential has ended, with a final event', async () => {
    open({ recheck: () => Promise.reject(new ServiceError('authentication_required')) })
    time.pass(5)
    await new Promise(setImmediate)
    expect(sent().at(-1)).toEqual({ event: 'stream.ended', data: { reason: 'credential_ended' } })
    expect(peer.closing).toMatchObject({ code: 1008 })
    expect(log.following).toBe(0)
  })

  it('closes with 1000 within five seconds after the deletion of its tenant has begun', async () => {
    open({ recheck: () => Promise.reject(new ServiceError('tenant_deleting')) })
    time.pass(5)
    await new Promise(setImmediate)
    expect(sent().at(-1)).toEqual({ event: 'stream.ended', data: { reason: 'deleted' } })
    expect(peer.closing).toEqual({ code: 1000, reason: 'session deleted' })
  })
})
