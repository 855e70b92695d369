import { ServiceError } from '#specs/errors/errors.ts'
import { narrowedScope, projectScope, type Scope } from '#storage/index.ts'

/** A user of a tenant, or of the project itself: different users even when their ids match. */
export interface MemoryOwner {
  readonly project: string
  readonly tenant: string | null
  /** The customer's id of the end user. */
  readonly user: string
}

/** Returns the key of a user's memories within a project. Ids of tenants contain no slash, so keys are unambiguous. */
export const ownerKey = ({ tenant, user }: Pick<MemoryOwner, 'tenant' | 'user'>): string => `${tenant ?? ''}/${user}`

/** Returns a scope of the owner's rows. Without a tenant it includes tenants' users, whom `ownerKey` excludes. */
export const ownersScope = ({ project, tenant, user }: MemoryOwner): Scope =>
  narrowedScope(projectScope(project), { tenant, user })

/** Fields of a request that name a user. */
export interface NamedUser {
  readonly userId?: string | undefined
  readonly user?: string | undefined
}

/**
 * Returns the owner of the memories that a request is about: the user that it names, within what its credential and
 * headers allow.
 *
 * @throws {ServiceError} `missing_field` when no user is given, `invalid_field` when the given users differ.
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
