import { ServiceError } from '#specs/errors/errors.ts'
import { narrowedScope, projectScope, type Scope } from '#specs/scope.ts'

/** Whose memories: a user of a tenant, or of the project itself. Both are never the same user. */
export interface MemoryOwner {
  readonly project: string
  readonly tenant: string | null
  /** Your id of the end user. */
  readonly user: string
}

/** What one user's memories are found by, within a project. Ids of tenants contain no slash. */
export const ownerKey = ({ tenant, user }: Pick<MemoryOwner, 'tenant' | 'user'>): string => `${tenant ?? ''}/${user}`

/** The scope of the owner's rows; of a user without a tenant `ownerKey` says which of them are theirs. */
export const ownersScope = ({ project, tenant, user }: MemoryOwner): Scope =>
  narrowedScope(projectScope(project), { tenant, user })

/** Who a request may name. */
export interface NamedUser {
  readonly userId?: string | undefined
  readonly user?: string | undefined
}

/**
 * Whose memories a request is about: the user that it names, within what its credential and headers reach.
 *
 * @throws {ServiceError} `missing_field` when neither says it, `invalid_field` when they differ.
 */
export const ownerOf = ({ project, tenant, user }: Scope, { userId, user: alias }: NamedUser): MemoryOwner => {
  const named = userId ?? alias
  if (userId !== undefined && alias !== undefined && userId !== alias) throw differing('user', 'userId')
  if (user !== null && named !== undefined && named !== user) throw differing('userId', 'X-External-User-Id')
  const whose = user ?? named
  if (whose === undefined)
    throw new ServiceError('missing_field', {
      param: 'userId',
      message: 'userId is required: it identifies the user of the memory.',
    })
  return { project, tenant, user: whose }
}

const differing = (param: string, other: string): ServiceError =>
  new ServiceError('invalid_field', { param, message: `${param} and ${other} name different users.` })
