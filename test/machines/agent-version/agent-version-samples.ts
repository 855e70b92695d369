import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import type { MachineDefinition } from '#machines/definition.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = agentVersionDefinition

const by = { kind: 'secret_key', id: 'key_1' }

const input: JsonObject = {
  version_id: 'agv_1',
  agent_id: 'agt_1',
  version: '1.0.0',
  config: '{"model":"simulated-1"}',
  requirements: '{}',
  visibility: 'public',
  created_by: by,
}

/** A new draft. */
export const fresh = (): AnyMachineSnapshot => initialTransition(machine, input)[0]

export const tested: StoredEvent = { type: 'tested', by, at: 10, evidence: '{"passed":true}' }
export const submit: StoredEvent = { type: 'submit', by, at: 20 }
export const approve: StoredEvent = { type: 'review', by, at: 30, decision: 'approve', reason: null }
export const reject: StoredEvent = { type: 'review', by, at: 30, decision: 'reject', reason: 'Too chatty.' }
export const publish: StoredEvent = { type: 'publish', by, at: 40 }
export const deprecate: StoredEvent = { type: 'deprecate', by, at: 50 }
export const retire: StoredEvent = { type: 'retire', by, at: 60 }
export const deletion: StoredEvent = { type: 'delete', by, at: 70 }

/** A version after these events. */
export const version = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(), ...events)

/** Every event in every state of a version. */
export const walk: Walk = {
  machine,
  input,
  events: [tested, submit, approve, reject, publish, deprecate, retire, deletion],
  kindOf: ({ value }) => pathOf(value),
}
