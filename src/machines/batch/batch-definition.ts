import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf } from '../index.ts'
import { batchMachine } from './batch.ts'

const open: readonly (string | null)[] = ['validating', 'in_progress', 'finalizing', 'cancelling']

const batchRow: RowOf = ({ context: { caller: _by, chunks: _parts, ...shown } }, { status }) => ({
  ...shown,
  status,
  open: open.includes(status),
})

/** Batches of requests (`batches.create`). */
export const batchDefinition = {
  name: 'batch',
  version: 1,
  idPrefix: 'batch',
  machine: batchMachine,
  effects: {
    validateBatch: 'idempotent',
    runLine: 'idempotent',
    finishBatch: 'idempotent',
    eraseBatch: 'idempotent',
  },
  statuses: statuses.batch,
  row: batchRow,
  migrations: {},
} satisfies MachineDefinition
