import type { Attribution, Principal } from '#actors/call/call.ts'
import { type KeyLimits, limitsOf } from '#actors/call/reach.ts'
import { type Access, type Role, roles, wrongKindCode } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { groupOf, includesOperation, isReading, tenancyOf } from '#specs/reach/key-scopes.ts'
import { narrowedScope, projectScope, type Scope, userScope, workScope } from '#storage/index.ts'
import { isWork } from './named-tenant.ts'

/**
 * Checks that a credential may call an operation.
 *
 * @throws {ServiceError} `secret_key_required` where a secret key is required, `insufficient_scope`, `forbidden`,
 * `second_factor_enrolment_required`.
 */
export const authorise = (operation: Operation, principal: Principal): void => {
  const { access } = operation
  if (!access.kinds.includes(principal.kind)) throw new ServiceError(wrongKindCode(access))
  if (principal.kind === 'agent_key' && principal.keyType === 'public' && access.publicKeys !== true)
    throw new ServiceError('forbidden')
  if (principal.kind === 'client_token' && access.permissions !== undefined) {
    if (!access.permissions.some((each) => principal.permissions.includes(each)))
      throw new ServiceError(access.secretKeyRow === true ? 'secret_key_required' : 'insufficient_scope')
  }
  if (principal.kind === 'dashboard' && principal.mustEnrol === true && access.beforeSecondFactor !== true)
    throw new ServiceError('second_factor_enrolment_required')
  if (principal.kind === 'dashboard' && access.role !== undefined) {
    if (roles.indexOf(principal.role) < roles.indexOf(access.role)) throw new ServiceError('forbidden')
  }
  if (principal.kind === 'secret_key' && principal.grant !== undefined) checkMember(access, principal.grant.role)
  const limits = limitsOf(principal)
  if (limits !== null) checkLimits(operation, limits)
}

/**
 * Checks that an app does no more than its member could: in the console, or with a key that an admin may create.
 *
 * @throws {ServiceError} `forbidden`
 */
const checkMember = (access: Access, role: Role): void => {
  const isOperator = roles.indexOf(role) >= roles.indexOf('admin')
  const isMembers = access.console !== undefined || access.kinds.includes('dashboard')
  const needed = access.console ?? access.role
  const isOwn = isMembers && (needed === undefined || roles.indexOf(role) >= roles.indexOf(needed))
  if (isOperator || isOwn) return
  throw new ServiceError('forbidden', { message: `The member that granted the access has the role ${role}.` })
}

/** @throws {ServiceError} `insufficient_scope`, with the missing part of the key's scopes in `param` */
const checkLimits = (operation: Operation, { operations, tenants }: KeyLimits): void => {
  if (operations !== null && !includesOperation(operations, operation)) {
    const missing = `${groupOf(operation)}:${isReading(operation) ? 'read' : 'write'}`
    throw new ServiceError('insufficient_scope', {
      param: 'operations',
      message: `The scopes of the key do not include ${missing}.`,
    })
  }
  if (tenants === null || tenancyOf(operation) !== 'project') return
  throw new ServiceError('insufficient_scope', {
    param: 'tenants',
    message: 'The operation concerns the whole project, and the key is limited to tenants.',
  })
}

/**
 * The scope of a call: all that the principal may access with this operation, narrowed to the tenant and user it is
 * made for.
 */
export const scopeFor = (
  operation: Pick<Operation, 'id' | 'method' | 'ofTenants'>,
  principal: Principal,
  attribution?: Attribution,
): Scope => {
  const scope = isWork(operation) ? workScope(scopeOf(principal)) : scopeOf(principal)
  if (attribution === undefined || operation.ofTenants === null) return scope
  const { tenant, externalUserId } = attribution
  return narrowedScope(scope, { tenant, user: operation.ofTenants === 'user' ? externalUserId : null })
}

/** All that a principal may access. */
export const scopeOf = (principal: Principal): Scope => {
  if (principal.kind === 'public') return noScope
  if (principal.kind !== 'client_token') return projectScope(principal.project)
  return userScope(principal.project, principal.tenant, principal.user)
}

/** The scope of a call without a credential: no project has this id. */
const noScope = projectScope('')
