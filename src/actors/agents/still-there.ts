import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/index.ts'
import type { Table } from '../records/table.ts'
import type { AgentData } from './kinds.ts'

/** An agent, and how what was just created for it is removed again. */
interface CreatedFor {
  readonly project: string
  readonly agentId: string
  readonly undo: () => Promise<unknown>
}

/**
 * Removes what was just created for an agent that was deleted meanwhile: the deletion may have searched before it
 * existed. A deletion that removes the agent after this check finds it, as it searches once more at its end.
 *
 * @throws {ServiceError} `not_found` with the param `agent_id`
 */
export const requireStillThere = async (
  agents: Pick<Table<AgentData>, 'get'>,
  { project, agentId, undo }: CreatedFor,
): Promise<void> => {
  if ((await agents.get(projectScope(project), agentId)) !== null) return
  await undo()
  throw new ServiceError('not_found', noAgent)
}

/** Details of the refusal of an agent that the project does not have. */
export const noAgent = { param: 'agent_id', message: 'There is no such agent.' } as const
