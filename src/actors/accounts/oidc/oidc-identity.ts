import { isObject } from '#actors/runtime/index.ts'
import { roles as allRoles, type Role } from '#specs/access.ts'
import type { OidcConnectionData } from './kinds.ts'

/** Claims of a verified ID token, and of the user information of the same subject. */
export type Claims = Readonly<Record<string, unknown>>

/** A person at a provider. */
export interface OidcIdentity {
  readonly subject: string
  /** In lower case; only if the provider has verified it and its domain is allowed. */
  readonly email: string | null
  readonly name: string | null
  /** Role of a new member; null: the person is refused. */
  readonly role: Role | null
  /** Whether the role follows from a claim, so that it replaces that of the member. */
  readonly isRoleClaimed: boolean
}

type Rules = Pick<OidcConnectionData, 'allowed_domains' | 'role_claim' | 'roles' | 'default_role'>

/** Returns who signed in, by the rules of the connection. */
export const identityOf = (claims: Claims, rules: Rules): OidcIdentity => {
  const { sub, name } = claims
  const byClaim = rules.role_claim === null ? null : strongest(valuesAt(claims, rules.role_claim), rules.roles)
  return {
    subject: String(sub),
    email: emailIn(claims, rules.allowed_domains),
    name: typeof name === 'string' && name !== '' ? name.slice(0, 256).toWellFormed() : null,
    role: byClaim ?? rules.default_role,
    isRoleClaimed: rules.role_claim !== null,
  }
}

const emailIn = ({ email, email_verified }: Claims, domains: readonly string[]): string | null => {
  // some providers send the word
  if (typeof email !== 'string' || (email_verified !== true && email_verified !== 'true')) return null
  const address = email.trim().toLowerCase()
  const parts = address.split('@')
  const isPlain = parts.length === 2 && parts[0] !== '' && address.length <= 320 && /^[!-~]+$/.test(address)
  return isPlain && domains.includes(parts[1] ?? '') ? address : null
}

const strongest = (values: readonly string[], roles: Rules['roles']): Role | null => {
  const found = values.flatMap((value) => (Object.hasOwn(roles, value) ? [roles[value]] : []))
  return allRoles.findLast((role) => found.includes(role)) ?? null
}

/** The texts of a claim: at its name, or at a path with dots. */
const valuesAt = (claims: Claims, name: string): readonly string[] => {
  const value = Object.hasOwn(claims, name) ? claims[name] : name.split('.').reduce(fieldOf, claims)
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter((each) => typeof each === 'string')
}

const fieldOf = (value: unknown, field: string): unknown =>
  isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined
