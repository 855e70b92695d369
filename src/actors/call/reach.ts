import { ServiceError } from '#specs/errors/errors.ts'
import type { KeyScopes } from '#specs/reach/key-scopes.ts'
import { type Scope, scopeAmong } from '#storage/index.ts'
import type { Principal } from './call.ts'

/** What the keys of an agent reach beside its sessions and runs. */
export interface AgentReach {
  /** The models of the agent's own config. */
  readonly models: ReadonlySet<string>
  /** Ids of the remote tool servers in the agent's own config. */
  readonly toolServers: ReadonlySet<string>
  /** Names or ids of the guardrails in the agent's own config. */
  readonly guardrails: readonly string[]
  /** Whether a tenant has an active installation of the agent. At most a second old. @throws {StoreUnavailable} */
  serves(tenant: string): boolean | Promise<boolean>
  /** The tenants that have one. @throws {StoreUnavailable} */
  tenants(): Promise<readonly string[]>
}

/** The `scopes` of a key; null: without limit. */
export interface KeyLimits {
  readonly models: ReadonlySet<string> | null
  readonly tenants: ReadonlySet<string> | null
  readonly operations: ReadonlySet<string> | null
  /** Guardrails of its model calls; absent: none. */
  readonly guardrails?: readonly string[] | undefined
}

/** The field of a principal with the limits of its key; absent: none. */
export interface LimitsField {
  readonly limits?: KeyLimits
}

/** Returns the limits of a key with these scopes, as a field of its principal. */
export const withLimits = (scopes: KeyScopes | null | undefined): LimitsField => {
  if (scopes === null || scopes === undefined) return {}
  const setOf = (list: readonly string[] | undefined) => (list === undefined ? null : new Set(list))
  const { models, tenants, operations, guardrails } = scopes
  return { limits: { models: setOf(models), tenants: setOf(tenants), operations: setOf(operations), guardrails } }
}

/** The limits of a credential; null for none. */
export const limitsOf = (principal: Principal): KeyLimits | null =>
  'limits' in principal ? (principal.limits ?? null) : null

/** Whether a credential is limited to some tenants of its project. */
export const isOfTenants = (principal: Principal): boolean => (limitsOf(principal)?.tenants ?? null) !== null

/** The `models` of a limited key, for work that outlives the request; undefined: any. */
export const modelLimitOf = (principal: Principal): readonly string[] | undefined => {
  const limit = limitsOf(principal)?.models ?? null
  return limit === null ? undefined : [...limit]
}

/** What a limited key demands of a turn or run that it starts; undefined: nothing. */
export const workLimitsOf = (principal: Principal) => ({
  models: modelLimitOf(principal),
  guardrails: limitsOf(principal)?.guardrails,
})

/** The models that a request may name with a credential; null for any. */
export const modelsOf = (principal: Principal): ReadonlySet<string> | null => {
  const limit = limitsOf(principal)?.models ?? null
  if (principal.kind !== 'agent_key') return limit
  const { models } = principal.reach
  return limit === null ? models : new Set([...models].filter((model) => limit.has(model)))
}

/**
 * Checks the models that an agent's config chose against those of the limited key that starts the work.
 *
 * @throws {ServiceError} `insufficient_scope`
 */
export const requireModels = (limit: readonly string[] | undefined, models: readonly string[]): void => {
  const missing = limit === undefined ? undefined : models.find((model) => !limit.includes(model))
  if (missing !== undefined) throw modelMissing(missing, 'model')
}

/** The refusal of a model that is not among the `models` of a key. */
export const modelMissing = (model: string, param: string): ServiceError =>
  new ServiceError('insufficient_scope', {
    param,
    message: `The scopes of the key do not include the model ${JSON.stringify(model.slice(0, 64))}.`,
  })

/**
 * Whether a credential reaches what belongs to a tenant (null: to the project itself). The scope has been checked already.
 *
 * @throws {StoreUnavailable}
 */
export const reachesTenant = (principal: Principal, tenant: string | null): boolean | Promise<boolean> => {
  const limit = limitsOf(principal)?.tenants ?? null
  if (limit !== null && (tenant === null || !limit.has(tenant))) return false
  if (principal.kind !== 'agent_key' || tenant === null) return true
  return principal.keyType === 'secret' && principal.reach.serves(tenant)
}

/** @throws {ServiceError} `not_found` when the credential does not reach the tenant of what `param` names. */
export const requireReach = async (principal: Principal, tenant: string | null, param: string): Promise<void> => {
  if (!(await reachesTenant(principal, tenant))) throw new ServiceError('not_found', { param })
}

/** Tenant and installation of a session or run; null for none. */
export interface StreamPlace {
  readonly tenant: string | null
  readonly installation: string | null
}

/**
 * Checks that the credential of an open stream still reaches its tenant and installation.
 *
 * @throws {ServiceError} `forbidden`, since the reader knows the resource
 */
export const requireStillReached = async (
  principal: Principal,
  { tenant, installation }: StreamPlace,
): Promise<void> => {
  if (!reachesInstallation(principal, installation))
    throw new ServiceError('forbidden', { message: 'The credential no longer reaches the installation.' })
  if (tenant === null || (await reachesTenant(principal, tenant))) return
  throw new ServiceError('forbidden', { message: 'The credential no longer reaches the tenant.' })
}

/** Whether a credential reaches what belongs to an installation: a token for installations reaches nothing else. */
export const reachesInstallation = (principal: Principal, installation: string | null): boolean =>
  principal.kind !== 'client_token' ||
  principal.installationIds.length === 0 ||
  (installation !== null && principal.installationIds.includes(installation))

/** Returns the scope for a list over several tenants: only those that the credential reaches. @throws {StoreUnavailable} */
export const listedScope = async (principal: Principal, scope: Scope): Promise<Scope> => {
  if (scope.tenant !== null) return scope
  if (principal.kind === 'agent_key') {
    return scopeAmong(scope, { tenants: await principal.reach.tenants(), untenanted: true })
  }
  const limit = limitsOf(principal)?.tenants ?? null
  return limit === null ? scope : scopeAmong(scope, { tenants: [...limit], untenanted: false })
}
