import type { TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope, type RecordStore } from '#storage/index.ts'

/** What is known about the call of an agent: the task that it began, and the messages that it sent. */
export type AgentCallData = {
  readonly server_id: string
  /** Id of the agent's task; null until the agent has named it. */
  readonly task_id: string | null
  /** Number of the newest message, from 1. */
  readonly round: number
  /** ms since the epoch at which that message was first sent. */
  readonly sent_at_ms: number
  /** Whether the task has ended, so that there is nothing to cancel. */
  readonly ended?: true
}

/** Calls of remote agents, by the id of their action. */
export const agentCalls: TypedKind<AgentCallData> = { name: 'remote_agent_calls', exported: null }

/** A call waits for a person for days; its record is kept for 30. */
const keptMs = 30 * 24 * 60 * 60 * 1000

/** A call whose task is recorded. */
export interface CallPlace {
  readonly project: string
  readonly tenant: string | null
  readonly user: string | null
  readonly actionId: string
  readonly serverId: string
}

/** Records of the tasks that calls began at agents: a call that is made again after a crash continues its task. */
export class AgentCalls {
  readonly #table: Table<AgentCallData>
  readonly #now: () => number

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, agentCalls, now)
    this.#now = now
  }

  /** Records that a message is about to be sent. `isRepeated`: it may have been sent before. */
  async begun(place: CallPlace, round: number): Promise<AgentCallData & { readonly isRepeated: boolean }> {
    const { project, tenant, user, actionId: id, serverId } = place
    const sent_at_ms = this.#now()
    const first = { server_id: serverId, task_id: null, round, sent_at_ms }
    const row = { id, project, tenant, user, data: first, expiresAtMs: sent_at_ms + keptMs }
    if ((await this.#table.insert(row)) !== null) return { ...first, isRepeated: false }
    let isRepeated = true
    const edit = ({ data }: { readonly data: AgentCallData }): AgentCallData | null => {
      isRepeated = data.round >= round
      return isRepeated ? null : { ...data, round, sent_at_ms }
    }
    const kept = await this.#table.change(projectScope(project), id, { edit })
    return { ...(kept?.data ?? first), isRepeated }
  }

  /** Records that the agent refused the credentials of a message. */
  async refused({ project, actionId }: Pick<CallPlace, 'project' | 'actionId'>, round: number): Promise<void> {
    const edit = ({ data }: { readonly data: AgentCallData }) =>
      data.round === round && (round > 1 || data.task_id === null) ? { ...data, round: round - 1 } : null
    await this.#table.change(projectScope(project), actionId, { edit })
  }

  /** Records the task that a call began. */
  async named({ project, actionId }: Pick<CallPlace, 'project' | 'actionId'>, task: string): Promise<void> {
    await this.#table.change(projectScope(project), actionId, { edit: ({ data }) => ({ ...data, task_id: task }) })
  }

  /** Records that the task has ended. */
  async ended({ project, actionId }: Pick<CallPlace, 'project' | 'actionId'>): Promise<void> {
    await this.#table.change(projectScope(project), actionId, { edit: ({ data }) => ({ ...data, ended: true }) })
  }

  /** Returns a call, with its owner; null for a call that no agent got. */
  async find({ project, actionId }: Pick<CallPlace, 'project' | 'actionId'>) {
    return this.#table.get(projectScope(project), actionId)
  }
}
