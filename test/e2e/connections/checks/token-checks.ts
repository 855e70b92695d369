import { expect, vi } from 'vitest'
import { patience } from '#test/e2e/patience.ts'
import type { Check } from './oauth-world.ts'

/** Checks of tokens, secrets and owners. */
export const tokenChecks: readonly Check[] = [
  [
    'is refreshed three times with rotated tokens',
    async (w) => {
      const id = await w.connected()
      for (let round = 0; round < 3; round++)
        expect((await w.refresh(id)).body).toMatchObject({ status: 'active', error: null })
      expect(await w.works(id)).toBe(true)
    },
  ],
  ['keeps its grant while the provider answers 503', (w) => w.survives({ status: 503, text: 'not now' })],
  ['keeps its grant while the provider answers 429', (w) => w.survives({ status: 429, text: '{"error":"slow_down"}' })],
  [
    'keeps its grant while the provider answers with an HTML page',
    (w) => w.survives({ status: 200, text: '<h1>Hello</h1>', headers: { 'content-type': 'text/html' } }),
  ],
  [
    'keeps its grant while the provider sends truncated JSON',
    (w) => w.survives({ status: 200, text: '{"access_token": "a' }),
  ],
  [
    'keeps its grant while the provider sends a token of 20 MB',
    (w) => w.survives({ status: 200, text: JSON.stringify({ access_token: 'a'.repeat(20 << 20) }) }),
  ],
  [
    'keeps its grant while the provider answers with a redirect, which is not followed',
    (w) => w.survives({ status: 307, text: '', headers: { location: `${w.other.url}/token` } }),
  ],
  [
    'keeps its grant while the provider sends a token that is not a string',
    (w) => w.survives({ status: 200, text: '{"access_token":5,"token_type":5}' }),
  ],
  [
    'keeps its grant while the provider answers with a list instead of an object',
    (w) => w.survives({ status: 200, text: '[["access_token","a"]]' }),
  ],
  ['is active or in error after a grant whose expires_in is not a number', (w) => w.grants({ expires_in: 'soon' })],
  ['is active or in error after a grant whose expires_in is 31 million years', (w) => w.grants({ expires_in: 1e15 })],
  ['is active or in error after a grant whose expires_in is negative', (w) => w.grants({ expires_in: -5 })],
  [
    'is active or in error after a grant with the fields __proto__ and constructor',
    (w) => w.grants({ ['__proto__']: { a: 1 }, constructor: 1, scope: 5 }),
  ],
  [
    'expires when the provider answers invalid_grant, and then refuses a refresh',
    async (w) => {
      const id = await w.connected()
      w.provider.reply = { status: 400, text: '{"error":"invalid_grant"}' }
      await w.refresh(id)
      expect(await w.get(id)).toMatchObject({ status: 'expired', error: { code: 'invalid_grant' } })
      expect((await w.refresh(id)).status).toBe(409)
    },
  ],
  [
    'keeps its grant if the client secret is refused, and is active again with the correct one',
    async (w) => {
      const id = await w.connected()
      await w.patch(id, { config: { client_secret: 'another-secret-of-the-client' } })
      await w.refresh(id)
      expect(await w.get(id)).toMatchObject({ status: 'error', error: { code: 'invalid_client' } })
      await w.patch(id, { config: { client_secret: w.provider.client.secret } })
      expect((await w.refresh(id)).body).toMatchObject({ status: 'active', error: null })
    },
  ],
  [
    'is refreshed once for 50 concurrent uses',
    async (w) => {
      const id = await w.connected()
      // a reminder renews it five seconds later if no use has done it: that counts as well
      const before = w.provider.granted.length
      w.provider.liveOnce(1)
      const { expires_at } = (await w.refresh(id)).body
      await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(expires_at)), patience)
      const results = await Promise.all(Array.from({ length: 50 }, () => w.works(id)))
      expect(results.every((each) => each)).toBe(true)
      expect(w.provider.granted.length - before).toBe(2)
    },
  ],
  [
    'exchanges its code again after kill -9 during the token request',
    async (w) => {
      const { id, end } = await w.cameBack()
      const received = Promise.withResolvers<void>()
      const never = Promise.withResolvers<void>()
      Object.assign(w.provider, { onToken: received.resolve, held: never.promise })
      const open = end().catch(() => null)
      await received.promise
      await w.world.crash()
      w.provider.failing = 503
      never.resolve()
      await open
      Object.assign(w.provider, { held: null, failing: null, onToken: () => {} })
      await w.world.restart()
      await vi.waitFor(async () => expect(await w.statusOf(id)).toBe('active'), patience)
      expect(await w.works(id)).toBe(true)
    },
  ],
  [
    'expires if kill -9 lost a rotated token, without sending the old one repeatedly',
    async (w) => {
      const id = await w.connected()
      const before = w.provider.granted.length
      const never = Promise.withResolvers<void>()
      w.provider.kept = never.promise
      const refreshing = w.refresh(id).catch(() => null)
      await vi.waitFor(() => expect(w.provider.granted.length).toBe(before + 1), patience)
      await w.world.crash()
      never.resolve()
      await refreshing
      w.provider.kept = null
      await w.world.restart()
      await vi.waitFor(async () => expect(await w.statusOf(id)).toBe('expired'), patience)
      expect(await w.get(id)).toMatchObject({ error: { code: 'refresh_interrupted' } })
      expect(w.provider.granted.length).toBe(before + 2)
      const { end } = await w.cameBack(id)
      expect(await end()).toContain('<h1>Connected</h1>')
    },
  ],
  [
    'is revoked at the provider, and then refuses every sign-in, refresh and test',
    async (w) => {
      const id = await w.connected()
      await w.works(id)
      const token = w.provider.tokens.at(-1) ?? ''
      await w.world.api.fetch(`/v1/connections/${id}`, undefined, { method: 'DELETE' })
      await vi.waitFor(async () => expect(await w.provider.knows(token)).toBe(false), patience)
      for (const verb of ['authorize', 'refresh', 'reconnect', 'test'])
        expect((await w.world.api.post(`/v1/connections/${id}/${verb}`, {})).body.error?.code, verb).toBe(
          'connection_revoked',
        )
    },
  ],
  [
    'is not found by any operation of another user or tenant',
    async (w) => {
      const id = await w.connected({ tenant_id: w.tenant, external_user_id: 'ann' })
      const path = `/v1/connections/${id}`
      for (const headers of [
        { 'x-tenant-id': w.tenant, 'x-external-user-id': 'bob' },
        { 'x-tenant-id': w.foreign },
        { 'x-tenant-id': w.foreign, 'x-external-user-id': 'ann' },
      ]) {
        const as = w.world.api.with(headers)
        for (const [method, verb, body] of [
          ['GET', '', undefined],
          ['PATCH', '', { name: 'x' }],
          ['DELETE', '', undefined],
          ['GET', '/tools', undefined],
          ['POST', '/authorize', {}],
          ['POST', '/confirm', { sign_in: 'x', external_user_id: 'bob' }],
          ['POST', '/reconnect', {}],
          ['POST', '/refresh', {}],
          ['POST', '/test', {}],
        ] as const)
          expect((await as.fetch(`${path}${verb}`, body, { method })).status, `${method} ${verb}`).toBe(404)
        expect(JSON.stringify((await as.get('/v1/connections')).body)).not.toContain(id)
      }
      expect(await w.statusOf(id)).toBe('active')
    },
  ],
  [
    'refuses private addresses and URLs without TLS, when it is created and when it is changed',
    async (w) => {
      const id = await w.create()
      for (const config of [
        { token_url: 'https://10.0.0.1/token' },
        { authorization_url: 'https://169.254.169.254/' },
        { revocation_url: 'https://[::ffff:10.0.0.1]/' },
        { base_url: 'https://metadata.google.internal:1/' },
        { token_url: 'http://93.184.215.14/token' },
      ]) {
        const made = await w.world.api.post('/v1/connections', {
          connector: 'oauth2',
          config: { ...w.provider.config(), ...config },
        })
        const changed = await w.patch(id, { config })
        const [field] = Object.keys(config)
        // a host name is resolved only at a request; an IP address is refused at once
        if (field !== 'base_url') expect([made.status, changed.status], field).toEqual([422, 422])
      }
      expect(await w.statusOf(id)).toBe('pending')
    },
  ],
  [
    'shows no secret in responses, in the log or in the store',
    async (w) => {
      const { id, url, end } = await w.cameBack()
      await end()
      await w.works(id)
      const secrets = [
        ...[w.provider.client.secret, ...w.provider.tokens.slice(-5)],
        ...[url.searchParams.get('code') ?? '?', url.searchParams.get('state') ?? '?'],
      ]
      const shown = JSON.stringify([await w.get(id), (await w.world.api.get('/v1/connections')).body])
      for (const secret of secrets) {
        expect(shown).not.toContain(secret)
        expect(w.world.server.log()).not.toContain(secret)
        expect(await w.world.mentions(secret), secret).toEqual({})
      }
    },
  ],
]
