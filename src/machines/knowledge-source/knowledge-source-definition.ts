import type { MachineDefinition, RowOf, StoredState } from '../definition.ts'
import { sourceMachine } from './knowledge-source.ts'

/** A source's status in the API; null once it is deleted. */
export const sourceStatus = ({ value }: Pick<StoredState, 'value'>): 'pending' | 'ready' | 'failed' | null => {
  if (value === 'erasing') return null
  if (typeof value === 'string') return 'pending'
  return 'ready' in value ? 'ready' : 'failed'
}

const sourceRow: RowOf = (state) => {
  const status = sourceStatus(state)
  if (status === null) return null
  const {
    source_id: _id,
    upload: _stored,
    created_by: _by,
    attempts: _tries,
    delay_ms: _wait,
    ...context
  } = state.context
  return { ...context, ...sourceKeys(String(context.knowledge_base_id), status), status }
}

/** Combined key for filters on several fields, since a list is read by a single index. */
export const sourceKeys = (base: string, status: string) => ({ base_status: `${base} ${status}` })

/** Knowledge sources, as defined in `specs/resources/knowledge/knowledge-sources.ts`. */
export const sourceDefinition = {
  name: 'knowledge_source',
  version: 2,
  idPrefix: 'src',
  olderIdPrefix: 'ksr',
  machine: sourceMachine,
  effects: { syncSource: 'idempotent', embedSource: 'idempotent', eraseSource: 'idempotent' },
  row: sourceRow,
  gone: (state) => sourceStatus(state) === null,
  busy: (state) => sourceStatus(state) === 'pending',
  // version 1 did not store who added a source
  migrations: { 1: ({ value, context }) => ({ value, context: { ...context, created_by: null } }) },
} satisfies MachineDefinition
