import { auth, Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { noBrowser } from '../browser/no-browser.ts'
import { World } from '../world.ts'

const redirectUrl = 'http://127.0.0.1:7777/callback'
/** The first generation of the SDK, which the conformance suite brings. */
const ofSuite = await npmPackages('mcp')

/** An app that keeps everything in memory. */
class App implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl
  readonly clientMetadata = {
    ...{ client_name: 'Test app', redirect_uris: [redirectUrl] },
    ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    token_endpoint_auth_method: 'client_secret_post',
  }
  readonly wantedScope: string | undefined
  readonly redirects: URL[] = []
  kept: Record<string, ReturnType<typeof JSON.parse>> = {}

  constructor(wantedScope?: string) {
    this.wantedScope = wantedScope
  }

  clientInformation() {
    return this.kept.client
  }
  saveClientInformation(client: unknown) {
    this.kept.client = client
  }
  tokens() {
    return this.kept.tokens
  }
  saveTokens(tokens: unknown) {
    this.kept.tokens = tokens
  }
  redirectToAuthorization(url: URL) {
    this.redirects.push(url)
  }
  saveCodeVerifier(verifier: string) {
    this.kept.verifier = verifier
  }
  saveDiscoveryState(state: unknown) {
    this.kept.discovery = state
  }
  discoveryState() {
    return this.kept.discovery
  }
  codeVerifier() {
    return this.kept.verifier
  }
}

describe('the tool server with OAuth', () => {
  let world: World

  beforeAll(async () => {
    world = await World.start({ env: noBrowser })
  })
  afterAll(() => world.stop())

  /** Decides as the consent page does. @returns the URL to which the member is sent back. */
  const decided = async (url: URL, decision = 'approve') => {
    const body = { ...Object.fromEntries(url.searchParams), origin: world.url, decision }
    const answer = await (await world.dashboard()).post('/api/oauth/consents', body)
    expect(answer.status).toBe(200)
    return new URL(answer.body.redirect_to)
  }
  const mcp = (token: string, query = '', message: object = { method: 'tools/list' }) =>
    fetch(`${world.url}/mcp${query}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    })
  const token = (form: Readonly<Record<string, string>>) =>
    fetch(`${world.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })

  it.each([
    ['of today', () => auth],
    ['of the first generation', () => ofSuite('@modelcontextprotocol/sdk/client/auth.js').auth],
  ])('lets the official SDK %s register, sign in, call and refresh', async (_which, helper) => {
    const app = new App()
    const given = { serverUrl: `${world.url}/mcp`, scope: 'read write' }
    expect(await helper()(app, given)).toBe('REDIRECT')
    const back = await decided(app.redirects[0] ?? new URL('none:'))
    const authorizationCode = back.searchParams.get('code') ?? ''
    const iss = back.searchParams.get('iss') ?? ''
    expect(await helper()(app, { ...given, authorizationCode, iss })).toBe('AUTHORIZED')
    expect(app.kept.client).toMatchObject({ token_endpoint_auth_method: 'none' })
    expect(app.kept.client).not.toHaveProperty('client_secret')
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StreamableHTTPClientTransport(new URL(given.serverUrl), { authProvider: app }))
    const made = await client.callTool({ name: 'create_session', arguments: { metadata: { by: 'app' } } })
    expect(made.structuredContent).toMatchObject({ metadata: { by: 'app' } })
    await client.close()
    const { refresh_token } = app.kept.tokens
    expect(await helper()(app, given)).toBe('AUTHORIZED')
    expect(app.kept.tokens.refresh_token).not.toBe(refresh_token)
    expect((await mcp(app.kept.tokens.access_token)).status).toBe(200)
  })

  it('accepts a token at /mcp only, and no other credential of the flow', async () => {
    const app = new App()
    const given = { serverUrl: `${world.url}/mcp`, scope: 'read' }
    await auth(app, given)
    const back = await decided(app.redirects[0] ?? new URL('none:'))
    const code = back.searchParams.get('code') ?? ''
    await auth(app, { ...given, authorizationCode: code, iss: world.url })
    const { access_token, refresh_token } = app.kept.tokens
    expect((await mcp(access_token)).status).toBe(200)
    for (const other of [refresh_token, code, `${access_token}x`]) expect((await mcp(other)).status).toBe(401)
    const elsewhere = await world.as(access_token).get('/v1/sessions')
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([401, 'authentication_required'])
    // the same server by another name is another resource
    const renamed = await fetch(`${world.url.replace('127.0.0.1', 'localhost')}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}` },
      body: '{}',
    }).catch(() => null)
    expect([401, undefined]).toContain(renamed?.status)
    const listed = await (await mcp(access_token)).text()
    expect(listed).toContain('list_sessions')
    expect(listed).not.toContain('create_session')
    const beyond = await mcp(access_token, '', { method: 'tools/call', params: { name: 'create_session' } })
    expect([beyond.status, beyond.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringMatching(/error="insufficient_scope", scope="read write"/),
    ])
    const again = await token({
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUrl },
      ...{ client_id: app.kept.client.client_id, code_verifier: app.kept.verifier },
    })
    expect([again.status, JSON.parse(await again.text()).error]).toEqual([400, 'invalid_grant'])
    expect((await mcp(access_token)).status).toBe(401)
  })

  it('publishes its metadata, and names it where a credential is missing', async () => {
    const refused = await fetch(`${world.url}/mcp?mode=write`, { method: 'POST', body: '{}' })
    expect(refused.headers.get('www-authenticate')).toContain('scope="read write"')
    const server = await (await fetch(`${world.url}/.well-known/oauth-authorization-server`)).json()
    expect(server).toMatchObject({
      issuer: world.url,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    })
    const resource = await (await fetch(`${world.url}/.well-known/oauth-protected-resource/mcp`)).json()
    expect(resource).toMatchObject({ resource: `${world.url}/mcp`, authorization_servers: [world.url] })
  })

  it.each([
    ['another method', { method: 'GET' }, 405, 'invalid_request'],
    ['a JSON body', { method: 'POST', body: '{}' }, 400, 'invalid_request'],
    [
      'a parameter given twice',
      { method: 'POST', body: new URLSearchParams('client_id=a&client_id=b') },
      400,
      'invalid_request',
    ],
    ['nothing', { method: 'POST', body: new URLSearchParams() }, 400, 'invalid_request'],
    [
      'another grant',
      { method: 'POST', body: new URLSearchParams('client_id=a&grant_type=password') },
      400,
      'unsupported_grant_type',
    ],
    [
      'too much',
      { method: 'POST', body: new URLSearchParams({ client_id: 'a'.repeat(20_000) }) },
      413,
      'invalid_request',
    ],
  ])('refuses %s at the token endpoint', async (_what, init, status, error) => {
    const answer = await fetch(`${world.url}/oauth/token`, init)
    expect([answer.status, JSON.parse(await answer.text()).error]).toEqual([status, error])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('refuses a consent that a page of another site sends, and one without a session', async () => {
    const dashboard = await world.dashboard()
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const body = { client_id: 'x', origin: world.url, decision: 'approve' }
    expect((await dashboard.post('/api/oauth/consents', body, { headers })).body.error.code).toBe('csrf_refused')
    expect((await fetch(`${world.url}/api/oauth/consents`, { method: 'POST', body: '{}' })).status).toBe(401)
    expect((await world.as(world.secretKey).post('/api/oauth/consents', body)).status).toBe(403)
  })
})
