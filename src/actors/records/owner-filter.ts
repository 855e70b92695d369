import { ServiceError } from '#specs/errors/errors.ts'
import { narrowedScope, type Scope } from '#storage/index.ts'

/** The owner by which a list is filtered. */
interface OwnerFilter {
  readonly tenant_id?: string
  readonly external_user_id?: string
}

/**
 * Narrows a scope by a list's filters; null when they name an owner outside of the scope.
 *
 * @throws {ServiceError} `invalid_query` for a user without a tenant: user ids are unique only within a tenant.
 */
export const ownedScope = (scope: Scope, { tenant_id = null, external_user_id = null }: Nullable): Scope | null => {
  const within = narrowedScope(scope, { tenant: tenant_id, user: external_user_id })
  if (external_user_id !== null && within.tenant === null) {
    throw new ServiceError('invalid_query', {
      param: 'external_user_id',
      message: 'external_user_id requires tenant_id: user ids are unique only within a tenant.',
    })
  }
  const others = [tenant_id ?? within.tenant, external_user_id ?? within.user]
  return others[0] === within.tenant && others[1] === within.user ? within : null
}

type Nullable = { readonly [Field in keyof OwnerFilter]?: string | null | undefined }
