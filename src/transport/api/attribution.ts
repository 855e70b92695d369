import type { Attribution, Principal } from '#actors/call/call.ts'
import type { About } from '#records/idempotent.ts'
import { namesTenants, type Operation } from '#specs/dsl/declare.ts'
import { idTextRule, isIdText } from '#specs/dsl/id-text.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '../http/http-port.ts'
import { aboutOf, isWork, type Tenants } from './credentials/named-tenant.ts'

const tenantHeader = 'X-Tenant-Id'
const userHeader = 'X-External-User-Id'
const maxTenantLength = 128
const maxUserLength = 256
/**
 * Non-ASCII bytes in headers have no encoding that clients and servers agree on
 * (specs/decisions/0010-interface-as-code.md).
 */
const ascii = /^[\x20-\x7e]+$/

/**
 * The tenant and user in whose name a key or a member calls, from headers; undefined without those headers. Headers of
 * a client token are ignored, since it belongs to a user, and a key that browsers see cannot name a tenant. `about`
 * holds the ids in path and body, which headers must match.
 *
 * @throws {ServiceError} (or rejects with) `not_found` for an unknown tenant, `tenant_suspended`, `tenant_deleting`,
 * `invalid_header`
 */
export const attributionOf = (
  tenants: Pick<Tenants, 'admit' | 'check'>,
  operation: Operation,
  { principal, request, about, query }: Naming,
): undefined | Attribution | Promise<Attribution> => {
  if (!isTrusted(principal) || !namesTenants(operation)) return undefined
  const tenant = named(request, tenantHeader, maxTenantLength)
  const externalUserId = named(request, userHeader, maxUserLength)
  if (tenant === null && externalUserId === null) return undefined
  for (const names of [about, aboutOf(query, undefined)]) {
    refuseOther(tenantHeader, tenant, names.tenant)
    refuseOther(userHeader, externalUserId, names.user)
  }
  if (tenant === null) return { tenant, externalUserId }
  const admitted = isWork(operation)
    ? tenants.admit(principal.project, tenant, tenantHeader)
    : tenants.check(principal.project, tenant, tenantHeader)
  const attribution = { tenant, externalUserId }
  return admitted === undefined ? attribution : admitted.then(() => attribution)
}

/** A request, its credential, and the tenant and user in its path, body and query. */
export interface Naming {
  readonly principal: Principal
  readonly request: Pick<HttpRequest, 'header'>
  readonly about: About
  /** The query's filters. */
  readonly query: unknown
}

const refuseOther = (param: string, given: string | null, named: string | null): void => {
  if (given === null || named === null || given === named) return
  throw new ServiceError('invalid_header', {
    param,
    message: `${param} differs from the value elsewhere in the request.`,
  })
}

const isTrusted = (principal: Principal): principal is Principal & { readonly project: string } =>
  principal.kind === 'secret_key' ||
  principal.kind === 'dashboard' ||
  (principal.kind === 'agent_key' && principal.keyType === 'secret')

const named = (request: Pick<HttpRequest, 'header'>, header: string, maxLength: number): string | null => {
  const value = request.header(header.toLowerCase())
  if (value === undefined) return null
  if (value.length > maxLength) {
    throw new ServiceError('invalid_header', { param: header, message: `${header} is too long.` })
  }
  // the native server's parser turns a value of only non-ASCII bytes into '': the call would get the scope of the whole
  // project
  if (!ascii.test(value))
    throw new ServiceError('invalid_header', {
      param: header,
      message: `${header} must consist of one or more ASCII characters.`,
    })
  if (!isIdText(value)) throw new ServiceError('invalid_header', { param: header, message: `${header} ${idTextRule}.` })
  return value
}
