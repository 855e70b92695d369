import type { FieldsOf } from '#machines/row-fields.ts'
import type { SessionContext, sessionFields } from '#machines/session/session-data.ts'
import type { Status } from '#specs/statuses.ts'
import { everyChoiceOf } from '#storage/index.ts'
import type { AnyKind, TypedKind } from '../records/schema.ts'
import { maskedAction } from '../records/shown-event.ts'
import { imageBlobs, unclaimedImages } from './input/unclaimed-images.ts'
import { sessionThreads } from './protocols/thread-sessions.ts'
import { toolHeaders } from './tools/tool-headers.ts'

/** Data of a session's list row (`sessionDefinition.row`). */
export type SessionRow = { readonly status: Status<'session'> } & FieldsOf<typeof sessionFields, SessionContext>

/** List rows of sessions. */
export const sessionRows: TypedKind<SessionRow> = {
  name: 'sessions',
  byteBlobs: { list: 'images', named: imageBlobs },
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

/** Who is to decide about an action and when, with comments. The row's id is that of its action, whose owner it has. */
export type ActionReviewData = {
  readonly assignee_id: string | null
  readonly snoozed_until_ms: number | null
  /** Number of changes of the fields above. */
  readonly revision: number
  readonly comments: readonly {
    readonly id: string
    readonly text: string
    readonly by: { readonly kind: string; readonly id: string | null }
    readonly created_at_ms: number
  }[]
}

/** Reviews of actions; those without a change have none. */
export const actionReviews: TypedKind<ActionReviewData> = { name: 'action_reviews', filters: [], outbox: true }

/** The newest checkpoint of each session: `{ hash, through }`. */
export const sessionCheckpoints: AnyKind = { name: 'session_checkpoints', exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const sessionKinds: readonly AnyKind[] = [
  sessionRows,
  actionRows,
  actionReviews,
  sessionCheckpoints,
  sessionThreads,
  toolHeaders,
  unclaimedImages,
]
