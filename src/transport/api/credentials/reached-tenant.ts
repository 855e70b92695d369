import type { Principal } from '#actors/call/call.ts'
import { limitsOf, reachesTenant } from '#actors/call/reach.ts'
import type { About } from '#records/idempotent.ts'
import { isObject } from '#runtime/index.ts'
import { namesTenants, type Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { usesMemory } from '#specs/memory-field.ts'
import { tenancyOf } from '#specs/reach/key-scopes.ts'
import { narrowedScope, type Scope, scopeAmong } from '#storage/index.ts'
import type { HttpRequest } from '#transport/http/http-port.ts'
import { textIn } from '../schema.ts'
import { admitNamed, type Tenants } from './named-tenant.ts'

/** A request whose tenants and users are checked. */
export interface NamingRequest {
  readonly principal: Principal
  readonly request: Pick<HttpRequest, 'header'>
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/**
 * Checks the tenants and users that a request names against those that its credential reaches (`reach` in
 * specs/reach/subjects.ts). Tenants of objects named by their own id are checked where the object is found.
 *
 * @throws {ServiceError} (or rejects with) `not_found` for a tenant, `secret_key_required` for a user, `insufficient_scope`
 * for a tenant that the key's scopes exclude; with the place in `param`
 */
export const checkReach = (operation: Operation, request: NamingRequest): void | Promise<void> => {
  const { principal } = request
  const limit = limitsOf(principal)?.tenants ?? null
  const isAgents = principal.kind === 'agent_key' && principal.keyType === 'secret'
  if (limit === null && !isAgents) return
  const named = tenantsNamed(operation, request)
  if (limit !== null) checkLimit(operation, limit, named)
  if (!isAgents) return
  checkUser(operation, request, named.length > 0 || limit?.size === 1)
  return checkTenants(principal, named)
}

interface NamedTenant {
  readonly param: string
  readonly tenant: string
}

const tenantsNamed = (operation: Operation, request: NamingRequest): readonly NamedTenant[] =>
  [
    ['X-Tenant-Id', headerOf(operation, request, 'x-tenant-id')] as const,
    ...[request.params, request.body, request.query].map((part) => ['tenant_id', textIn(part, 'tenant_id')] as const),
  ].flatMap(([param, tenant]) => (tenant === null ? [] : [{ param, tenant }]))

/** @throws {ServiceError} `insufficient_scope` for a tenant, or for none where the key has several */
const checkLimit = (operation: Operation, limit: ReadonlySet<string>, named: readonly NamedTenant[]): void => {
  const foreign = named.find(({ tenant }) => !limit.has(tenant))
  if (foreign !== undefined)
    throw new ServiceError('insufficient_scope', {
      param: foreign.param,
      message: 'The scopes of the key do not include this tenant.',
    })
  if (named.length > 0 || limit.size === 1 || tenancyOf(operation) !== 'owned' || listsTenants(operation)) return
  throw new ServiceError('insufficient_scope', {
    param: 'X-Tenant-Id',
    message: 'The key is limited to several tenants: name one of them in X-Tenant-Id.',
  })
}

const listsTenants = ({ id }: Pick<Operation, 'id'>): boolean => id === 'tenants.list'

/** Returns the scope of a call, limited to the tenant that it names or that is the only one of its key. */
export const limitedScope = (operation: Operation, request: NamingRequest, scope: Scope): Scope => {
  const limit = limitsOf(request.principal)?.tenants ?? null
  if (limit === null || tenancyOf(operation) !== 'owned') return scope
  if (listsTenants(operation)) return scopeAmong(scope, { tenants: [...limit], untenanted: false })
  const [tenant = null] = [...tenantsNamed(operation, request).map((named) => named.tenant), ...limit]
  return narrowedScope(scope, { tenant, user: null })
}

/** Checks the tenants and users that a request names: that the credential reaches them, then that they are active. */
export const admitReached = (
  tenants: Tenants,
  operation: Operation,
  naming: NamingRequest & { readonly about: About },
): void | Promise<void> => {
  const admit = (): void | Promise<void> => admitNamed(tenants, operation, naming)
  const reached = checkReach(operation, naming)
  return reached === undefined ? admit() : reached.then(admit)
}

const checkTenants = async (
  principal: Principal,
  named: readonly { readonly param: string; readonly tenant: string }[],
): Promise<void> => {
  for (const { param, tenant } of named)
    if (!(await reachesTenant(principal, tenant))) throw new ServiceError('not_found', { param })
}

/**
 * An agent's key may name a user only together with a tenant: users without one belong to the whole project, and so does
 * their memory.
 */
const checkUser = (operation: Operation, request: NamingRequest, namesTenant: boolean): void => {
  const { body } = request
  const memory = isObject(body) ? body.memory : undefined
  if (operation.attributed && isObject(memory) && String(memory.sessionId).startsWith('ses_'))
    throw new ServiceError('secret_key_required', {
      param: 'memory.sessionId',
      message: "An agent's key reaches the memory of a session only in the turns of that session.",
    })
  if (namesTenant) return
  if (operation.attributed) {
    if (usesMemory(memory)) throw withoutTenant('memory', 'use memory')
    return
  }
  if (!beginsWork(operation) || textIn(body, 'installation_id') !== null) return
  if (textIn(body, 'external_user_id') !== null) throw withoutTenant('external_user_id', 'name a user')
  if (headerOf(operation, request, 'x-external-user-id') !== null)
    throw withoutTenant('X-External-User-Id', 'name a user')
}

/** Whether an operation creates what belongs to a user: the body names one, or an agent works for one. */
const beginsWork = ({ body, method, ofTenants, params }: Operation): boolean =>
  body?.json.properties?.external_user_id !== undefined ||
  (method === 'POST' && ofTenants === 'user' && params.includes('agent_id'))

/** A header that names a tenant or user; null where it has no effect. */
const headerOf = (operation: Operation, { request }: NamingRequest, name: string): string | null =>
  namesTenants(operation) ? (request.header(name) ?? null) : null

const withoutTenant = (param: string, what: string): ServiceError =>
  new ServiceError('secret_key_required', {
    param,
    message: `An agent's key can ${what} only of a tenant that has installed the agent: name it in X-Tenant-Id.`,
  })
