import { ServiceError } from '#specs/errors/errors.ts'
import type { Principal } from '../call/call.ts'

/** A signed-in member. */
export type DashboardPrincipal = Extract<Principal, { kind: 'dashboard' }>

/** The member who calls. @throws {ServiceError} `forbidden` for other credentials, which the declared access keeps out. */
export const memberOf = (principal: Principal): DashboardPrincipal => {
  if (principal.kind !== 'dashboard') throw new ServiceError('forbidden')
  return principal
}
