import { ServiceError } from '#specs/errors/errors.ts'
import { includesEntry, type KeyScopes } from '#specs/reach/key-scopes.ts'
import type { Scope } from '#storage/index.ts'
import type { ProjectKeyData } from '../accounts/kinds.ts'
import type { KeyLimits } from '../call/reach.ts'
import type { Table } from '../records/table.ts'

/**
 * Returns the scopes of a new key: those that are requested, and where none are, those of the key that creates it. The
 * guardrails of both hold.
 *
 * @throws {ServiceError} `insufficient_scope` for scopes beyond those of the creating key
 */
export const scopesWithin = (limits: KeyLimits | null, wanted: KeyScopes): KeyScopes => {
  const { models = null, tenants = null, operations = null, guardrails = [] } = limits ?? {}
  const made = {
    models: listWithin('models', { limit: models, wanted: wanted.models }),
    tenants: listWithin('tenants', { limit: tenants, wanted: wanted.tenants }),
    operations: listWithin('operations', { limit: operations, wanted: wanted.operations, includes: includesEntry }),
    guardrails:
      guardrails.length === 0 ? wanted.guardrails : [...new Set([...guardrails, ...(wanted.guardrails ?? [])])],
  }
  return Object.fromEntries(Object.entries(made).filter(([, list]) => list !== undefined))
}

interface WantedList {
  readonly limit: ReadonlySet<string> | null
  readonly wanted: readonly string[] | undefined
  /** Whether a limit includes an entry. Default: as one of its own. */
  readonly includes?: (limit: ReadonlySet<string>, entry: string) => boolean
}

const listWithin = (name: string, { limit, wanted, includes = has }: WantedList): readonly string[] | undefined => {
  if (limit === null) return wanted
  const at = wanted?.findIndex((entry) => !includes(limit, entry)) ?? -1
  if (at < 0) return wanted ?? [...limit]
  throw new ServiceError('insufficient_scope', {
    param: `scopes.${name}[${at}]`,
    message: `The scopes of the key that creates this one do not include ${wanted?.[at]}.`,
  })
}

const has = (limit: ReadonlySet<string>, entry: string): boolean => limit.has(entry)

/**
 * Returns when a new key expires, in ms since the epoch, or null for never: when requested, but not after the key that
 * creates it. A rotated key that is still in its grace period counts with the expiry of the key that replaced it.
 *
 * @throws {ServiceError} `insufficient_scope` for a later time
 */
export const expiryWithin = async (
  keys: Table<ProjectKeyData>,
  scope: Scope,
  { creator, wanted }: { readonly creator: string; readonly wanted: number | null },
): Promise<number | null> => {
  const end = await endOf(keys, scope, creator)
  if (end === null || (wanted !== null && wanted <= end)) return wanted
  if (wanted === null) return end
  throw new ServiceError('insufficient_scope', {
    param: 'expires_at',
    message: 'The key that creates this one expires earlier.',
  })
}

const endOf = async (keys: Table<ProjectKeyData>, scope: Scope, id: string): Promise<number | null> => {
  const row = await keys.get(scope, id)
  if (row === null) return null
  const { expires_at_ms: end, replaced_by: next } = row.data
  return next === null ? end : endOf(keys, scope, next)
}
