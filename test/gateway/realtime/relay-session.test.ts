import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultCallPolicy } from '#gateway/call/call-policy.ts'
import { RouteHealth } from '#gateway/call/pools/route-health.ts'
import { Upstreams } from '#gateway/call/upstreams.ts'
import { RelaySession } from '#gateway/realtime/relay/relay-session.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { patience } from '#test/e2e/patience.ts'
import { callerOf, managedRoute } from '../ledger/calls.ts'
import { StrictProvider } from './strict-provider.ts'

const [key, model] = ['sk-of-the-provider-0123456789', 'gpt-realtime']
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const open = async (caller = callerOf()) => {
  const provider = await StrictProvider.open({ key, model })
  const guard = openSsrfGuard({ allowedPrivateHosts: ['127.0.0.1'] })
  const upstreams = new Upstreams(guard, defaultCallPolicy)
  const events: WireObject[] = []
  const closes: number[] = []
  const route = { ...managedRoute, model, baseUrl: `${provider.url}/v1`, apiKey: key }
  const parts = {
    ...{ upstreams, policy: defaultCallPolicy, health: new RouteHealth(Date.now), now: Date.now },
    ...{ routes: { resolve: () => [route] }, admission: { admit: () => ({ headers: [], settle: () => {} }) } },
    ledger: { record: () => {} },
  }
  const client = {
    send: (event: string) => events.push(JSON.parse(event)) > 0,
    close: (code: number) => void closes.push(code),
  }
  const session = new RelaySession(parts, { client, caller, model, budget: null, session: {} })
  closing.push(
    () => guard.close(),
    () => upstreams.close(),
    () => provider.close(),
    () => session.leave(),
  )
  await vi.waitFor(() => expect(events).toMatchObject([{ type: 'session.created' }]), patience)
  return { session, provider, events, closes }
}

describe('a relayed session', () => {
  it('goes on while its provider answers pings, however long nothing is said', async () => {
    const { session, provider, closes } = await open()
    for (let second = 0; second < 600; second++) {
      session.tick()
      await new Promise((turn) => setImmediate(turn))
    }
    expect(closes).toEqual([])
    expect(provider.sockets.size).toBe(1)
  })

  it('says that nothing is redacted in it', async () => {
    const { events } = await open()
    expect(events).toMatchObject([{ type: 'session.created', session: { redaction: 'off' } }])
  })

  it('has input transcribed only by a model that its key reaches', async () => {
    const { session, provider } = await open(callerOf({ models: new Set([model, 'whisper-1']) }))
    const update = (named: string) => {
      const audio = { input: { transcription: { model: named } } }
      const event = { type: 'session.update', session: { type: 'realtime', audio } }
      return session.take(event, JSON.stringify(event))
    }
    await expect(update('gpt-4o-transcribe')).rejects.toMatchObject({
      ...{ code: 'insufficient_scope', details: { param: 'session.audio.input.transcription.model' } },
    })
    await update('whisper-1')
    await vi.waitFor(() => expect(provider.types).toEqual(['session.update']), patience)
  })
})
