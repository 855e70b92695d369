import { describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { callerOf } from '#gateway/call/caller.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { attributionOf } from '#transport/api/attribution.ts'
import { scopeOf } from '#transport/api/credentials/authorise.ts'
import { principals } from './serving.ts'

const asked: string[] = []
const tenants = {
  admit: (project: string, tenant: string, param?: string): void | Promise<void> => {
    asked.push(`${project}/${tenant}`)
    if (tenant === 'ten_gone') throw new ServiceError('not_found', param === undefined ? {} : { param })
    if (tenant === 'ten_slow') return Promise.resolve()
  },
}
const attributed = { attributed: true }
const request = (headers: Readonly<Record<string, string>>) => ({ header: (name: string) => headers[name] })
const both = request({ 'x-tenant-id': 'ten_1', 'x-external-user-id': 'ada' })

describe('whom a key says that it calls for', () => {
  it.each([principals.secret_key, principals.agent_key])('is believed of a secret $kind', (principal) => {
    expect(attributionOf(tenants, attributed, principal, both)).toEqual({ tenant: 'ten_1', externalUserId: 'ada' })
  })

  it.each<Principal>([
    { ...principals.agent_key, keyType: 'public' },
    principals.client_token,
    principals.dashboard,
    principals.public,
  ])('is believed of no other credential: $kind', (principal) => {
    asked.length = 0
    expect(attributionOf(tenants, attributed, principal, both)).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('counts in operations that say so alone', () => {
    expect(attributionOf(tenants, { attributed: false }, principals.secret_key, both)).toBeUndefined()
  })

  it('is waited for when the tenant has to be looked up, and refused when it may not be served', async () => {
    const slow = attributionOf(tenants, attributed, principals.secret_key, request({ 'x-tenant-id': 'ten_slow' }))
    await expect(slow).resolves.toEqual({ tenant: 'ten_slow', externalUserId: null })
    const gone = () => attributionOf(tenants, attributed, principals.secret_key, request({ 'x-tenant-id': 'ten_gone' }))
    expect(gone).toThrow(expect.objectContaining({ code: 'not_found', details: { param: 'X-Tenant-Id' } }))
  })

  it.each([
    ['X-Tenant-Id', { 'x-tenant-id': 'x'.repeat(129) }],
    ['X-External-User-Id', { 'x-external-user-id': 'x'.repeat(257) }],
  ])('is refused when %s is too long', (param, headers) => {
    const long = () => attributionOf(tenants, attributed, principals.secret_key, request(headers))
    expect(long).toThrow(
      expect.objectContaining({ code: 'invalid_header', details: expect.objectContaining({ param }) }),
    )
  })
})

describe('the caller of a gateway request', () => {
  it('is charged to the tenant that was named, within the scope of its key', () => {
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
