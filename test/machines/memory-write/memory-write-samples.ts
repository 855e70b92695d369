import type { MachineDefinition } from '#machines/definition.ts'
import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = memoryWriteDefinition

const input = { write_id: 'mwr_1', exchange: { user: 'I like tea.', assistant: 'Noted.' }, source: 'remember' }

export const extracts: StoredEvent = {
  type: 'facts_extracted',
  ...{ facts: [{ subject: 'user', relation: 'likes', object: 'tea' }], extractor: 'rules' },
  ...{ model: null, provider: null, cost_usd: 0 },
}
/** Facts that no model was paid for are stored in the same step. */
export const extractsAndStores: StoredEvent = { ...extracts, memories: [{ id: 'mem_1', duplicate: false }] }
export const findsNothing: StoredEvent = { ...extracts, facts: [], memories: [] }
export const stores: StoredEvent = { type: 'memories_stored', memories: [{ id: 'mem_1', duplicate: false }] }
export const fails: StoredEvent = { type: 'write_failed', code: 'provider_error', message: 'It failed.', final: false }
export const failsForGood: StoredEvent = { ...fails, final: true }
export const deletion: StoredEvent = { type: 'delete' }
export const backoff: StoredEvent = { type: 'xstate.after.backoff.memory_write.waiting' }
export const retention = (state: 'success' | 'error'): StoredEvent => ({
  type: `xstate.after.retention.memory_write.${state}`,
})

/** Every event in every state of a write. */
export const walk: Walk = {
  machine,
  input,
  events: [
    extracts,
    extractsAndStores,
    findsNothing,
    stores,
    fails,
    failsForGood,
    deletion,
    backoff,
    retention('success'),
    retention('error'),
  ],
  kindOf: ({ value, context }) => `${pathOf(value)} ${context.attempts} ${context.facts === null}`,
}
