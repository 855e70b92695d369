import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { Browser } from './browser.ts'
import { OAuthProvider } from './oauth-provider.ts'

describe('sign-ins', () => {
  let world: World
  let provider: OAuthProvider
  let tenant: string

  beforeAll(async () => {
    provider = await OAuthProvider.listen()
    world = await World.start({ env: provider.env })
    provider.register(world.url)
    tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
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
  const authorizeUrl = async (id: string, body: object = {}): Promise<string> => {
    const answer = await world.api.post(`/v1/connections/${id}/authorize`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body.authorize_url
  }
  const get = async (id: string) => (await world.api.get(`/v1/connections/${id}`)).body

  it("redirect the browser to the caller's page", async () => {
    const { id } = await create()
    const url = await authorizeUrl(id, { redirect_uri: 'https://app.example/done?x=1' })
    const page = await new Browser().connect(url, 'ann')
    expect(page.text).toContain(`https://app.example/done?x=1&#38;connection_id=${id}&#38;status=connected`)
  })

  it('by a reconnect link are bound to the browser that opened it', async () => {
    const { id } = await create()
    const link = (await world.api.post(`/v1/connections/${id}/reconnect`, {})).body.authorize_url
    const victim = new Browser()
    const back = await victim.signIn(link, 'ann')
    expect((await new Browser().open(back)).text).toContain('oauth_state_invalid')
    expect((await get(id)).status).toBe('pending')
    expect((await victim.open(back)).text).toContain('<h1>Connected</h1>')
  })

  it('are bound to the browser that opened the link, which works once', async () => {
    const { id } = await create()
    const link = await authorizeUrl(id)
    expect(link.startsWith(`${world.url}/v1/connections/oauth/start?link=`)).toBe(true)
    const browser = new Browser()
    const back = await browser.signIn(link, 'ann')
    // another browser can neither reuse the link nor complete the sign-in
    expect((await new Browser().open(link)).text).toContain('oauth_state_invalid')
    expect((await new Browser().open(back)).text).toContain('oauth_state_invalid')
    expect((await get(id)).status).toBe('pending')
    expect((await browser.open(back)).text).toContain('<h1>Connected</h1>')
    const links = await authorizeUrl(id)
    const opened = await Promise.all([1, 2, 3].map(() => new Browser().open(links)))
    expect(opened.map(({ status }) => status).sort()).toEqual([303, 400, 400])
  })

  it('with confirm connect only after the caller has confirmed the user who signed in', async () => {
    const body = { tenant_id: tenant, external_user_id: 'eve' }
    const { id } = await create(body)
    const page = 'https://app.example/done'
    const back = async () => {
      const url = await authorizeUrl(id, { redirect_uri: page, confirm: true })
      const { text } = await new Browser().connect(url, 'ann')
      expect(text).toContain('status=confirmation_required')
      expect((await get(id)).status).toBe('pending')
      return /sign_in=([\w.-]+)/.exec(text)?.[1] ?? ''
    }
    const confirm = (sign_in: string, more: object) =>
      world.api.post(`/v1/connections/${id}/confirm`, { sign_in, ...more })
    const granted = provider.granted.length
    const first = await back()
    expect((await confirm(first, {})).body.error).toMatchObject({ code: 'missing_field', param: 'external_user_id' })
    const other = (await create(body)).id
    const elsewhere = await world.api.post(`/v1/connections/${other}/confirm`, {
      sign_in: first,
      external_user_id: 'eve',
    })
    expect(elsewhere.body.error).toMatchObject({ code: 'oauth_state_invalid', param: 'sign_in' })
    expect((await confirm(first, { external_user_id: 'ann' })).body.error.param).toBe('external_user_id')
    expect((await confirm(first, { external_user_id: 'eve' })).body.error.code).toBe('oauth_state_invalid')
    expect(provider.granted.length).toBe(granted)
    expect(await get(id)).toMatchObject({ status: 'pending', error: null })
    const second = await back()
    expect((await confirm(second, { external_user_id: 'eve' })).body).toMatchObject({ id, status: 'active' })
    expect((await confirm(second, { external_user_id: 'eve' })).body.error.code).toBe('oauth_state_invalid')
    expect(await world.mentions(second)).toEqual({})
    const bare = await world.api.post(`/v1/connections/${id}/authorize`, { confirm: true })
    expect(bare.body.error).toMatchObject({ code: 'missing_field', param: 'redirect_uri' })
  })

  it('neither begin nor end while the tenant is suspended', async () => {
    const { body } = await world.api.post('/v1/tenants', { external_id: 'paused', name: 'Paused' })
    const suspend = async (status: string) => {
      const changed = await world.api.fetch(`/v1/tenants/${body.id}`, { status }, { method: 'PATCH' })
      expect(changed.status).toBe(200)
    }
    const { id } = await create({ tenant_id: body.id })
    const reconnect = async () => (await world.api.post(`/v1/connections/${id}/reconnect`, {})).body.authorize_url
    const [once, often] = [await authorizeUrl(id), await reconnect()]
    const browser = new Browser()
    const back = await browser.signIn(often, 'ann')
    const granted = provider.granted.length
    await suspend('suspended')
    for (const link of [once, often]) {
      const page = await new Browser().open(link)
      expect([page.status, page.text]).toEqual([403, expect.stringContaining('tenant_suspended')])
    }
    expect((await browser.open(back)).text).toContain('The tenant is suspended.')
    expect(provider.granted.length).toBe(granted)
    await suspend('active')
    expect((await get(id)).status).toBe('pending')
    expect((await browser.connect(await reconnect(), 'ann')).text).toContain('<h1>Connected</h1>')
  })

  it('redirect only to pages that the project allows', async () => {
    const dashboard = await world.dashboard()
    const project = `/api/projects/${(await dashboard.get('/api/projects')).body.data[0].id}`
    const { id } = await create()
    const signIn = async (redirect_uri: string) => {
      const { status, body } = await world.api.post(`/v1/connections/${id}/authorize`, { redirect_uri })
      return status === 200 ? 'taken' : body.error.param
    }
    expect(await signIn('https://anywhere.example/x')).toBe('taken')
    for (const url of ['http://anywhere.example/x', 'https://ann@anywhere.example/', 'https://['])
      expect(await signIn(url), url).toBe('redirect_uri')
    const return_urls = ['https://app.example/done', 'https://app.example/below/', 'http://intern.example:8080/x']
    const changed = await dashboard.fetch(project, { return_urls }, { method: 'PATCH' })
    expect(await changed.json()).toMatchObject({ return_urls })
    for (const url of ['https://app.example/done?a=1', 'https://app.example/below/a/b', 'http://intern.example:8080/x'])
      await vi.waitFor(async () => expect(await signIn(url), url).toBe('taken'), patience)
    for (const url of [
      'https://anywhere.example/x',
      'https://app.example/done/more',
      'https://app.example/below',
      'https://app.example/below/../other',
      'https://app.example.evil.example/done',
      'https://app.example@evil.example/done',
      'https://app.example:444/done',
      'http://app.example/done',
      'https://app.example/done\\@evil.example',
    ])
      expect(await signIn(url), url).toBe('redirect_uri')
    expect((await world.api.fetch(project, { return_urls: [] }, { method: 'PATCH' })).status).not.toBe(200)
    await dashboard.fetch(project, { return_urls: [] }, { method: 'PATCH' })
    await vi.waitFor(async () => expect(await signIn('https://anywhere.example/x')).toBe('taken'), patience)
  })
})
