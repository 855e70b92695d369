import type { JsonObject, StoredRecord } from '#storage/ports.ts'
import type { Row } from '../records/schema.ts'
import type { ConnectionRowData } from './kinds.ts'

/* What our own commits hold comes back as the type that was written: the connection machine alone writes it. */

/** A connection's list row, read back. */
export const connectionRow = (record: StoredRecord): Row<ConnectionRowData & JsonObject> =>
  record as unknown as Row<ConnectionRowData & JsonObject>
