import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { operations } from '#actors/capabilities.ts'
import { addForeign, callOf, openAccounts, ownerEmail } from './account-harness.ts'

const password = 'a long enough password'

const open = async () => {
  const accounts = await openAccounts()
  const { useCases, dashboard, project, secret } = accounts
  return {
    ...accounts,
    addMember: (email: string, role: 'owner' | 'admin' | 'member' = 'member', principal = dashboard) =>
      useCases['project_members.create'](callOf(principal, { project_id: project }, {}, { email, role, password })),
    removeMember: (member_id: string, principal = dashboard) =>
      useCases['project_members.delete'](callOf(principal, { project_id: project, member_id }, {}, undefined)),
    listMembers: (principal = dashboard) =>
      useCases['project_members.list'](callOf(principal, { project_id: project }, { limit: 20 }, undefined)),
    tenant: (body: { external_id: string; name: string; region?: string | null; metadata?: { plan?: string } }) =>
      useCases['tenants.create'](callOf(secret, {}, {}, { metadata: {}, ...body })),
  }
}

describe('projects', () => {
  it('are created and listed in the organisation of the member, newest first, without their secrets', async () => {
    const accounts = await open()
    const { useCases, dashboard, project, auth } = accounts
    const { dashboard: eve, project: foreign } = await addForeign(accounts)
    const body = {
      ...{ name: 'Second', allowed_origins: ['https://app.example.org'], memory: { plan: 'free' as const } },
      knowledge: {},
      ...{ return_urls: ['https://app.example.org/done'], remote_servers: 'registered' as const },
      skill_review_model: 'gpt-4o-mini',
    }
    const made = await useCases['projects.create'](callOf(dashboard, {}, {}, body))
    expect(made).toMatchObject(body)
    expect(Object.keys(made).sort()).toEqual([
      'allowed_origins',
      'created_at',
      'deletion',
      'id',
      'knowledge',
      'memory',
      'name',
      'remote_servers',
      'return_urls',
      'skill_review_model',
      'status',
      'updated_at',
    ])
    const listed = await useCases['projects.list'](callOf(dashboard, {}, { limit: 20 }, undefined))
    expect(listed.data.map(({ id }) => id)).toEqual([made.id, project])
    const others = await useCases['projects.list'](callOf(eve, {}, { limit: 20 }, undefined))
    expect(others.data.map(({ id }) => id)).toEqual([foreign])
    expect(await auth.projects.settings(made.id)).toMatchObject({ allowedOrigins: body.allowed_origins })
    expect(await auth.projects.signingSecrets(made.id)).toEqual([expect.stringMatching(/^whsec_/)])
    expect(await auth.projects.signingSecrets('prj_unknown')).toBeNull()
  })
})

describe('members', () => {
  it('sign in with their initial password, and are listed without it', async () => {
    const { addMember, listMembers, useCases } = await open()
    const made = await addMember('Bob@Example.org', 'admin')
    expect(made).toMatchObject({ email: 'bob@example.org', role: 'admin', name: null })
    const login = callOf({ kind: 'public' }, {}, {}, { email: 'bob@example.org', password })
    expect((await useCases['auth.login'](login)).body.member).toMatchObject({ id: made.id, role: 'admin' })
    expect(JSON.stringify((await listMembers()).data)).not.toContain('argon2')
  })

  it('have a unique e-mail across all organisations', async () => {
    const accounts = await open()
    const { dashboard: eve } = await addForeign(accounts)
    await expect(accounts.addMember(ownerEmail, 'member', eve)).rejects.toMatchObject({
      code: 'already_exists',
      details: { param: 'email' },
    })
  })

  it('lose their dashboard sessions when removed', async () => {
    const { addMember, removeMember, memberTable, auth } = await open()
    const { id } = await addMember('bob@example.org')
    const row = await memberTable.findGlobal({ email: 'bob@example.org' })
    if (row === null) throw new Error('no member')
    const cookie = await auth.dashboardSessions.open(row)
    expect(await auth.dashboardSessions.verify(cookie)).not.toBeNull()
    expect(await removeMember(id)).toEqual({ id, deleted: true })
    expect(await auth.dashboardSessions.verify(cookie)).toBeNull()
  })

  it('always include an owner, even with concurrent removals', async () => {
    const { addMember, removeMember, memberTable, owner, dashboard } = await open()
    await expect(removeMember(owner.id)).rejects.toMatchObject({ code: 'invalid_transition' })
    const second = await addMember('bob@example.org', 'owner')
    await Promise.allSettled([removeMember(owner.id), removeMember(second.id)])
    const left = await Promise.all([ownerEmail, 'bob@example.org'].map((email) => memberTable.findGlobal({ email })))
    expect(left.some((row) => row?.data.role === 'owner' && row.project === dashboard.organization)).toBe(true)
  })

  it('are not found by another organisation', async () => {
    const accounts = await open()
    const { dashboard: eve } = await addForeign(accounts)
    await expect(accounts.removeMember(accounts.owner.id, eve)).rejects.toMatchObject({ code: 'not_found' })
    expect((await accounts.listMembers(eve)).data.map(({ email }) => email)).toEqual(['eve@example.org'])
  })
})

describe('roles', () => {
  it.each([
    ['project_keys.list', 'member'],
    ['project_members.list', 'member'],
    ['projects.list', 'member'],
    ['projects.create', 'admin'],
    ['project_keys.create', 'admin'],
    ['project_keys.delete', 'admin'],
    ['project_keys.rotate', 'admin'],
    ['project_members.create', 'owner'],
    ['project_members.delete', 'owner'],
  ] as const)('%s requires at least: %s', (id, role) => {
    expect(operations[id].access).toMatchObject({ kinds: ['dashboard'], role })
  })
})

describe('tenants', () => {
  it('are created once per external id; a repetition changes the given fields and keeps the rest', async () => {
    const { tenant } = await open()
    const made = await tenant({ external_id: 'acme', name: 'Acme', region: 'eu', metadata: { plan: 'pro' } })
    expect(made).toMatchObject({ external_id: 'acme', status: 'active', region: 'eu', metadata: { plan: 'pro' } })
    expect(made.id).toMatch(/^ten_[0-9a-z]{26}$/)
    expect(await tenant({ external_id: 'acme', name: 'Acme' })).toEqual(made)
    const changed = await tenant({ external_id: 'acme', name: 'Acme Ltd', region: null })
    expect(changed).toMatchObject({ id: made.id, name: 'Acme Ltd', region: null, metadata: { plan: 'pro' } })
  })

  it('are created once by concurrent requests', async () => {
    const { tenant, useCases, secret } = await open()
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, n) => tenant({ external_id: 'acme', name: `Acme ${n}` })),
    )
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    const { data } = await useCases['tenants.list'](callOf(secret, {}, { limit: 20 }, undefined))
    expect(data).toHaveLength(1)
  })

  it('are filtered by status, and not found by another project', async () => {
    const accounts = await open()
    const { useCases, secret, tenant } = accounts
    const { dashboard: eve } = await addForeign(accounts)
    const { id } = await tenant({ external_id: 'acme', name: 'Acme' })
    const list = (principal: Principal, status?: 'active' | 'suspended') =>
      useCases['tenants.list'](callOf(principal, {}, status ? { limit: 20, status } : { limit: 20 }, undefined))
    expect((await list(secret, 'active')).data.map((row) => row.id)).toEqual([id])
    expect((await list(secret, 'suspended')).data).toEqual([])
    expect((await list(eve)).data).toEqual([])
    await expect(useCases['tenants.get'](callOf(eve, { tenant_id: id }, {}, undefined))).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('client tokens', () => {
  const permissions = ['sessions:turn'] as const

  it('authenticate one end user of a tenant of the project', async () => {
    const { useCases, dashboard, tenant, auth, project, clock } = await open()
    const { id } = await tenant({ external_id: 'acme', name: 'Acme' })
    const made = await useCases['project_keys.create'](callOf(dashboard, { project_id: project }, {}, { name: 'k' }))
    const secret = await auth.credentials.token(made.key)
    const body = { tenant_id: id, external_user_id: 'u1', permissions, expires_in: 900, session_id: 'ses_1' }
    const { token, expires_at } = await useCases['client_tokens.create'](callOf(secret, {}, {}, body))
    expect(Date.parse(expires_at)).toBe(clock.now + 900_000)
    expect(await auth.credentials.token(token)).toEqual({
      kind: 'client_token',
      project,
      tenant: id,
      user: 'u1',
      permissions: ['sessions:turn'],
      sessionId: 'ses_1',
      installationIds: [],
      mintedBy: made.id,
    })
    await useCases['project_keys.delete'](callOf(dashboard, { project_id: project, key_id: made.id }, {}, undefined))
    await expect(async () => auth.credentials.token(token)).rejects.toMatchObject({ code: 'authentication_required' })
  })

  it('cannot be created for a tenant that is unknown or of another project', async () => {
    const accounts = await open()
    const { dashboard: eve } = await addForeign(accounts)
    const { id } = await accounts.tenant({ external_id: 'acme', name: 'Acme' })
    const body = (tenant_id: string) => ({ tenant_id, external_user_id: 'u1', permissions, expires_in: 60 })
    const create = accounts.useCases['client_tokens.create']
    const missing = { code: 'not_found', details: { param: 'tenant_id' } }
    await expect(create(callOf(eve, {}, {}, body(id)))).rejects.toMatchObject(missing)
    await expect(create(callOf(accounts.secret, {}, {}, body('acme')))).rejects.toMatchObject(missing)
  })
})
