import { expect } from 'vitest'
import { Browser } from '../browser.ts'
import { type Check, invalid } from './oauth-world.ts'

/** Checks of signing in. */
export const signInChecks: readonly Check[] = [
  [
    'starts its sign-in with a link of this server that redirects to the provider',
    async (w) => {
      const link = await w.linkOf(await w.create())
      expect(new URL(link).origin).toBe(w.world.url)
      expect((await new Browser().open(link)).location).toContain(`${w.provider.url}/auth?`)
    },
  ],
  [
    'uses an S256 challenge, with a new state and challenge for each sign-in',
    async (w) => {
      const id = await w.create()
      const [first, second] = [await w.atProvider(id), await w.atProvider(id)]
      expect(first.get('code_challenge_method')).toBe('S256')
      expect(first.get('code_challenge')).toHaveLength(43)
      expect(first.get('state')).not.toBe(second.get('state'))
      expect(first.get('code_challenge')).not.toBe(second.get('code_challenge'))
    },
  ],
  [
    'has the callback of this server as its redirect URI even if the caller names a page',
    async (w) => {
      const sent = await w.atProvider(await w.create(), { redirect_uri: 'https://app.example/done' })
      expect(sent.get('redirect_uri')).toBe(`${w.world.url}/v1/connections/oauth/callback`)
    },
  ],
  [
    'accepts its link only once',
    async (w) => {
      const link = await w.linkOf(await w.create())
      expect((await new Browser().open(link)).status).toBe(303)
      expect((await new Browser().open(link)).text).toContain(invalid)
    },
  ],
  [
    'does not accept a link as a state',
    async (w) => {
      const state = new URL(await w.linkOf(await w.create())).searchParams.get('link')
      const page = await new Browser().open(`${w.world.url}/v1/connections/oauth/callback?state=${state}&code=x`)
      expect(page.text).toContain(invalid)
    },
  ],
  [
    'does not accept a state as a link',
    async (w) => {
      const state = (await w.atProvider(await w.create())).get('state')
      const page = await new Browser().open(`${w.world.url}/v1/connections/oauth/start?link=${state}`)
      expect(page.text).toContain(invalid)
    },
  ],
  [
    'accepts a state only once',
    async (w) => {
      const { id, end } = await w.cameBack()
      expect(await end()).toContain('<h1>Connected</h1>')
      expect(await end()).toContain(invalid)
      expect(await w.statusOf(id)).toBe('active')
    },
  ],
  [
    'accepts a state only once in three concurrent callbacks',
    async (w) => {
      const { browser, url } = await w.cameBack()
      const pages = await Promise.all([1, 2, 3].map(() => browser.open(url.href)))
      expect(pages.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    },
  ],
  ...(
    [
      ['is missing', () => null],
      ['was made up', () => 'x'.repeat(43)],
      ['has another signature', (state: string) => `${state.slice(0, -2)}xx`],
      ['has another nonce', (state: string) => `x${state.slice(1)}`],
    ] as const
  ).map(
    ([what, forge]): Check => [
      `refuses a state that ${what}`,
      async (w) => {
        const { id, url, end } = await w.cameBack()
        const forged = forge(url.searchParams.get('state') ?? '')
        if (forged === null) url.searchParams.delete('state')
        else url.searchParams.set('state', forged)
        expect(await end()).toContain(invalid)
        expect(await w.statusOf(id)).toBe('pending')
      },
    ],
  ),
  [
    'refuses two states in one response',
    async (w) => {
      const { id, url, browser } = await w.cameBack()
      url.searchParams.append('state', 'x')
      expect((await browser.open(url.href)).status).toBeGreaterThanOrEqual(400)
      expect(await w.statusOf(id)).toBe('pending')
    },
  ],
  [
    'is connected only by the browser that started the sign-in',
    async (w) => {
      const { id, url, end } = await w.cameBack()
      expect((await new Browser().open(url.href)).text).toContain(invalid)
      expect(await w.statusOf(id)).toBe('pending')
      expect(await end()).toContain('<h1>Connected</h1>')
    },
  ],
  [
    'is not connected by a HEAD or POST request to the callback',
    async (w) => {
      const { id, url, end } = await w.cameBack()
      await fetch(url, { method: 'HEAD' })
      expect((await fetch(url, { method: 'POST' })).status).toBeGreaterThanOrEqual(400)
      expect(await w.statusOf(id)).toBe('pending')
      expect(await end()).toContain('<h1>Connected</h1>')
    },
  ],
  [
    'refuses a callback of another issuer, and does not send its code',
    async (w) => {
      const { id, url, end } = await w.cameBack()
      url.searchParams.set('iss', w.other.url)
      const before = w.provider.granted.length + w.other.granted.length
      expect(await end()).toContain('Not connected')
      expect(w.provider.granted.length + w.other.granted.length).toBe(before)
      expect(await w.statusOf(id)).toBe('pending')
    },
  ],
  [
    'refuses another issuer even if its configuration names none',
    async (w) => {
      const { url, end } = await w.cameBack(await w.create({ config: { ...w.provider.config(), issuer: null } }))
      url.searchParams.set('iss', w.other.url)
      expect(await end()).toContain('Not connected')
    },
  ],
  [
    'refuses the code of another sign-in of the same connection',
    async (w) => {
      const first = await w.cameBack()
      const second = await w.cameBack(first.id)
      first.url.searchParams.set('code', second.url.searchParams.get('code') ?? '')
      expect(await first.end()).toContain('Not connected')
      expect(await w.get(first.id)).toMatchObject({ status: 'pending', error: { code: 'invalid_grant' } })
    },
  ],
  [
    "refuses the code of another user's sign-in",
    async (w) => {
      const mine = await w.cameBack(await w.create({ tenant_id: w.tenant, external_user_id: 'ann' }))
      const theirs = await w.cameBack(await w.create({ tenant_id: w.tenant, external_user_id: 'bob' }), 'bob')
      mine.url.searchParams.set('code', theirs.url.searchParams.get('code') ?? '')
      expect(await mine.end()).toContain('Not connected')
      expect(await w.statusOf(mine.id)).toBe('pending')
      expect(await theirs.end()).toContain('Connected')
    },
  ],
  [
    'refuses a code of another provider',
    async (w) => {
      const mine = await w.cameBack()
      const theirs = await w.cameBack(await w.create({}, w.other))
      mine.url.searchParams.set('code', theirs.url.searchParams.get('code') ?? '')
      expect(await mine.end()).toContain('Not connected')
    },
  ],
  [
    'refuses a code that was already used',
    async (w) => {
      const first = await w.cameBack()
      await first.end()
      const again = await w.cameBack(await w.create())
      again.url.searchParams.set('code', first.url.searchParams.get('code') ?? '')
      expect(await again.end()).toContain('Not connected')
      expect(await w.get(again.id)).toMatchObject({ status: 'pending', error: { code: 'invalid_grant' } })
    },
  ],
  [
    'sends the verifier of its challenge with the code',
    async (w) => {
      // the provider grants no token without it
      const { end } = await w.cameBack()
      const before = w.provider.granted.length
      expect(await end()).toContain('<h1>Connected</h1>')
      expect(w.provider.granted.length).toBe(before + 1)
    },
  ],
  [
    'reports a declined sign-in as text without markup, and does not accept its state again',
    async (w) => {
      const id = await w.create()
      const browser = new Browser()
      const state = new URL((await browser.open(await w.linkOf(id))).location ?? '').searchParams.get('state') ?? ''
      const query = new URLSearchParams({ state, error: 'access_denied', error_description: '<script>1</script>' })
      const url = `${w.world.url}/v1/connections/oauth/callback?${query}`
      const page = await browser.open(url)
      expect(page.text).toContain('Not connected')
      expect(page.text).not.toContain('<script>')
      expect((await browser.open(url)).text).toContain(invalid)
    },
  ],
  [
    'treats a callback without a code and without an error as a refusal',
    async (w) => {
      const { url, end } = await w.cameBack()
      url.searchParams.delete('code')
      expect(await end()).toContain('Not connected')
    },
  ],
  [
    'is not connected by a sign-in that ends after it was revoked',
    async (w) => {
      const { id, end } = await w.cameBack()
      await w.world.api.fetch(`/v1/connections/${id}`, undefined, { method: 'DELETE' })
      expect(await end()).not.toContain('<h1>Connected</h1>')
      expect(await w.statusOf(id)).toBe('revoked')
    },
  ],
  [
    'is not connected if its provider was changed during the sign-in',
    async (w) => {
      const { id, end } = await w.cameBack()
      await w.patch(id, { config: w.other.config() })
      expect(await end()).toContain('Not connected')
      expect(await w.statusOf(id)).toBe('pending')
    },
  ],
]
