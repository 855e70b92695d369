import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { narrowedScope, projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
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

/** @throws {ServiceError} `connection_limit_reached` when this owner already has the maximum number of connections. */
export const requireRoom = async (records: Pick<RecordStore, 'count'>, owner: ConnectionOwner): Promise<void> => {
  const own = narrowedScope(projectScope(owner.project), owner)
  if ((await records.count(connectionRows, own, { owner_type: owner.type })) >= maxConnections)
    throw new ServiceError('connection_limit_reached')
}
