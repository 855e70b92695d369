import type { ResultOf } from '#specs/index.ts'
import type { JsonObject, StoredRecord } from '#storage/index.ts'
import { rowTimes, timestampOrNull } from '../records/row-times.ts'
import { type Row, rowOf } from '../records/schema.ts'
import { type Resident, rowRecord } from '../runtime/internal.ts'
import { type ConnectionRowData, connectionRows } from './kinds.ts'

/** A connection as the API returns it. */
export type ConnectionView = ResultOf<'connections.get'>

/** Returns the connection of a list row. */
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
    missing_scopes: data.missing_scopes ?? [],
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

/** Returns the list row for the current state of a connection's actor. */
const residentRow = (resident: Resident): Row<ConnectionRowData & JsonObject> => {
  const record: StoredRecord = rowRecord(resident)
  return rowOf(connectionRows, record)
}

/** Returns the connection of an actor. */
export const residentView = (resident: Resident): ConnectionView => connectionView(residentRow(resident))
