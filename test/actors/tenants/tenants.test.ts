import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { sessionRows } from '#actors/sessions/kinds.ts'
import { tenantUsers } from '#actors/tenants/kinds.ts'
import type { TenantDirectory } from '#actors/tenants/tenant-directory.ts'
import { projectScope } from '#storage/scope.ts'
import { recordOf } from '#test/storage/samples.ts'
import { callOf, openAccounts } from '../accounts/account-harness.ts'

const open = async () => {
  const world = await openAccounts()
  const { useCases, secret, project, delivery } = world
  const created = await useCases['tenants.create'](
    callOf(secret, {}, {}, { external_id: 'acme', name: 'Acme', metadata: {} }),
  )
  const at = { tenant_id: created.id }
  const update = (body: Parameters<(typeof useCases)['tenants.update']>[0]['body']) =>
    useCases['tenants.update'](callOf(secret, at, {}, body))
  const remove = () => useCases['tenants.delete'](callOf(secret, at, {}, undefined))
  const user = (external_user_id: string) => ({ ...at, external_user_id })
  const put = (name: string, body = {}) =>
    useCases['tenant_users.put'](callOf(secret, user(name), {}, { metadata: {}, ...body }))
  const get = (name: string) => useCases['tenant_users.get'](callOf(secret, user(name), {}, undefined))
  const drop = (name: string, hard: boolean) =>
    useCases['tenant_users.delete'](callOf(secret, user(name), { hard }, undefined))
  /** The end of an erasure, which removes the row of the user last. */
  const erased = (id: string) => world.records.remove(tenantUsers, projectScope(project), id)
  const listed = async () =>
    (await useCases['tenant_users.list'](callOf(secret, at, { limit: 20 }, undefined))).data.map(
      (row) => row.external_user_id,
    )
  const log = async (principal: Principal = secret, query = {}) => {
    await delivery.delivered()
    return (await useCases['audit_log.list'](callOf(principal, {}, { limit: 100, ...query }, undefined))).data
  }
  return { ...world, tenant: created.id, project, update, remove, put, get, drop, erased, listed, log }
}

/** How the directory answers for a tenant, and for a token of its user ada. */
const answersOf = async (directory: TenantDirectory, project: string, tenant: string) => {
  const admissions = [() => directory.admit(project, tenant), () => directory.admitUser(project, tenant, 'ada')]
  const answers = await Promise.allSettled(admissions.map(async (admission) => admission()))
  return answers.map((answer) => (answer.status === 'fulfilled' ? 'served' : answer.reason.code))
}

describe('a tenant', () => {
  it('is refused at once while it is suspended, and served again afterwards', async () => {
    const { directory, project, tenant, update } = await open()
    expect(await answersOf(directory, project, tenant)).toEqual(['served', 'served'])
    expect(await update({ status: 'suspended' })).toMatchObject({ status: 'suspended', name: 'Acme' })
    expect(await answersOf(directory, project, tenant)).toEqual(['tenant_suspended', 'tenant_suspended'])
    await update({ status: 'active' })
    expect(await answersOf(directory, project, tenant)).toEqual(['served', 'served'])
  })

  it('refuses the tokens of a deleted user until that user is created again', async () => {
    const { directory, project, tenant, put, drop } = await open()
    await put('ada')
    expect(await answersOf(directory, project, tenant)).toEqual(['served', 'served'])
    await drop('ada', false)
    expect(await answersOf(directory, project, tenant)).toEqual(['served', 'authentication_required'])
    await put('ada')
    expect(await answersOf(directory, project, tenant)).toEqual(['served', 'served'])
  })

  it('that does not exist is not found, and its tokens are refused', async () => {
    const { directory, project, tenant } = await open()
    expect(await answersOf(directory, project, 'ten_unknown')).toEqual(['not_found', 'authentication_required'])
    expect(await answersOf(directory, 'prj_other', tenant)).toEqual(['not_found', 'authentication_required'])
  })

  it('starts its deletion once, and is refused and unchangeable from then on', async () => {
    const { directory, project, tenant, update, remove, delivery, erasures } = await open()
    expect(await remove()).toMatchObject({ id: tenant, status: 'deleting', deleted: true })
    expect(await remove()).toMatchObject({ id: tenant, status: 'deleting' })
    await delivery.delivered()
    expect(erasures.map(({ event }) => event.input)).toMatchObject([
      { tenant_id: tenant, external_id: 'acme', user: null },
    ])
    expect(await answersOf(directory, project, tenant)).toEqual(['tenant_deleting', 'tenant_deleting'])
    await expect(update({ name: 'x' })).rejects.toMatchObject({ code: 'tenant_deleting' })
  })

  it('changes only the fields that a PATCH contains', async () => {
    const { update } = await open()
    expect(await update({ metadata: { plan: 'b' } })).toMatchObject({
      name: 'Acme',
      metadata: { plan: 'b' },
      status: 'active',
    })
    expect(await update({ name: 'New', region: 'eu' })).toMatchObject({
      name: 'New',
      region: 'eu',
      metadata: { plan: 'b' },
    })
    expect(await update({ region: null })).toMatchObject({ name: 'New', region: null })
  })
})

describe('a user of a tenant', () => {
  it('is created by a PUT and changed by the next one, with the same id', async () => {
    const { put, get, listed } = await open()
    const first = await put('ada', { display_name: 'Ada' })
    expect(await put('ada', { email: 'ada@example.org' })).toMatchObject({
      id: first.id,
      display_name: 'Ada',
      email: 'ada@example.org',
    })
    expect(await get('ada')).toMatchObject({ external_user_id: 'ada', display_name: 'Ada' })
    expect(await listed()).toEqual(['ada'])
  })

  it('that is removed is not shown, and can be created again under its id without its earlier data', async () => {
    const { put, get, drop, listed, erasures, delivery } = await open()
    const { id } = await put('ada', { display_name: 'Ada' })
    expect(await drop('ada', false)).toEqual({ id, deleted: true })
    await expect(get('ada')).rejects.toMatchObject({ code: 'not_found' })
    await expect(drop('ada', false)).rejects.toMatchObject({ code: 'not_found' })
    expect(await listed()).toEqual([])
    await delivery.delivered()
    expect(erasures).toEqual([])
    expect(await put('ada')).toMatchObject({ id, display_name: null })
  })

  it('that is erased has its tokens refused until it is created again, even if it was removed before', async () => {
    const { put, drop, erased, directory, project, tenant, erasures, delivery } = await open()
    const { id } = await put('ada', { display_name: 'Ada' })
    await drop('ada', false)
    await drop('ada', true)
    await delivery.delivered()
    expect(erasures.map(({ event }) => event.input)).toMatchObject([{ tenant_id: tenant, user: 'ada' }])
    expect(await answersOf(directory, project, tenant)).toEqual(['served', 'authentication_required'])
    await erased(id)
    await put('ada')
    expect(await answersOf(directory, project, tenant)).toEqual(['served', 'served'])
  })

  it('is not created again while it is erased, as what it gets would be erased too', async () => {
    const { put, get, drop, erased, directory, project, tenant } = await open()
    const { id } = await put('ada')
    await drop('ada', true)
    await expect(put('ada')).rejects.toMatchObject({ code: 'invalid_transition' })
    await expect(get('ada')).rejects.toMatchObject({ code: 'not_found' })
    expect(await answersOf(directory, project, tenant)).toEqual(['served', 'authentication_required'])
    await erased(id)
    expect(await put('ada')).toMatchObject({ external_user_id: 'ada' })
  })

  it('remains to requests in progress until it, or its tenant, is being deleted', async () => {
    const { put, drop, erased, directory, project, tenant, update, remove } = await open()
    const remains = (user: string | null) =>
      directory.remains(project, tenant, user).then(
        () => 'remains',
        ({ code }) => code,
      )
    const { id } = await put('ada')
    await drop('ada', false)
    await update({ status: 'suspended' })
    expect([await remains('ada'), await remains('bob'), await remains(null)]).toEqual(['remains', 'remains', 'remains'])
    await drop('ada', true)
    expect([await remains('ada'), await remains('bob')]).toEqual(['not_found', 'remains'])
    await erased(id)
    await remove()
    expect([await remains('ada'), await remains(null)]).toEqual(['tenant_deleting', 'tenant_deleting'])
  })

  it('that was never created is erased if it owns something, and is not found otherwise', async () => {
    const { drop, listed, records, project, tenant, erasures, delivery } = await open()
    await expect(drop('ada', true)).rejects.toMatchObject({ code: 'not_found' })
    await records.insert(sessionRows, recordOf('ses_1', { project, tenant, user: 'ada', data: {} }))
    await expect(drop('ada', false)).rejects.toMatchObject({ code: 'not_found' })
    expect(await drop('ada', true)).toMatchObject({ deleted: true })
    await delivery.delivered()
    expect(erasures.map(({ event }) => event.input)).toMatchObject([{ tenant_id: tenant, user: 'ada' }])
    expect(await listed()).toEqual([])
  })

  it('is erased once by concurrent requests, and again if it was created again', async () => {
    const { put, drop, erased, erasures, delivery, log } = await open()
    const { id } = await put('ada', { display_name: 'Ada' })
    const forgotten = async () => (await log()).filter(({ action }) => action === 'tenant_user.forgotten').length
    const answers = await Promise.all(Array.from({ length: 20 }, () => drop('ada', true)))
    expect(answers).toEqual(answers.map(() => ({ id, deleted: true })))
    await delivery.delivered()
    expect([erasures.length, await forgotten()]).toEqual([1, 1])
    await erased(id)
    expect(await put('ada')).toMatchObject({ display_name: null })
    await drop('ada', true)
    await delivery.delivered()
    expect([erasures.length, await forgotten()]).toEqual([2, 2])
  })

  it('keeps fields that an update does not contain, and the audit log has the update once', async () => {
    const { put, get, useCases, secret, tenant, log } = await open()
    await put('ada', { display_name: 'Ada', email: 'ada@example.org' })
    const address = { tenant_id: tenant, external_user_id: 'ada' }
    const rename = () => useCases['tenant_users.update'](callOf(secret, address, {}, { display_name: 'Ada L.' }))
    expect(await rename()).toMatchObject({ display_name: 'Ada L.', email: 'ada@example.org' })
    await rename()
    expect(await get('ada')).toMatchObject({ display_name: 'Ada L.', email: 'ada@example.org' })
    const changes = (await log()).filter(({ action }) => action === 'tenant_user.updated')
    expect(changes.map((line) => line.changes)).toEqual([['display_name']])
  })

  it('belongs to its tenant only, and cannot be created in an unknown tenant', async () => {
    const { put, useCases, secret } = await open()
    await put('ada')
    const other = await useCases['tenants.create'](
      callOf(secret, {}, {}, { external_id: 'b', name: 'B', metadata: {} }),
    )
    const address = { tenant_id: other.id, external_user_id: 'ada' }
    await expect(useCases['tenant_users.get'](callOf(secret, address, {}, undefined))).rejects.toMatchObject({
      code: 'not_found',
    })
    const nowhere = { tenant_id: 'ten_unknown', external_user_id: 'ada' }
    await expect(useCases['tenant_users.put'](callOf(secret, nowhere, {}, { metadata: {} }))).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('the audit log', () => {
  it('has a line for each change, with the names of fields and never their values', async () => {
    const { update, put, drop, remove, log, tenant } = await open()
    await update({ name: 'Secret Name', metadata: { a: 'secret value' } })
    await update({ status: 'suspended' })
    await update({ status: 'active' })
    await update({ status: 'active' })
    await put('secret-user', { display_name: 'secret display' })
    await drop('secret-user', true)
    await remove()
    const lines = await log()
    const actions = lines.map(({ action }) => action)
    expect(actions.filter((action) => action.startsWith('tenant.')).toSorted()).toEqual([
      'tenant.created',
      'tenant.deletion_started',
      'tenant.resumed',
      'tenant.suspended',
      'tenant.updated',
    ])
    expect(actions.filter((action) => action.startsWith('tenant_user.')).toSorted()).toEqual([
      'tenant_user.created',
      'tenant_user.forgotten',
    ])
    expect(lines.find(({ action }) => action === 'tenant.updated')).toMatchObject({
      actor: { kind: 'secret_key', id: 'key_1', ip: '10.0.0.1' },
      resource: { type: 'tenant', id: tenant },
      tenant_id: tenant,
      changes: ['name', 'metadata'],
    })
    expect(JSON.stringify(lines).toLowerCase()).not.toContain('secret-user')
    expect(JSON.stringify(lines).toLowerCase()).not.toContain('secret value')
  })

  it('has a line for an export, which does not change the tenant', async () => {
    const { useCases, secret, tenant, clock, log } = await open()
    const at = { tenant_id: tenant }
    const read = () => useCases['tenants.get'](callOf(secret, at, {}, undefined))
    const before = await read()
    clock.now += 60_000
    await useCases['tenants.export'](callOf(secret, at, { include_secrets: false }, undefined))
    expect(await read()).toEqual(before)
    const line = (await log()).find(({ action }) => action === 'tenant.exported')
    expect(Date.parse(line?.created_at ?? '')).toBe(clock.now)
  })

  it('can be filtered by tenant, action and actor', async () => {
    const { update, log, tenant, useCases, secret, clock } = await open()
    // lines of the same millisecond have no order
    clock.now += 1
    await update({ name: 'B' })
    await useCases['end_users.create'](callOf(secret, {}, {}, { external_id: 'e', metadata: {} }))
    expect((await log(secret, { tenant_id: tenant })).map(({ action }) => action)).toEqual([
      'tenant.updated',
      'tenant.created',
    ])
    expect(await log(secret, { action: 'end_user.created' })).toHaveLength(1)
    expect(await log(secret, { actor_id: 'key_2' })).toEqual([])
    expect(await log({ kind: 'secret_key', project: 'prj_other', keyId: 'key_1' })).toEqual([])
  })

  it('has the changes of keys and members by dashboard members, in their project', async () => {
    const { useCases, dashboard, log, project } = await open()
    const at = { project_id: project }
    const key = await useCases['project_keys.create'](callOf(dashboard, at, {}, { name: 'k' }))
    await useCases['project_keys.rotate'](callOf(dashboard, { ...at, key_id: key.id }, {}, { grace_s: 1 }))
    await useCases['project_keys.delete'](callOf(dashboard, { ...at, key_id: key.id }, {}, undefined))
    const person = { email: 'bob@example.org', password: 'twelve letters', role: 'owner' as const }
    const member = await useCases['project_members.create'](callOf(dashboard, at, {}, person))
    await useCases['project_members.delete'](callOf(dashboard, { ...at, member_id: member.id }, {}, undefined))
    const lines = (await log()).filter(({ actor }) => actor.kind === 'dashboard')
    expect(
      lines
        .map(({ action, resource }) => `${action} ${resource.id === key.id || resource.id === member.id}`)
        .toSorted(),
    ).toEqual([
      'member.created true',
      'member.deleted true',
      'project_key.created false',
      'project_key.created true',
      'project_key.revoked true',
      'project_key.rotated true',
    ])
    expect(new Set(lines.map(({ actor }) => actor.id))).toEqual(new Set([dashboard.memberId]))
    expect(JSON.stringify(lines)).not.toContain('bob@example.org')
  })
})

describe('an end user', () => {
  it('is created once per external id, and changed by a repetition', async () => {
    const { useCases, secret } = await open()
    const create = (body: object) =>
      useCases['end_users.create'](callOf(secret, {}, {}, { external_id: 'e', metadata: {}, ...body }))
    const first = await create({ display_name: 'E' })
    expect(await create({ email: 'e@example.org' })).toMatchObject({
      id: first.id,
      display_name: 'E',
      email: 'e@example.org',
    })
    const { data } = await useCases['end_users.list'](callOf(secret, {}, { limit: 20, external_id: 'e' }, undefined))
    expect(data).toHaveLength(1)
  })
})
