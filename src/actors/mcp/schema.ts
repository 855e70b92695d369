import type { JsonObject, StoredRecord } from '#storage/ports.ts'
import type { Row } from '../records/schema.ts'
import type { ServerRowData } from './kinds.ts'

/* What our own rows hold comes back as the type that was written: the server's machine alone writes them. */

/** A server's list row. */
export type ServerRow = Row<ServerRowData & JsonObject>

/** A server's list row, read back. */
export const serverRow = (record: StoredRecord): ServerRow => record as unknown as ServerRow
