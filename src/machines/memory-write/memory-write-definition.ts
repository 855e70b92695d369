import type { Json, JsonObject } from '#specs/dsl/json.ts'
import type { MachineDefinition, RowOf, StoredState } from '../definition.ts'
import { memoryWriteMachine } from './memory-write.ts'

/** A write's status in the API; null once it is being removed. */
export const memoryWriteStatus = ({ value }: Pick<StoredState, 'value'>): 'pending' | 'success' | 'error' | null => {
  if (value === 'success' || value === 'error') return value
  return value === 'erasing' ? null : 'pending'
}

const memoryWriteRow: RowOf = (state, { tenant, user }) => {
  const status = memoryWriteStatus(state)
  if (status === null) return null
  const { source, attempts, extracted, error, memories, exchange } = state.context
  const owner = `${tenant ?? ''}/${user ?? ''}`
  const ids = Array.isArray(memories) ? memories.map((memory: Json) => fieldsOf(memory).id ?? null) : []
  const { scope = 'user', session = null, namespace = null } = fieldsOf(exchange)
  return {
    status,
    owner,
    source: source ?? null,
    attempts: attempts ?? 0,
    extracted: extracted ?? null,
    written: ids.length,
    memories: ids,
    ...(status === 'pending' && { scope, session, namespace }),
    error: error ?? null,
  }
}

const fieldsOf = (value: Json | undefined): JsonObject =>
  value !== undefined && value !== null && typeof value === 'object' && !('length' in value) ? value : {}

/** Writes of memory, whose receipts are returned by `memory.receipt`. */
export const memoryWriteDefinition = {
  name: 'memory_write',
  version: 1,
  idPrefix: 'mwr',
  machine: memoryWriteMachine,
  effects: { extractFacts: 'idempotent', storeMemories: 'idempotent', eraseMemoryWrite: 'idempotent' },
  row: memoryWriteRow,
  gone: (state) => memoryWriteStatus(state) === null,
  busy: ({ value }) => value === 'extracting' || value === 'storing',
  migrations: {},
} satisfies MachineDefinition
