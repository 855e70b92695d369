import { ServiceError } from '#specs/errors/errors.ts'
import { type Scope, scopeAmong } from '#specs/scope.ts'
import type { Principal } from './call.ts'

/** What the keys of an agent reach beside its sessions and runs. */
export interface AgentReach {
  /** The models of the agent's own config. */
  readonly models: ReadonlySet<string>
  /** Ids of the remote tool servers in the agent's own config. */
  readonly toolServers: ReadonlySet<string>
  /** Whether a tenant has an active installation of the agent. At most a second old. @throws {StoreUnavailable} */
  serves(tenant: string): boolean | Promise<boolean>
  /** The tenants that have one. @throws {StoreUnavailable} */
  tenants(): Promise<readonly string[]>
}

/** The models that a credential may name; null for any. */
export const modelsOf = (principal: Principal): ReadonlySet<string> | null =>
  principal.kind === 'agent_key' ? principal.reach.models : null

/**
 * Whether a credential reaches what belongs to a tenant (null: to the project itself). The scope has been checked already.
 *
 * @throws {StoreUnavailable}
 */
export const reachesTenant = (principal: Principal, tenant: string | null): boolean | Promise<boolean> => {
  if (principal.kind !== 'agent_key' || tenant === null) return true
  return principal.keyType === 'secret' && principal.reach.serves(tenant)
}

/** @throws {ServiceError} `not_found` when the credential does not reach the tenant of what `param` names. */
export const requireReach = async (principal: Principal, tenant: string | null, param: string): Promise<void> => {
  if (!(await reachesTenant(principal, tenant))) throw new ServiceError('not_found', { param })
}

/** Returns the scope for a list over several tenants: only those that the credential reaches. @throws {StoreUnavailable} */
export const listedScope = async (principal: Principal, scope: Scope): Promise<Scope> => {
  if (principal.kind !== 'agent_key' || scope.tenant !== null) return scope
  return scopeAmong(scope, { tenants: await principal.reach.tenants(), untenanted: true })
}
