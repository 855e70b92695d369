import type { Attribution, Principal } from '#actors/call/call.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { HttpRequest } from '../http/http-port.ts'
import type { Tenants } from './credentials/named-tenant.ts'

const tenantHeader = 'X-Tenant-Id'
const userHeader = 'X-External-User-Id'
const maxTenantLength = 128
const maxUserLength = 256

/**
 * For whom a key says that it calls; undefined when it says nothing. A token of a browser is its user's, whatever it says,
 * and so is nobody's word taken who has no secret.
 *
 * @throws {ServiceError} (or rejects with) `not_found` for an unknown tenant, `tenant_suspended`, `tenant_deleting`, `invalid_header`
 */
export const attributionOf = (
  tenants: Pick<Tenants, 'admit'>,
  { attributed }: Pick<Operation, 'attributed'>,
  principal: Principal,
  request: Pick<HttpRequest, 'header'>,
): undefined | Attribution | Promise<Attribution> => {
  if (!attributed || !isTrusted(principal)) return undefined
  const tenant = named(request, tenantHeader, maxTenantLength)
  const externalUserId = named(request, userHeader, maxUserLength)
  if (tenant === null) return externalUserId === null ? undefined : { tenant, externalUserId }
  const admitted = tenants.admit(principal.project, tenant, tenantHeader)
  const attribution = { tenant, externalUserId }
  return admitted === undefined ? attribution : admitted.then(() => attribution)
}

const isTrusted = (principal: Principal): principal is Principal & { readonly project: string } =>
  principal.kind === 'secret_key' || (principal.kind === 'agent_key' && principal.keyType === 'secret')

const named = (request: Pick<HttpRequest, 'header'>, header: string, maxLength: number): string | null => {
  const value = request.header(header.toLowerCase())
  if (value === undefined || value === '') return null
  if (value.length > maxLength) {
    throw new ServiceError('invalid_header', { param: header, message: `${header} is too long.` })
  }
  return value
}
