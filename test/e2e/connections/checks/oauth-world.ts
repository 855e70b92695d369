import { expect } from 'vitest'
import { World } from '#test/e2e/world.ts'
import { Browser } from '../browser.ts'
import { OAuthProvider } from '../oauth-provider.ts'

/** One check with its title. */
export type Check = readonly [title: string, check: (w: OAuthWorld) => Promise<void>]

/** The error code of a refused callback. */
export const invalid = 'oauth_state_invalid'

/** A server, and two authorization servers over TLS at which it is registered. */
export class OAuthWorld {
  readonly world: World
  readonly provider: OAuthProvider
  readonly other: OAuthProvider
  readonly tenant: string
  readonly foreign: string

  private constructor(
    world: World,
    providers: readonly [OAuthProvider, OAuthProvider],
    tenants: readonly [string, string],
  ) {
    this.world = world
    ;[this.provider, this.other] = providers
    ;[this.tenant, this.foreign] = tenants
  }

  static async start(): Promise<OAuthWorld> {
    const [provider, other] = [await OAuthProvider.listen(), await OAuthProvider.listen()]
    const hosts = [provider.host, other.host].join(',')
    const world = await World.start({ env: { ...provider.env, ALLOWED_PRIVATE_HOSTS: hosts } })
    provider.register(world.url)
    other.register(world.url)
    const tenant = async (name: string): Promise<string> =>
      (await world.api.post('/v1/tenants', { external_id: name, name })).body.id
    return new OAuthWorld(world, [provider, other], [await tenant('acme'), await tenant('umbrella')])
  }

  async stop(): Promise<void> {
    await this.world.stop()
    await this.provider.stop()
    await this.other.stop()
  }

  /** Resets the faults of the provider. */
  calm(): void {
    Object.assign(this.provider, { failing: null, held: null, reply: null, kept: null, onToken: () => {} })
    this.provider.live(3600)
  }

  async create(body: object = {}, from = this.provider): Promise<string> {
    const made = await this.world.api.post('/v1/connections', { connector: 'oauth2', config: from.config(), ...body })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body.id
  }

  async linkOf(id: string, body: object = {}): Promise<string> {
    return (await this.world.api.post(`/v1/connections/${id}/authorize`, body)).body.authorize_url
  }

  async get(id: string) {
    return (await this.world.api.get(`/v1/connections/${id}`)).body
  }

  async statusOf(id: string): Promise<string> {
    return (await this.get(id)).status
  }

  refresh(id: string) {
    return this.world.api.post(`/v1/connections/${id}/refresh`, {})
  }

  patch(id: string, body: object): Promise<Response> {
    return this.world.api.fetch(`/v1/connections/${id}`, body, { method: 'PATCH' })
  }

  async works(id: string): Promise<boolean> {
    return (await this.world.api.post(`/v1/connections/${id}/test`, {})).body.success === true
  }

  /** Parameters of the authorization request at the provider when a sign-in begins. */
  async atProvider(id: string, body: object = {}): Promise<URLSearchParams> {
    return new URL((await new Browser().open(await this.linkOf(id, body))).location ?? '').searchParams
  }

  /** A sign-in that was redirected back, and whose callback is not opened yet. */
  async cameBack(id?: string, user = 'ann') {
    const connection = id ?? (await this.create())
    const browser = new Browser()
    const url = new URL(await browser.signIn(await this.linkOf(connection), user))
    return { id: connection, browser, url, end: async () => (await browser.open(url.href)).text }
  }

  async connected(body: object = {}, user = 'ann'): Promise<string> {
    const { id, end } = await this.cameBack(await this.create(body), user)
    expect(await end()).toContain('<h1>Connected</h1>')
    return id
  }

  /** Expects that a connection keeps its grant after this answer of the provider. */
  async survives(reply: OAuthProvider['reply']): Promise<void> {
    const id = await this.connected()
    this.provider.reply = reply
    for (let round = 0; round < 3; round++) await this.refresh(id)
    expect(await this.get(id)).toMatchObject({ status: 'error', error: { code: 'provider_unavailable' } })
    this.provider.reply = null
    expect(await this.works(id)).toBe(true)
    expect((await this.refresh(id)).body).toMatchObject({ status: 'active', error: null })
  }

  /** Expects that a grant with these fields is accepted or refused, and the server still works. */
  async grants(fields: object): Promise<void> {
    const id = await this.connected()
    const text = JSON.stringify({ access_token: 'odd', token_type: 'Bearer', ...fields })
    this.provider.reply = { status: 200, text }
    await this.refresh(id)
    expect((await this.world.api.get('/v1/connections?limit=5')).status).toBe(200)
    expect(['active', 'error']).toContain(await this.statusOf(id))
    await this.world.api.fetch(`/v1/connections/${id}`, undefined, { method: 'DELETE' })
  }
}
