import type { BatchContext } from '#machines/batch/batch.ts'
import type { TypedKind } from '#records/schema.ts'
import type { Status } from '#specs/statuses.ts'

/** Data of a batch's list row (`batchDefinition.row`). */
export type BatchRowData = Omit<BatchContext, 'caller' | 'chunks'> & {
  readonly status: Status<'batch'>
  /** Whether the batch has not ended. */
  readonly open: boolean
}

/** List rows of batches. */
export const batchRows: TypedKind<BatchRowData> = {
  name: 'batches',
  filters: ['open', 'endpoint'],
  unexported: ['open'],
}
