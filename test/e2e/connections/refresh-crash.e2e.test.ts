import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { atNight } from '#test/setup/at-night.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { Browser } from './browser.ts'
import { OAuthProvider } from './oauth-provider.ts'

/** Kills at random points of a refresh, for each kind of provider. */
const kills = atNight ? 50 : 3

/** Resolves after so many turns of the event loop, each some tens of microseconds long. */
const later = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe.each([
  ['a grace period', true],
  ['no grace period', false],
] as const)('a refresh at a provider that rotates tokens with %s', (_, hasGrace) => {
  let world: World
  let provider: OAuthProvider

  beforeAll(async () => {
    provider = await OAuthProvider.listen()
    provider.hasGrace = hasGrace
    world = await World.start({ env: provider.env })
    provider.register(world.url)
  })
  afterAll(async () => {
    await world.stop()
    await provider.stop()
  })

  const get = async (id: string) => (await world.api.get(`/v1/connections/${id}`)).body
  const signIn = async (id: string) => {
    const { body } = await world.api.post(`/v1/connections/${id}/reconnect`, {})
    const page = await new Browser().connect(body.authorize_url, 'ann')
    expect(page.text).toContain('<h1>Connected</h1>')
  }
  const connected = async (): Promise<string> => {
    const { body } = await world.api.post('/v1/connections', { connector: 'oauth2', config: provider.config() })
    await signIn(body.id)
    return body.id
  }
  /** Refreshes, kills the server when `at` resolves, starts it again, and returns what became of the connection. */
  const killed = async (id: string, at: Promise<unknown>) => {
    const { last_refreshed_at: before } = await get(id)
    const refreshing = world.api.post(`/v1/connections/${id}/refresh`, {}).catch(() => null)
    await at
    await world.crash()
    await refreshing
    Object.assign(provider, { isCut: false, kept: null, onToken: () => {}, onSent: () => {}, onKept: () => {} })
    await world.restart()
    return vi.waitFor(
      async () => {
        const connection = await get(id)
        // a restart completes the refresh: a grant is renewed, or has ended
        if (connection.status === 'active') expect(connection.last_refreshed_at).not.toBe(before)
        expect(['active', 'expired']).toContain(connection.status)
        return connection
      },
      { ...patience, timeout: 20_000 },
    )
  }
  const usable = async (id: string) =>
    expect((await world.api.post(`/v1/connections/${id}/test`, {})).body).toMatchObject({
      success: true,
      status: 'active',
    })

  it('loses nothing when the server is killed before the provider has the request', async () => {
    const id = await connected()
    provider.isCut = true
    const { status } = await killed(id, new Promise<void>((resolve) => (provider.onToken = resolve)))
    expect(status).toBe('active')
    await usable(id)
  })

  it('is completed, or its owner is asked to sign in again, when the answer is lost', async () => {
    const id = await connected()
    const sent = Promise.withResolvers<void>()
    provider.kept = sent.promise
    const { status, error } = await killed(id, new Promise<void>((resolve) => (provider.onKept = resolve)))
    sent.resolve()
    if (hasGrace) expect([status, error]).toEqual(['active', null])
    else expect([status, error]).toMatchObject(['expired', { code: 'refresh_interrupted' }])
    if (!hasGrace) await signIn(id)
    await usable(id)
  })

  it('is never left in between by kills at any point', { timeout: 60_000 + kills * 20_000 }, async () => {
    const lost: number[] = []
    for (let kill = 0; kill < kills; kill++) {
      const id = await connected()
      const turns = Math.floor(Math.random() * 200)
      const sent = new Promise<void>((resolve) => (provider.onSent = resolve))
      const { status, error } = await killed(
        id,
        sent.then(() => later(turns)),
      )
      if (status === 'expired') {
        expect(error, `killed ${turns} turns after the answer`).toMatchObject({ code: 'refresh_interrupted' })
        lost.push(turns)
        await signIn(id)
      }
      await usable(id)
    }
    if (kills > 3) process.stdout.write(`${kills} kills with ${_}: ${lost.length} grants lost\n`)
    if (hasGrace) expect(lost).toEqual([])
  })
})
