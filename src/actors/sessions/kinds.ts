import type { RecordKind } from '#storage/ports.ts'
import type { AnyKind } from '../records/schema.ts'
import { toolHeaders } from './tools/tool-headers.ts'

/** List rows of sessions; `total_cost` is exact decimal text. */
export const sessionRows: RecordKind = {
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
