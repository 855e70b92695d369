import { ServiceError } from '#specs/errors/errors.ts'
import type { Principal } from './call.ts'

/** The principal of a signed-in member. */
export type DashboardPrincipal = Extract<Principal, { kind: 'dashboard' }>

/**
 * Returns the calling member. @throws {ServiceError} `forbidden` for other credentials, which the operation's declared
 * access already excludes.
 */
export const memberOf = (principal: Principal): DashboardPrincipal => {
  if (principal.kind !== 'dashboard') throw new ServiceError('forbidden')
  return principal
}
