import type { Call, Principal } from '#actors/call/call.ts'
import type { TenantDirectory } from '#actors/tenants/tenant-directory.ts'
import type { About } from '#records/idempotent.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { textIn } from '../schema.ts'

/** Whether a tenant may be served. */
export type Tenants = Pick<TenantDirectory, 'admit' | 'admitUser' | 'check' | 'remains'>

/**
 * Operations that read, end or remove something, although their method is neither GET nor DELETE, and those by which an operator
 * settles what a tenant that is suspended or being deleted has left: its stuck work and its limits.
 */
const reading = /^(?:tenants|stuck|limits)\.|^memory\.(export|forget)$|\.(cancel|reject)$/

/**
 * Whether an operation starts or continues work, which is refused for a tenant that is suspended or being deleted.
 * Reading, ending or removing something, and operations on the tenant itself are not work.
 */
export const isWork = ({ id, method }: Pick<Operation, 'id' | 'method'>): boolean =>
  method !== 'GET' && method !== 'DELETE' && !reading.test(id)

/**
 * Checks the tenant in a request's path or body, if there is one. Tenants of objects named by another id are checked
 * where the object is found (`Host.find`); the tenant of a token is checked with the token.
 *
 * @throws {ServiceError} `not_found` for an unknown tenant, `tenant_suspended`, `tenant_deleting`
 */
export const admitNamed = (
  tenants: Tenants,
  operation: Operation,
  { principal, about: { tenant } }: { readonly principal: Principal; readonly about: About },
): void | Promise<void> => {
  if (tenant === null || principal.kind === 'public' || principal.kind === 'client_token') return
  if (isWork(operation)) return tenants.admit(principal.project, tenant)
}

/** The tenant and the user that a request names. */
export const aboutOf = (params: unknown, body: unknown): About => {
  const tenant = textIn(body, 'tenant_id') ?? textIn(params, 'tenant_id')
  const user = textIn(body, 'external_user_id') ?? textIn(params, 'external_user_id')
  return { tenant, user: tenant === null ? null : user }
}

/** Tenant and user that a stored answer belongs to, and is erased with, whether the body or a header names them. */
export const aboutOfCall = ({ attribution, params, body }: Call<unknown, unknown, unknown>): About =>
  attribution === undefined || attribution.tenant === null
    ? aboutOf(params, body)
    : { tenant: attribution.tenant, user: attribution.externalUserId }
