import type { ActorFacts, MachineDefinition, StoredState } from './definition.ts'
import type { JsonObject } from './json.ts'
import { statusOf } from './status.ts'

/** Returns the data of an actor's list row; null when it is in no list: it is gone, or its machine has no rows. */
export const listRow = (
  { machine, statuses, row }: MachineDefinition,
  state: StoredState,
  facts: Omit<ActorFacts, 'status'>,
): JsonObject | null => {
  const status = statuses === undefined ? '' : statusOf({ machine, statuses }, state)
  return status === null || row === undefined ? null : row(state, { ...facts, status })
}
