/**
 * The owner whose data a call may touch. A scope comes from a credential, never from a request's body, and every store
 * method that serves a request takes one: a foreign id is not found, like an unknown one.
 *
 * A `tenant` or `user` of null includes every tenant or user of the project.
 */
export interface Scope {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  /** The call starts or continues work: a tenant that is suspended or being deleted is refused. */
  readonly work?: true
  /** All of a project may be removed: nothing but its deletion has this. */
  readonly whole?: true
  /** Makes `Scope` nominal: only `projectScope` and `userScope` build one. */
  readonly [scoped]: true
}

declare const scoped: unique symbol

const seal = (scope: Omit<Scope, typeof scoped>): Scope => Object.freeze(scope) as Scope

/** The scope of one project. */
export const projectScope = (project: string): Scope => seal({ project, tenant: null, user: null })

/**
 * The scope of an organisation: its projects, members and dashboard sessions. Their rows carry the organisation's id
 * (`org_…`) in place of a project's (`prj_…`), so that no project's scope reaches them.
 */
export const organizationScope = (organization: string): Scope => projectScope(organization)

/** The scope of a project that is being deleted, for removing all that is in it. */
export const wholeProjectScope = (project: string): Scope => seal({ project, tenant: null, user: null, whole: true })

/** The scope of one tenant of a project. */
export const tenantScope = (project: string, tenant: string): Scope => seal({ project, tenant, user: null })

/** The scope of one end user of a tenant. */
export const userScope = (project: string, tenant: string, user: string): Scope => seal({ project, tenant, user })

/** The part of `scope` that is of this tenant and this user; null for those that it names anyway. */
export const narrowedScope = (
  scope: Scope,
  { tenant, user }: { readonly tenant: string | null; readonly user: string | null },
): Scope => seal({ ...scope, tenant: scope.tenant ?? tenant, user: scope.user ?? user })

/** The same scope for a call that starts or continues work. */
export const workScope = (scope: Scope): Scope => seal({ ...scope, work: true })

/** Whether `scope` includes a resource of this owner. */
export const covers = (scope: Scope, owner: { project: string; tenant: string | null; user: string | null }): boolean =>
  owner.project === scope.project &&
  (scope.tenant === null || scope.tenant === owner.tenant) &&
  (scope.user === null || scope.user === owner.user)
