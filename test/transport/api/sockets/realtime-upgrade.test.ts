import pino from 'pino'
import { expect, it } from 'vitest'
import { Ticker } from '#runtime/ticker.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { FakePeer } from '#test/transport/http/fakes.ts'
import { BodyMemory } from '#transport/api/body/body-memory.ts'
import { RealtimeUpgrades } from '#transport/api/sockets/realtime-upgrade.ts'
import type { StreamTicker } from '#transport/streams/credential-watch.ts'
import { StreamLimit } from '#transport/streams/stream-limit.ts'
import { principals } from '../serving.ts'

const headers: Readonly<Record<string, string>> = {
  ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
  ...{ 'x-tenant-id': 'ten_1', 'x-external-user-id': 'ada' },
}

it('a realtime session of a user ends when the user is being deleted, which it would log for ever', async () => {
  const ticker: StreamTicker = new Ticker(1000)
  const erased = new Set<string | null>()
  const left: string[] = []
  const remains = async (_project: string, _tenant: string, user: string | null) => {
    if (erased.has(user)) throw new ServiceError('not_found', { param: 'external_user_id' })
  }
  const session = { take: () => {}, drained: () => {}, tick: () => {}, leave: () => left.push('ada') }
  const upgrades = new RealtimeUpgrades({
    ...{ endpoints: [], ticker, counters: { openStreams: 0, eventsSent: 0 }, streamLimit: new StreamLimit() },
    ...{ bodies: new BodyMemory(), isDraining: () => false, log: pino({ level: 'silent' }) },
    authenticator: { authenticate: () => principals.secret_key, readmit: (principal) => principal },
    tenants: { admit: () => {}, admitUser: () => {}, check: () => {}, remains },
    clientAddress: ({ remoteAddress }) => remoteAddress,
    realtime: { offer: async () => ({ open: () => session }), close: async () => {} },
  })
  const decision = await upgrades.decide({
    ...{ method: 'GET', path: '/v1/realtime', query: 'model=gpt-realtime', remoteAddress: '127.0.0.1' },
    header: (name) => headers[name],
    body: async () => Buffer.alloc(0),
  })
  if (!('accept' in decision)) throw new Error(decision.refuse.body)
  const peer = new FakePeer()
  decision.accept(peer)
  const recheck = async () => {
    for (const watched of ticker.members) watched.recheck()
    await new Promise(setImmediate)
  }
  await recheck()
  expect(peer.closing).toBeNull()
  erased.add('ada')
  await recheck()
  expect(peer.closing).toMatchObject({ code: 1008 })
  expect(left).toEqual(['ada'])
})
