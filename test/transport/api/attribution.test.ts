import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { About } from '#records/idempotent.ts'
import { secretKeyOnly } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperation, type OperationSpec } from '#specs/dsl/declare.ts'
import { object } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { attributionOf } from '#transport/api/attribution.ts'
import { scopeFor, scopeOf } from '#transport/api/credentials/authorise.ts'
import { principals } from './serving.ts'

const requested: string[] = []
const tenants = {
  admit: (project: string, tenant: string, param?: string): void | Promise<void> => {
    requested.push(`${project}/${tenant}`)
    if (tenant === 'ten_gone') throw new ServiceError('not_found', param === undefined ? {} : { param })
    if (tenant === 'ten_suspended') throw new ServiceError('tenant_suspended')
    if (tenant === 'ten_slow') return Promise.resolve()
  },
  check: (_project: string, tenant: string, param: string): void => {
    if (tenant === 'ten_gone') throw new ServiceError('not_found', { param })
  },
}
const declared = (method: 'GET' | 'POST', path: string, more: Partial<OperationSpec> = {}) =>
  defineOperation('x.y', {
    summary: 'Do it',
    method,
    path,
    access: secretKeyOnly,
    answer: isJsonResponse(object({})),
    ...more,
  })
const attributed = declared('POST', '/api/x', { attributed: true })
const nothing: About = { tenant: null, user: null }
const naming = (
  principal: Principal,
  sent: ReturnType<typeof request>,
  about: About = nothing,
  query: unknown = {},
) => ({
  principal,
  request: sent,
  about,
  query,
})
const request = (headers: Readonly<Record<string, string>>) => ({ header: (name: string) => headers[name] })
const both = request({ 'x-tenant-id': 'ten_1', 'x-external-user-id': 'ada' })

describe('the attribution headers of a request', () => {
  it.each([principals.secret_key, principals.agent_key, principals.dashboard])(
    'are accepted from a $kind of the project',
    (principal) => {
      expect(attributionOf(tenants, attributed, naming(principal, both))).toEqual({
        tenant: 'ten_1',
        externalUserId: 'ada',
      })
    },
  )

  it.each<Principal>([{ ...principals.agent_key, keyType: 'public' }, principals.client_token, principals.public])(
    'are ignored for any other credential: $kind',
    (principal) => {
      requested.length = 0
      expect(attributionOf(tenants, attributed, naming(principal, both))).toBeUndefined()
      expect(requested).toEqual([])
    },
  )

  it('are ignored by an operation without attribution', () => {
    expect(attributionOf(tenants, declared('POST', '/api/x'), naming(principals.secret_key, both))).toBeUndefined()
  })

  it('wait for a lookup of the tenant, and are refused if the tenant does not exist', async () => {
    const slow = attributionOf(
      tenants,
      attributed,
      naming(principals.secret_key, request({ 'x-tenant-id': 'ten_slow' })),
    )
    await expect(slow).resolves.toEqual({ tenant: 'ten_slow', externalUserId: null })
    const gone = () =>
      attributionOf(tenants, attributed, naming(principals.secret_key, request({ 'x-tenant-id': 'ten_gone' })))
    expect(gone).toThrow(expect.objectContaining({ code: 'not_found', details: { param: 'X-Tenant-Id' } }))
  })

  it.each([
    ['X-Tenant-Id', { 'x-tenant-id': 'x'.repeat(129) }],
    ['X-External-User-Id', { 'x-external-user-id': 'x'.repeat(257) }],
  ])('are refused if %s is too long', (param, headers) => {
    const long = () => attributionOf(tenants, attributed, naming(principals.secret_key, request(headers)))
    expect(long).toThrow(
      expect.objectContaining({ code: 'invalid_header', details: expect.objectContaining({ param }) }),
    )
  })
})

describe('a header that names a tenant or a user', () => {
  it.each(['..', '', 'jos\u00e9', 'k\u00c3\u00a9z', '\ufffd', '\u5c0f\u6797'])(
    'is refused with the value %j, which servers or URLs read differently',
    (value) => {
      for (const name of ['X-Tenant-Id', 'X-External-User-Id'])
        expect(() =>
          attributionOf(tenants, attributed, naming(principals.secret_key, request({ [name.toLowerCase()]: value }))),
        ).toThrow(
          expect.objectContaining({ code: 'invalid_header', details: expect.objectContaining({ param: name }) }),
        )
    },
  )
})

describe('the tenant that a secret key names on a /v1 route', () => {
  const route = (method: 'GET' | 'POST') => declared(method, '/v1/x')
  const named = (method: 'GET' | 'POST', tenant: string, about = nothing, query: unknown = {}) =>
    attributionOf(
      tenants,
      route(method),
      naming(principals.secret_key, request({ 'x-tenant-id': tenant }), about, query),
    )

  it.each(['GET', 'POST'] as const)('is refused by %s if the project does not have it', (method) => {
    expect(() => named(method, 'ten_gone')).toThrow(
      expect.objectContaining({ code: 'not_found', details: expect.objectContaining({ param: 'X-Tenant-Id' }) }),
    )
  })

  it('is refused by POST and accepted by GET while it is suspended', () => {
    expect(() => named('POST', 'ten_suspended')).toThrow(expect.objectContaining({ code: 'tenant_suspended' }))
    expect(named('GET', 'ten_suspended')).toEqual({ tenant: 'ten_suspended', externalUserId: null })
  })

  it('is refused if the body or the query names another tenant', () => {
    const other: About = { ...nothing, tenant: 'ten_2' }
    const refused = expect.objectContaining({ code: 'invalid_header' })
    expect(() => named('POST', 'ten_1', other)).toThrow(refused)
    expect(() => named('GET', 'ten_1', nothing, { tenant_id: 'ten_2' })).toThrow(refused)
    expect(named('POST', 'ten_2', other)).toEqual({ tenant: 'ten_2', externalUserId: null })
  })

  it('narrows the scope of resources that belong to tenants, and of no others', () => {
    const attribution = { tenant: 'ten_1', externalUserId: 'ada' }
    const of = (ofTenants?: 'tenant' | 'user') => {
      const operation = declared('GET', '/v1/x', ofTenants === undefined ? {} : { ofTenants })
      const { tenant, user } = scopeFor(operation, principals.secret_key, attribution)
      return [tenant, user]
    }
    expect(of()).toEqual([null, null])
    expect(of('tenant')).toEqual(['ten_1', null])
    expect(of('user')).toEqual(['ten_1', 'ada'])
  })
})

describe('the caller of a gateway request', () => {
  it('is charged to the named tenant, within the scope of its key', () => {
    const principal = principals.secret_key
    const attribution = { tenant: 'ten_1', externalUserId: 'ada' }
    const caller = callerOf({ principal, scope: scopeOf(principal), requestId: 'r', attribution })
    expect(caller).toMatchObject({ tenant: 'ten_1', externalUserId: 'ada', keyId: 'key_1', project: 'prj_1' })
    expect(caller.scope.tenant).toBeNull()
  })

  it('is the user of its token', () => {
    const principal = principals.client_token
    const caller = callerOf({ principal, scope: scopeOf(principal), requestId: 'r' })
    expect(caller).toMatchObject({ tenant: 'ten_1', externalUserId: 'ada', keyId: null })
  })
})
