import type { ConnectionContext } from '#machines/connection/connection-data.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { narrowedScope, projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import { connectionRows } from './kinds.ts'

/** Most connections of one owner, with those that were revoked and are still shown. */
export const maxConnections = 1000

/** Whose connection it is to be. */
export interface ConnectionOwner {
  readonly type: ConnectionContext['owner_type']
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
}

/** @throws {ServiceError} `connection_limit_reached` when this very owner has as many as it may have. */
export const requireRoom = async (records: Pick<RecordStore, 'count'>, owner: ConnectionOwner): Promise<void> => {
  const own = narrowedScope(projectScope(owner.project), owner)
  if ((await records.count(connectionRows, own, { owner_type: owner.type })) >= maxConnections)
    throw new ServiceError('connection_limit_reached')
}
