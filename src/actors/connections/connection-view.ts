import type { ResultOf } from '#specs/index.ts'
import type { JsonObject, StoredRecord } from '#storage/ports.ts'
import { rowTimes, timestampOrNull } from '../records/row-times.ts'
import { type Row, rowOf } from '../records/schema.ts'
import type { Resident } from '../runtime/resident.ts'
import { rowRecord } from '../runtime/rows/actor-row.ts'
import { type ConnectionRowData, connectionRows } from './kinds.ts'

/** A connection as it is answered. */
export type ConnectionView = ResultOf<'connections.get'>

/** A connection by its list row. */
export const connectionView = (row: Row<ConnectionRowData & JsonObject>): ConnectionView => {
  const { data } = row
  return {
    id: row.id,
    name: data.name,
    connector: data.connector,
    status: data.status,
    owner_type: data.owner_type,
    tenant_id: row.tenant,
    external_user_id: row.user,
    test_only: data.test_only,
    config: data.config,
    scopes: data.scopes,
    granted_scopes: data.granted_scopes,
    key_last4: data.key_last4,
    tool_count: data.tool_count,
    expires_at: timestampOrNull(data.expires_at_ms),
    last_refreshed_at: timestampOrNull(data.refreshed_at_ms),
    last_tested_at: timestampOrNull(data.tested_at_ms),
    error: data.error,
    ...rowTimes(row),
  }
}

/** A connection's row as its actor has it now. */
export const residentRow = (resident: Resident): Row<ConnectionRowData & JsonObject> => {
  const record: StoredRecord = rowRecord(resident)
  return rowOf(connectionRows, record)
}

/** A connection by its actor. */
export const residentView = (resident: Resident): ConnectionView => connectionView(residentRow(resident))
