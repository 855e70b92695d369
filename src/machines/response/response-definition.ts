import type { MachineDefinition, RowOf } from '../definition.ts'
import { responseMachine } from './response.ts'

const responseRow: RowOf = ({ value, context: { document } }) => {
  if (value === 'erasing') return null
  const status = typeof document === 'object' && document !== null && 'status' in document ? document.status : null
  return { status: status ?? null }
}

/** Background responses: `responses.create` with `background`. */
export const responseDefinition = {
  name: 'response',
  version: 1,
  idPrefix: 'resp',
  machine: responseMachine,
  effects: { beginResponse: 'idempotent', makeResponse: 'idempotent', eraseResponse: 'idempotent' },
  row: responseRow,
  gone: ({ value }) => value === 'erasing',
  busy: ({ value }) => value === 'queued' || value === 'in_progress',
  migrations: {},
} satisfies MachineDefinition
