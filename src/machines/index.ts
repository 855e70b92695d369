import { actionDefinition } from './action/action-definition.ts'
import { agentVersionDefinition } from './agent-version/agent-version-definition.ts'
import type { MachineDefinition } from './definition.ts'
import { erasureDefinition } from './erasure/erasure.ts'
import { runDefinition } from './run/run-definition.ts'
import { runQueueDefinition } from './run-queue/run-queue-definition.ts'
import { sessionDefinition } from './session/session-definition.ts'
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

/** The definition of the actor with this id, by its prefix; undefined for an id of another kind. */
export const definitionOf = (id: string): MachineDefinition | undefined =>
  definitions.find((definition) => id.startsWith(`${definition.idPrefix}_`))
