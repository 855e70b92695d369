import type { ForkedFrom } from '#machines/session/session-data.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'
import { toolHeaders } from './tools/tool-headers.ts'

/** What the list row of a session holds (`sessionDefinition.row`). */
export type SessionRow = {
  readonly status: 'active' | 'paused' | 'completed'
  readonly turn_count: number
  readonly agent_id: string | null
  /** Absent without one. */
  readonly installation_id?: string
  readonly metadata: JsonObject
  /** Absent for one that was not forked. */
  readonly forked_from?: ForkedFrom
  /** Exact decimal text. */
  readonly total_cost: string
}

/** List rows of sessions. */
export const sessionRows: TypedKind<SessionRow> = {
  name: 'sessions',
  filters: [
    ...['status', 'agent_id'],
    { fields: ['agent_id', 'status'] },
    { fields: ['status'], within: 'user' },
    { fields: ['installation_id'], narrow: true },
  ],
}

/** List rows of actions. */
export const actionRows: AnyKind = {
  name: 'actions',
  filters: ['status', { fields: ['status'], within: 'tenant' }, { fields: ['session_id'], narrow: true }, 'run_id'],
  // the agent's instructions and tools, and addresses of the vendor's
  unexported: ['config', 'execute'],
}

/** Where each session's newest checkpoint is: `{ hash, through }`. */
export const sessionCheckpoints: AnyKind = { name: 'session_checkpoints', exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const sessionKinds: readonly AnyKind[] = [sessionRows, actionRows, sessionCheckpoints, toolHeaders]
