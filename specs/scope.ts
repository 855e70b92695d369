/**
 * Whose data a call may touch. A scope comes from a credential (`src/actors/accounts`), never from a request's body,
 * and every store method that serves a request takes one: a foreign id is not found, as an unknown one.
 *
 * `tenant` and `user` null: the whole project.
 */
export interface Scope {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  /** Something is begun or goes on under this scope: tenants that are suspended or being deleted are refused then. */
  readonly work?: true
  /** Makes `Scope` nominal: only `projectScope` and `userScope` build one. */
  readonly [scoped]: true
}

declare const scoped: unique symbol

const seal = (scope: Omit<Scope, typeof scoped>): Scope => Object.freeze(scope) as Scope

/** Everything of one project. */
export const projectScope = (project: string): Scope => seal({ project, tenant: null, user: null })

/**
 * What belongs to an organisation as a whole: its projects, members and dashboard sessions. Their rows have the
 * organisation's id (`org_…`) where others have a project's (`prj_…`), so that no project's scope reaches them.
 */
export const organizationScope = (organization: string): Scope => projectScope(organization)

/** What one tenant owns in a project. */
export const tenantScope = (project: string, tenant: string): Scope => seal({ project, tenant, user: null })

/** What one end user of a tenant owns. */
export const userScope = (project: string, tenant: string, user: string): Scope => seal({ project, tenant, user })

/** The same for a call that begins something or lets it go on. */
export const workScope = (scope: Scope): Scope => seal({ ...scope, work: true })

/** Whether a resource of this owner may be seen under `scope`. */
export const covers = (scope: Scope, owner: { project: string; tenant: string | null; user: string | null }): boolean =>
  owner.project === scope.project &&
  (scope.tenant === null || scope.tenant === owner.tenant) &&
  (scope.user === null || scope.user === owner.user)
