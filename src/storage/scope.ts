/**
 * The owner whose data a call may access. A scope comes from a credential, never from a request's body, and every store
 * method that serves a request takes one: an id outside of the scope is not found, just like an unknown one.
 *
 * A `tenant` or `user` of null includes every tenant or user of the project.
 */
export interface Scope {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  /** The tenants that it is limited to, when there may be several: rows without a tenant are outside unless `untenanted`. */
  readonly among?: TenantsAmong
  /** The call starts or continues work, so it is refused if the tenant is suspended or being deleted. */
  readonly work?: true
  /** Everything in the project may be removed. Only the deletion of a project has this. */
  readonly whole?: true
  /** Makes `Scope` nominal: only the functions of this file create one. */
  readonly [scoped]: true
}

declare const scoped: unique symbol

/** Several tenants, and whether rows of no tenant belong to them. */
export interface TenantsAmong {
  readonly tenants: readonly string[]
  readonly untenanted: boolean
}

const seal = (scope: Omit<Scope, typeof scoped>): Scope => Object.freeze(scope) as Scope

/** Returns the scope of a project. */
export const projectScope = (project: string): Scope => seal({ project, tenant: null, user: null })

/**
 * Returns the scope of an organisation: its projects, members and dashboard sessions. Their rows carry the
 * organisation's id (`org_…`) in place of a project's (`prj_…`), so that no project's scope includes them.
 */
export const organizationScope = (organization: string): Scope => projectScope(organization)

/** Returns the scope of a project that is being deleted, for removing everything in it. */
export const wholeProjectScope = (project: string): Scope => seal({ project, tenant: null, user: null, whole: true })

/** Returns the scope of one tenant of a project. */
export const tenantScope = (project: string, tenant: string): Scope => seal({ project, tenant, user: null })

/** Returns the scope of one end user of a tenant. */
export const userScope = (project: string, tenant: string, user: string): Scope => seal({ project, tenant, user })

/** Returns `scope` limited to a tenant and a user, unless it already has them; null does not limit it. */
export const narrowedScope = (
  scope: Scope,
  { tenant, user }: { readonly tenant: string | null; readonly user: string | null },
): Scope => seal({ ...scope, tenant: scope.tenant ?? tenant, user: scope.user ?? user })

/** Returns `scope` limited to these tenants, and within a tenant to that one if it is among them. */
export const scopeAmong = (scope: Scope, among: TenantsAmong): Scope => seal({ ...scope, among })

/** Returns the scope for a call that starts or continues work. */
export const workScope = (scope: Scope): Scope => seal({ ...scope, work: true })

/** Returns the scope in which work that has begun is settled, whose tenant may have been suspended since. */
export const settledScope = ({ work: _begun, ...scope }: Scope): Scope => seal(scope)

/** Whether a scope includes a resource with this owner. */
export const covers = (scope: Scope, owner: { project: string; tenant: string | null; user: string | null }): boolean =>
  owner.project === scope.project &&
  (scope.tenant === null || scope.tenant === owner.tenant) &&
  isAmong(scope, owner.tenant) &&
  (scope.user === null || scope.user === owner.user)

const isAmong = ({ among }: Scope, tenant: string | null): boolean => {
  if (among === undefined) return true
  return tenant === null ? among.untenanted : among.tenants.includes(tenant)
}
