import pino from 'pino'
import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import type { AnyUseCases } from '#actors/call/use-cases.ts'
import { operations } from '#actors/capabilities.ts'
import type { EventSink } from '#runtime/messages/event-stream.ts'
import { Ticker } from '#runtime/ticker.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { FakePeer } from '#test/transport/http/fakes.ts'
import { BodyMemory } from '#transport/api/body/body-memory.ts'
import { endpointsOf } from '#transport/api/endpoint.ts'
import { SessionUpgrades } from '#transport/api/sockets/session-upgrade.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'
import { StreamLimit } from '#transport/streams/stream-limit.ts'
import { principals } from '../serving.ts'

const path = '/v1/sessions/ses_1/ws'

const handshake = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }

const requestOf = (target: string, given: Record<string, string | undefined> = {}): HttpRequest => {
  const headers: Record<string, string | undefined> = { ...handshake, ...given }
  const [urlPath = '', query = ''] = target.split('?')
  return {
    method: 'GET',
    path: urlPath,
    query,
    header: (name) => headers[name],
    remoteAddress: '127.0.0.1',
    body: () => Promise.resolve(Buffer.alloc(0)),
  }
}

const open = (principal: () => Principal, more: AnyUseCases = {}, admit = () => {}) => {
  const process = { isDraining: false }
  const calls: { id: string; body: unknown; after: number | null }[] = []
  const unused = Object.fromEntries(
    Object.keys(operations).map((id) => [id, () => Promise.reject(new Error(`${id} was not expected`))]),
  )
  const recorded = (id: string) => ({
    [id]: async (call: { body: unknown; after: number | null }) => {
      calls.push({ id, body: call.body, after: call.after })
      return { replayed: false, stream: { start: silent } }
    },
  })
  const useCases: AnyUseCases = {
    ...unused,
    ...recorded('sessions.turns'),
    ...recorded('sessions.approve'),
    ...recorded('sessions.cancel'),
    ...recorded('sessions.stream'),
    'sessions.get': async () => ({ tenant_id: 'ten_1' }),
    'sessions.events': async () => ({ data: [], pagination: { page: 1, limit: 1, total: 41, total_pages: 41 } }),
    ...more,
  }
  const upgrades = new SessionUpgrades({
    clientAddress: ({ remoteAddress }) => remoteAddress,
    endpoints: endpointsOf(Object.values(operations), useCases),
    authenticator: { authenticate: () => principal() },
    tenants: { admit, admitUser: () => {}, check: () => {}, remains: async () => {} },
    ticker: new Ticker(1000),
    counters: { openStreams: 0, eventsSent: 0 },
    streamLimit: new StreamLimit(),
    bodies: new BodyMemory(),
    isDraining: () => process.isDraining,
    publicOrigin: null,
    log: pino({ level: 'silent' }),
  })
  const drain = (): void => {
    process.isDraining = true
    upgrades.closeAll()
  }
  return { calls, drain, decide: (target: string, headers = {}) => upgrades.decide(requestOf(target, headers)) }
}

const silent = (_sink: EventSink) => ({ resume: () => {}, stop: () => {} })

/** The frames that were sent, once there are `count`. */
const frames = async (peer: FakePeer, count: number): Promise<unknown[]> => {
  while (peer.sent.length < count) await new Promise(setImmediate)
  return peer.sent.map((text) => JSON.parse(text))
}

const accepted = async (decision: Awaited<ReturnType<SessionUpgrades['decide']>>): Promise<FakePeer> => {
  if (!('accept' in decision)) throw new Error(`refused: ${decision.refuse.body}`)
  const peer = new FakePeer()
  decision.accept(peer)
  await new Promise(setImmediate)
  return peer
}

const codeOf = (decision: Awaited<ReturnType<SessionUpgrades['decide']>>) =>
  'refuse' in decision ? [decision.refuse.status, JSON.parse(decision.refuse.body).error.code] : 'accepted'

describe('an upgrade to a session socket', () => {
  it('is refused for a session of a suspended tenant', async () => {
    const suspended = (): never => {
      throw new ServiceError('tenant_suspended')
    }
    const decision = await open(() => principals.secret_key, {}, suspended).decide(path)
    expect(decision).toMatchObject({ refuse: { status: 403 } })
  })

  it('is refused with Retry-After while the process is ending, also if that begins after the decision', async () => {
    const world = open(() => principals.secret_key)
    const between = await world.decide(path)
    world.drain()
    const decision = await world.decide(path)
    expect(codeOf(decision)).toEqual([503, 'shutting_down'])
    expect('refuse' in decision && decision.refuse.headers).toContainEqual(['retry-after', '1'])
    expect((await accepted(between)).closing).toEqual({ code: 1013, reason: 'shutting_down' })
  })

  it('opens a socket that is closed when the process begins to end, so that its client resumes elsewhere', async () => {
    const world = open(() => principals.secret_key)
    const peer = await accepted(await world.decide(path))
    const gone = await accepted(await world.decide(path))
    gone.leave()
    expect(peer.closing).toBeNull()
    world.drain()
    expect(peer.closing).toEqual({ code: 1012, reason: 'connect again and resume' })
    expect(gone.closing).toBeNull()
    peer.receive(JSON.stringify({ type: 'turn', input: 'hello' }))
    await new Promise(setImmediate)
    expect(world.calls.map(({ id }) => id)).not.toContain('sessions.turns')
  })

  it.each([
    ['Sec-WebSocket-Version', undefined],
    ['Sec-WebSocket-Version', '8'],
    ['Sec-WebSocket-Version', '13, 8'],
    ['Sec-WebSocket-Key', undefined],
    ['Sec-WebSocket-Key', 'short'],
    ['Sec-WebSocket-Key', `${handshake['sec-websocket-key']}, ${handshake['sec-websocket-key']}`],
  ])('whose %s is %s is refused with the name of the header', async (name, value) => {
    const decision = await open(() => principals.secret_key).decide(path, { [name.toLowerCase()]: value })
    expect(codeOf(decision)).toEqual([400, 'invalid_header'])
    if (!('refuse' in decision)) throw new Error('accepted')
    expect(JSON.parse(decision.refuse.body).error.param).toBe(name)
    const says = decision.refuse.headers.find(([header]) => header === 'sec-websocket-version')?.[1]
    expect(says).toBe(name === 'Sec-WebSocket-Version' ? '13' : undefined)
  })

  it.each([{ 'content-length': '3' }, { 'transfer-encoding': 'chunked' }])(
    'with a body before its frames is refused (%o)',
    async (body) => {
      expect(codeOf(await open(() => principals.secret_key).decide(path, body))).toEqual([400, 'bad_request'])
      const empty = { 'content-length': '0' }
      expect(codeOf(await open(() => principals.secret_key).decide(path, empty))).toBe('accepted')
    },
  )

  it.each([path, `/api${path}`])('is accepted at %s', async (target) => {
    expect(codeOf(await open(() => principals.client_token).decide(target))).toBe('accepted')
  })

  it('is refused at other paths', async () => {
    expect(codeOf(await open(() => principals.secret_key).decide('/v1/sessions/ses_1'))).toEqual([404, 'not_found'])
  })

  it('of a member is refused from another site, and accepted from the console', async () => {
    const { decide } = open(() => principals.dashboard)
    const foreign = { host: 'troupe.example', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect(codeOf(await decide(path, foreign))).toEqual([403, 'csrf_refused'])
    const sibling = { ...foreign, 'sec-fetch-site': 'same-site', origin: 'https://evil.troupe.example' }
    expect(codeOf(await decide(path, sibling))).toEqual([403, 'csrf_refused'])
    const own = { ...foreign, 'sec-fetch-site': 'same-origin', origin: 'https://troupe.example' }
    expect(codeOf(await decide(`${path}?project_id=prj_1`, own))).toBe('accepted')
  })

  it('is refused without a credential, without the scope, and for a session outside of its access', async () => {
    const anonymous = open(() => {
      throw new ServiceError('authentication_required')
    })
    expect(codeOf(await anonymous.decide(path))).toEqual([401, 'authentication_required'])
    const scopeless = open(() => ({ ...principals.client_token, permissions: [] }))
    expect(codeOf(await scopeless.decide(path))).toEqual([403, 'insufficient_scope'])
    const foreign = open(() => principals.secret_key, {
      'sessions.events': () => Promise.reject(new ServiceError('not_found', { param: 'id' })),
    })
    const decision = await foreign.decide(path)
    expect(codeOf(decision)).toEqual([404, 'not_found'])
    if (!('refuse' in decision)) throw new Error('accepted')
    expect(JSON.parse(decision.refuse.body).error.param).toBe('session_id')
  })
})

describe('a session socket', () => {
  it('streams the events after the current end of the log', async () => {
    const { calls, decide } = open(() => principals.secret_key)
    await accepted(await decide(path))
    expect(calls).toEqual([{ id: 'sessions.stream', body: undefined, after: 41 }])
  })

  it('continues after the sequence number that it names', async () => {
    const { calls, decide } = open(() => principals.secret_key)
    const peer = await accepted(await decide(`${path}?after=7`))
    peer.receive(JSON.stringify({ type: 'resume', after: 3 }))
    while (calls.length < 2) await new Promise(setImmediate)
    expect(calls.map(({ after }) => after)).toEqual([7, 3])
  })

  it('runs a frame as the operation of its name', async () => {
    const { calls, decide } = open(() => principals.secret_key)
    const peer = await accepted(await decide(path))
    peer.receive(JSON.stringify({ type: 'turn', input: 'hi', model: 'm' }))
    peer.receive(JSON.stringify({ type: 'cancel' }))
    while (calls.length < 3) await new Promise(setImmediate)
    expect(calls.slice(1)).toEqual([
      { id: 'sessions.turns', body: { input: 'hi', model: 'm' }, after: null },
      { id: 'sessions.cancel', body: {}, after: null },
    ])
  })

  it('responds to an invalid field with its name, and stays open', async () => {
    const { calls, decide } = open(() => principals.secret_key)
    const peer = await accepted(await decide(path))
    peer.receive(JSON.stringify({ type: 'turn', input: 7 }))
    peer.receive(JSON.stringify({ type: 'turn', inputs: 'x' }))
    expect(await frames(peer, 2)).toMatchObject([
      { event: 'error', data: { error: { code: 'invalid_field', param: 'input' } } },
      { event: 'error', data: { error: { code: 'unknown_field', param: 'inputs' } } },
    ])
    expect(calls).toHaveLength(1)
  })

  it('does not let a client token approve an action', async () => {
    const { calls, decide } = open(() => principals.client_token)
    const peer = await accepted(await decide(path))
    peer.receive(JSON.stringify({ type: 'approve', action_id: 'act_1' }))
    expect(await frames(peer, 1)).toMatchObject([{ event: 'error', data: { error: { code: 'secret_key_required' } } }])
    expect(calls).toHaveLength(1)
  })

  it('accepts no command once its credential is invalid', async () => {
    let valid = true
    const { decide } = open(() => {
      if (!valid) throw new ServiceError('authentication_required')
      return principals.client_token
    })
    const peer = await accepted(await decide(path))
    valid = false
    peer.receive(JSON.stringify({ type: 'turn', input: 'hi' }))
    expect(await frames(peer, 1)).toMatchObject([{ data: { error: { code: 'authentication_required' } } }])
  })
})
