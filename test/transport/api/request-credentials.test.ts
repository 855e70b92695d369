import { describe, expect, it } from 'vitest'
import { AgentKeys } from '#actors/accounts/agent-keys.ts'
import { ApiKeys } from '#actors/accounts/api-keys.ts'
import { bootstrap } from '#actors/accounts/bootstrap.ts'
import { ClientTokens } from '#actors/accounts/client-tokens.ts'
import { Credentials } from '#actors/accounts/credentials.ts'
import { DashboardSessions } from '#actors/accounts/dashboard-sessions.ts'
import { agentKeys as agentKeyKind, members, projects } from '#actors/accounts/kinds.ts'
import { OAuthGrants } from '#actors/accounts/oauth/oauth-grants.ts'
import { ProjectDirectory } from '#actors/accounts/project-directory.ts'
import { sessionCookieName } from '#actors/accounts/session-cookie.ts'
import { agentReaches } from '#actors/agents/agent-reaches.ts'
import { agents } from '#actors/agents/kinds.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { principalOf } from '#transport/api/credentials/request-credentials.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'

const secretKey = `csk_${'k'.repeat(43)}`
const given = { secretKey, ownerEmail: 'ada@x.org', ownerPassword: 'correct horse' }
const box = { seal: (text: string) => text, open: (sealed: string) => sealed }
const grant = {
  project: 'prj_x',
  tenant: 'ten_1',
  user: 'u',
  permissions: ['sessions:turn'],
  sessionId: null,
  installationIds: [],
}

const requestOf = (headers: Record<string, string>, target = '/v1/sessions'): HttpRequest => {
  const [path = '', query = ''] = target.split('?')
  return {
    method: 'GET',
    path,
    query,
    header: (name) => headers[name],
    remoteAddress: '127.0.0.1',
    body: () => Promise.resolve(Buffer.alloc(0)),
  }
}

const open = async () => {
  const { records } = openMemoryStorage()
  const deps = { records, keys: keysOf({ masterKey: Buffer.alloc(32, 1) }), now: Date.now }
  const apiKeys = new ApiKeys(deps)
  const clientTokens = new ClientTokens(deps)
  const dashboardSessions = new DashboardSessions(deps)
  const directory = new ProjectDirectory({ ...deps, box })
  const { organization, project } = await bootstrap({ ...deps, apiKeys, projects: directory, given })
  const owner = await new Table(records, members, Date.now).findGlobal({ email: given.ownerEmail })
  if (owner === null) throw new Error('no owner')
  const addProject = async (inOrganization: string) => {
    const id = newId('prj')
    const table = new Table(records, projects, Date.now)
    await table.insert({ id, project: inOrganization, data: directory.newData(id, 'Another', []) })
    return id
  }
  const agentKeys = new AgentKeys({ ...deps, reachOfAgent: agentReaches(deps) })
  const credentials = new Credentials({
    ...{ apiKeys, agentKeys, clientTokens, dashboardSessions, projects: directory, oauthGrants: new OAuthGrants(deps) },
    activeInstallations: (_, ids) => ids,
  })
  const agentKey = async (allowed_domains: readonly string[] = []) => {
    const id = newId('agt')
    const data = { name: 'Helper', description: null, config: { model: 'simulated-1' } }
    await new Table(records, agents, Date.now).insert({ id, project, data })
    const { secret, material } = agentKeys.mint('secret')
    const named = { name: 'k', agent_id: id, environment: 'live', key_type: 'secret', created_by: null } as const
    const times = { expires_at_ms: null, revoked_at_ms: null, last_used_at_ms: null }
    const key = { id: newId('key'), project, data: { ...named, ...material, ...times, allowed_domains } }
    await new Table(records, agentKeyKind, Date.now).insert(key)
    return secret
  }
  return {
    project,
    organization,
    addProject,
    agentKey,
    token: (await clientTokens.mint(grant)).token,
    cookie: `a=b; troupe_session=${await dashboardSessions.open(owner)}; c=d`,
    who: async (headers: Record<string, string>, target?: string, cookieName = 'troupe_session') =>
      principalOf(credentials, requestOf(headers, target), cookieName),
  }
}

const refused = expect.objectContaining({ code: 'authentication_required' })

describe('the credential of a request', () => {
  it('is reported differently when it is missing, malformed, wrong or an ended session', async () => {
    const { who } = await open()
    const messageOf = async (headers: Record<string, string>) => {
      const error: unknown = await who(headers).catch((thrown: unknown) => thrown)
      expect(error).toEqual(refused)
      return error instanceof Error ? error.message : ''
    }
    expect(await messageOf({})).toMatch(/has no credential/)
    for (const authorization of ['Basic YTpi', 'Bearer ', 'csk_without_scheme'])
      expect(await messageOf({ authorization })).toMatch(/has no bearer token/)
    for (const token of ['csk_wrong', 'ect_wrong', 'cak_wrong', 'sk-proj-other']) {
      expect(await messageOf({ authorization: `Bearer ${token}` })).toMatch(/is unknown, expired or revoked/)
      expect(await messageOf({ 'x-api-key': token })).toMatch(/is unknown, expired or revoked/)
    }
    expect(await messageOf({ cookie: 'troupe_session=ended' })).toMatch(/session has ended/)
  })

  it('under https is not a cookie that another host of the domain could have set', async () => {
    const { cookie, who } = await open()
    const under = sessionCookieName(true)
    await expect(who({ cookie }, undefined, under)).rejects.toEqual(refused)
    const own = cookie.replace('troupe_session', under)
    expect(await who({ cookie: `troupe_session=tossed; ${own}` }, undefined, under)).toMatchObject({
      kind: 'dashboard',
    })
  })

  it('is a secret key as bearer token, in SERVICE_API_KEY or in X-API-Key', async () => {
    const { project, who } = await open()
    for (const headers of [
      { authorization: `Bearer ${secretKey}` },
      { authorization: `bearer  ${secretKey} ` },
      { service_api_key: secretKey },
      { 'x-api-key': secretKey },
    ])
      expect(await who(headers)).toMatchObject({ kind: 'secret_key', project })
  })

  it('is a client token as bearer token or in the URL of a WebSocket', async () => {
    const { token, who } = await open()
    expect(await who({ authorization: `Bearer ${token}` })).toMatchObject({ kind: 'client_token', project: 'prj_x' })
    expect(await who({ upgrade: 'WebSocket' }, `/v1/sessions/ses_1/ws?after=1&token=${token}`)).toMatchObject({
      kind: 'client_token',
    })
  })

  it('is an agent key as bearer token or in SERVICE_API_KEY, from its allowed domains only', async () => {
    const { agentKey, project, who } = await open()
    const anywhere = await agentKey()
    expect(await who({ service_api_key: anywhere })).toMatchObject({ kind: 'agent_key', project })
    expect(await who({ authorization: `Bearer ${anywhere}`, origin: 'https://any.example' })).toMatchObject({
      kind: 'agent_key',
    })
    const bound = `Bearer ${await agentKey(['app.example'])}`
    const elsewhere = expect.objectContaining({ code: 'origin_not_allowed' })
    for (const [origin, headers] of [
      ['none', { authorization: bound }],
      ['another', { authorization: bound, origin: 'https://evil.example' }],
    ] as const)
      await expect(who(headers), origin).rejects.toEqual(elsewhere)
    // the same from the cache
    await who({ authorization: bound, origin: 'https://app.example' })
    await expect(who({ authorization: bound, origin: 'https://evil.example' })).rejects.toEqual(elsewhere)
    expect(await who({ authorization: bound, origin: 'https://app.example' })).toMatchObject({
      allowedDomains: ['app.example'],
    })
  })

  it('is a client token, never a secret key, in the URL of an EventSource, which cannot send headers', async () => {
    const { token, who } = await open()
    const stream = { accept: 'text/event-stream' }
    const path = '/v1/sessions/ses_1/stream'
    expect(await who(stream, `${path}?token=${token}`)).toMatchObject({ kind: 'client_token' })
    await expect(who(stream, `${path}?token=${secretKey}`)).rejects.toEqual(refused)
  })

  it('is not in the URL of any other request, and is never a secret key in a URL', async () => {
    const { token, who } = await open()
    await expect(who({}, `/v1/sessions?token=${token}`)).rejects.toEqual(refused)
    await expect(who({ upgrade: 'websocket' }, `/v1/sessions/ses_1/ws?token=${secretKey}`)).rejects.toEqual(refused)
  })

  it('is the cookie of a dashboard session, for the first project unless another is named', async () => {
    const { project, organization, addProject, cookie, who } = await open()
    const second = await addProject(organization)
    const projectOf = async (headers: Record<string, string>, target?: string) => {
      const principal = await who({ cookie, ...headers }, target)
      return principal.kind === 'dashboard' ? principal.project : null
    }
    expect(await projectOf({})).toBe(project)
    expect(await projectOf({ 'x-project-id': second })).toBe(second)
    expect(await projectOf({}, `/api/projects/${second}/keys`)).toBe(second)
    expect(await projectOf({ 'x-project-id': second }, `/api/projects/${project}/keys/key_1`)).toBe(project)
  })

  it('reaches no project of another organization, which looks like an unknown one', async () => {
    const { addProject, cookie, who } = await open()
    const foreign = await addProject('org_other')
    const missing = expect.objectContaining({ code: 'not_found' })
    await expect(who({ cookie }, `/api/projects/${foreign}/keys`)).rejects.toEqual(missing)
    await expect(who({ cookie, 'x-project-id': foreign })).rejects.toEqual(missing)
    await expect(who({ cookie }, `/api/projects/${newId('prj')}/keys`)).rejects.toEqual(missing)
  })

  it.each([
    ['nothing', {}],
    ['an empty header', { authorization: '' }],
    ['another scheme', { authorization: `Basic ${secretKey}` }],
    ['an unknown key', { authorization: `Bearer csk_${'x'.repeat(43)}` }],
    ['an unknown cookie', { cookie: `troupe_session=${'x'.repeat(43)}` }],
    ['another cookie', { cookie: 'session=1; x' }],
    ['something else as token', { authorization: 'Bearer ect_a.b.c' }],
    ['an unknown key of an agent', { authorization: `Bearer cak_${'x'.repeat(43)}` }],
  ])('is refused: %s', async (_, headers) => {
    const { who } = await open()
    await expect(who(headers)).rejects.toEqual(refused)
  })

  it('is not looked up elsewhere if the one that was sent is wrong', async () => {
    const { cookie, who } = await open()
    await expect(who({ cookie, authorization: 'Bearer csk_wrong' })).rejects.toEqual(refused)
  })
})
