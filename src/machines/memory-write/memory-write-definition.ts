import type { Json, JsonObject } from '#specs/dsl/json.ts'
import { statuses } from '#specs/statuses.ts'
import type { MachineDefinition, RowOf } from '../index.ts'
import { memoryWriteMachine } from './memory-write.ts'

const memoryWriteRow: RowOf = (state, { tenant, user, status }) => {
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
  statuses: statuses.memory_write,
  row: memoryWriteRow,
  migrations: {},
} satisfies MachineDefinition
