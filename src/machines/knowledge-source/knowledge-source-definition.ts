import { statuses } from '#specs/statuses.ts'
import type { JsonObject, MachineDefinition, RowOf } from '../index.ts'
import { sourceMachine } from './knowledge-source.ts'

const sourceRow: RowOf = (state, { status }) => {
  const {
    source_id: _id,
    upload: _stored,
    created_by: _by,
    attempts: _tries,
    delay_ms: _wait,
    ...context
  } = state.context
  return { ...context, ...sourceKeys(context, status), status }
}

/** Combined keys for filters on several fields, since a list is read by a single index. */
const sourceKeys = ({ knowledge_base_id: base, file_id: file }: JsonObject, status: string) => ({
  base_status: `${String(base)} ${status}`,
  ...(file !== undefined && { base_file: `${String(base)} ${String(file)}` }),
})

/** Knowledge sources, as defined in `specs/resources/knowledge/knowledge-sources.ts`. */
export const sourceDefinition = {
  name: 'knowledge_source',
  version: 3,
  idPrefix: 'src',
  olderIdPrefix: 'ksr',
  machine: sourceMachine,
  effects: { syncSource: 'idempotent', embedSource: 'idempotent', eraseSource: 'idempotent' },
  statuses: statuses.knowledge_source,
  row: sourceRow,
  migrations: {
    // version 1 did not store who added a source
    1: ({ value, context }) => ({ value, context: { ...context, created_by: null } }),
    // version 2 embedded no failed source
    2: (state) => state,
  },
} satisfies MachineDefinition
