import { describe, expect, it } from 'vitest'
import { identityOf } from '#actors/accounts/oidc/oidc-identity.ts'

const rules = {
  allowed_domains: ['example.org'],
  role_claim: 'realm.roles',
  roles: { staff: 'member', ops: 'admin', root: 'owner' },
  default_role: null,
} as const

const roleOf = (claims: object, more: object = {}) => identityOf({ sub: '1', ...claims }, { ...rules, ...more }).role
const emailOf = (claims: object) => identityOf({ sub: '1', ...claims }, rules).email

describe('the role of a person at a provider', () => {
  it('is the strongest one that a claim gives, at its name or at a path', () => {
    expect(roleOf({ realm: { roles: ['staff', 'ops', 'other'] } })).toBe('admin')
    expect(roleOf({ 'realm.roles': 'root', realm: { roles: ['staff'] } })).toBe('owner')
  })

  it('is the default one, or none, without a matching value', () => {
    expect([roleOf({}), roleOf({}, { default_role: 'member' })]).toEqual([null, 'member'])
  })

  it.each([
    { realm: { roles: ['constructor', '__proto__', 'toString'] } },
    { realm: { roles: [['ops'], { ops: true }, 7, null] } },
    { realm: { roles: 'ops staff' } },
    { realm: 'ops' },
    { realm: null },
  ])('does not follow from %j', (claims) => {
    expect(roleOf(claims)).toBeNull()
  })

  it('follows from no inherited field', () => {
    expect(roleOf({ sub: '1' }, { role_claim: 'constructor.name', roles: { Object: 'owner' } })).toBeNull()
  })
})

describe('the address of a person at a provider', () => {
  it('counts if it is verified and of an allowed domain, in lower case', () => {
    expect(emailOf({ email: 'Ada@Example.ORG', email_verified: true })).toBe('ada@example.org')
    expect(emailOf({ email: 'ada@example.org', email_verified: 'true' })).toBe('ada@example.org')
  })

  it.each([
    { email: 'ada@example.org' },
    { email: 'ada@example.org', email_verified: false },
    { email: 'ada@example.org', email_verified: 1 },
    { email: 'ada@evil.example', email_verified: true },
    { email: 'ada@example.org.evil.example', email_verified: true },
    { email: 'eve@evil.example@example.org', email_verified: true },
    { email: 'ada@sub.example.org', email_verified: true },
    { email: '@example.org', email_verified: true },
    { email: 'a da@example.org', email_verified: true },
    { email: 'adа@example.org', email_verified: true },
    { email: ['ada@example.org'], email_verified: true },
    { email: `${'a'.repeat(400)}@example.org`, email_verified: true },
  ])('does not count from %j', (claims) => {
    expect(emailOf(claims)).toBeNull()
  })
})
