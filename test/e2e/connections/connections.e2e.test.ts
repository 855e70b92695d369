import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'
import { Browser } from './browser.ts'
import { OAuthProvider } from './oauth-provider.ts'

describe('connections', () => {
  let world: World
  let provider: OAuthProvider

  beforeAll(async () => {
    provider = await OAuthProvider.listen()
    world = await World.start({ env: provider.env })
    provider.register(world.url)
  })
  afterAll(async () => {
    await world.stop()
    await provider.stop()
  })

  const create = async (body: object = {}) => {
    const made = await world.api.post('/v1/connections', { connector: 'oauth2', config: provider.config(), ...body })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body
  }
  const authorizeUrl = async (id: string): Promise<string> => {
    const answer = await world.api.post(`/v1/connections/${id}/authorize`, {})
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body.authorize_url
  }
  const get = async (id: string) => (await world.api.get(`/v1/connections/${id}`)).body

  it('become active when their owner has signed in, and a test shows that they work', async () => {
    const { id } = await create()
    expect((await get(id)).status).toBe('pending')
    const page = await new Browser().connect(await authorizeUrl(id), 'ann')
    expect(page.text).toContain('Connected')
    expect(await get(id)).toMatchObject({ status: 'active', error: null, granted_scopes: ['openid'] })
    const test = await world.api.post(`/v1/connections/${id}/test`, {})
    expect(test.body).toMatchObject({ success: true, status: 'active', error: null })
    expect(provider.seen.at(-1)).toBe('ann')
  })
})
