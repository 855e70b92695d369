import { actionDefinition } from './action/action-definition.ts'
import { agentVersionDefinition } from './agent-version/agent-version-definition.ts'
import type { Chart, MachineDefinition } from './definition.ts'
import { erasureDefinition } from './erasure/erasure.ts'
import { runDefinition } from './run/run-definition.ts'
import { runQueueDefinition } from './run-queue/run-queue-definition.ts'
import { sessionDefinition } from './session/session-definition.ts'
import { toolCallMachine } from './tool-call/tool-call.ts'
import { deliveryDefinition } from './webhook-delivery/webhook-delivery-definition.ts'

/** Every machine, by name. Its order is the order of the docs. */
export const definitions: readonly MachineDefinition[] = [
  sessionDefinition,
  actionDefinition,
  runDefinition,
  runQueueDefinition,
  agentVersionDefinition,
  deliveryDefinition,
  erasureDefinition,
]

/** Charts to look at: every machine, and the life of a tool call, which sessions and runs keep in their own context. */
export const charts: readonly Chart[] = [...definitions, { name: 'tool_call', version: 1, machine: toolCallMachine }]

/** The definition of the actor with this id, by its prefix; undefined for an id of another kind. */
export const definitionOf = (id: string): MachineDefinition | undefined =>
  definitions.find((definition) => id.startsWith(`${definition.idPrefix}_`))
