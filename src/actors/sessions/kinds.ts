import type { FieldsOf } from '#machines/row-fields.ts'
import type { SessionContext, sessionFields } from '#machines/session/session-data.ts'
import type { Status } from '#specs/statuses.ts'
import { everyChoiceOf } from '#storage/index.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'
import { maskedAction } from '../records/shown-event.ts'
import { sessionThreads } from './protocols/thread-sessions.ts'
import { toolHeaders } from './tools/tool-headers.ts'

/** Data of a session's list row (`sessionDefinition.row`). */
export type SessionRow = { readonly status: Status<'session'> } & FieldsOf<typeof sessionFields, SessionContext>

/** List rows of sessions. */
export const sessionRows: TypedKind<SessionRow> = {
  name: 'sessions',
  filters: [
    ...everyChoiceOf(['agent_id', 'status'], ['project', 'tenant', 'user']),
    // an installation has one agent. It has one tenant too, and the lists within tenants are those of another: empty
    ...[['installation_id'], ['installation_id', 'status']].flatMap((fields) =>
      (['project', 'tenant', 'user'] as const).map((within) => ({ fields, narrow: true, within })),
    ),
  ],
}

/** List rows of actions. */
export const actionRows: AnyKind = {
  name: 'actions',
  filters: [
    ...['status', { fields: ['status'], within: 'tenant' } as const],
    ...[
      { fields: ['session_id'], narrow: true },
      { fields: ['run_id'], narrow: true },
    ],
  ],
  // the agent's instructions and tools, and addresses of the vendor
  unexported: ['config', 'execute'],
  masked: maskedAction,
}

/** The newest checkpoint of each session: `{ hash, through }`. */
export const sessionCheckpoints: AnyKind = { name: 'session_checkpoints', exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const sessionKinds: readonly AnyKind[] = [
  sessionRows,
  actionRows,
  sessionCheckpoints,
  sessionThreads,
  toolHeaders,
]
