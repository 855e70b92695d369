import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { type CountedLimit, CountedLimits } from '#records/counted-limits.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { narrowedScope, projectScope, type RecordStore } from '#storage/index.ts'
import type { Host } from '../runtime/internal.ts'
import { connectionRows } from './kinds.ts'

/** Maximum number of connections of one owner, including revoked ones that are still listed. */
export const maxConnections = 1000

/** The owner of a connection to be created. */
export interface ConnectionOwner {
  readonly type: ConnectionContext['owner_type']
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
}

/** Dependencies of the limit. */
export interface ConnectionLimitParts {
  readonly records: RecordStore
  readonly host: { readonly rows: Pick<Host['rows'], 'shown'> }
}

/**
 * Runs `create` unless this owner already has the maximum number of connections.
 *
 * @throws {ServiceError} `connection_limit_reached`
 */
export const withinConnectionLimit = <T>(
  { records, host }: ConnectionLimitParts,
  owner: ConnectionOwner,
  create: () => Promise<T>,
): Promise<T> => {
  const { type, project, tenant, user } = owner
  const own = narrowedScope(projectScope(project), owner)
  const limit: CountedLimit = {
    max: maxConnections,
    rows: host.rows,
    count: () => records.count(connectionRows, own, { owner_type: type }),
    full: () => new ServiceError('connection_limit_reached'),
  }
  const key = JSON.stringify(['connections', project, type, tenant, user])
  return CountedLimits.at(records).within(key, limit, create)
}
