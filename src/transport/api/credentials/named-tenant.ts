import type { Principal } from '#actors/call/call.ts'
import type { TenantDirectory } from '#actors/tenants/tenant-directory.ts'
import type { About } from '#records/idempotent.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { textIn } from '../schema.ts'

/** Whether a tenant may be served. */
export type Tenants = Pick<TenantDirectory, 'admit' | 'admitUser' | 'check'>

/**
 * Whether an operation begins something or lets it go on, which is refused for a tenant that is suspended or being
 * deleted. Reading is not, nor what ends something, nor what is done with the tenant itself.
 */
export const isWork = ({ id, method }: Pick<Operation, 'id' | 'method'>): boolean =>
  method !== 'GET' && method !== 'DELETE' && !/^tenants\.|\.(cancel|reject)$/.test(id)

/**
 * Lets a request pass whose path or body names no tenant, or one that may be served. Tenants of what it names by another
 * id are checked where that is found (`Host.find`); the tenant of a token, with the token.
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
