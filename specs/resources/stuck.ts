import { secretKeyOrDashboard } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { cursorPage, cursorQuery } from '../dsl/lists.ts'
import { id, integer, nullable, object, oneOf, optional, string, timestamp } from '../dsl/schema.ts'
import { reason } from '../reason.ts'

const kind = oneOf(
  'parked_actor',
  'poison_message',
  'poison_result',
  'refused_row',
  'failing_reminder',
  'overdue_effect',
  'unfinished_commit',
)

const stuckWork = object(
  {
    id: id('stk'),
    /** Kind of the stuck work. */
    kind,
    /** The session, run, action or other resource to which the work belongs. */
    actor_id: string(),
    machine: string(),
    /** Id of the effect, message or row, name of the reminder, or the id of an actor that cannot be restored. */
    subject: string(),
    reason: string(),
    attempts: integer(),
    tenant_id: nullable(string()),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  { title: 'StuckWork' },
)

const path = '/v1/stuck/{stuck_id}'
const access = secretKeyOrDashboard('admin')
const errors = ['invalid_transition', 'actor_parked'] as const
const decided = isJsonResponse(
  object({ id: id('stk'), decision: oneOf('retry', 'skip', 'discard') }, { title: 'StuckDecision' }),
)

/** Work of a project that cannot continue by itself, and the operators' decisions about it. */
export const stuck = defineOperations('stuck', {
  list: {
    summary: 'List stuck work',
    description: 'Newest first. Returns work that cannot continue without a decision by an operator, with the reason.',
    method: 'GET',
    path: '/v1/stuck',
    access,
    query: { ...cursorQuery, kind: optional(kind) },
    answer: isJsonResponse(cursorPage(stuckWork)),
  },
  get: {
    summary: 'Retrieve stuck work',
    description: 'Returns the work with the reason for which it cannot continue.',
    method: 'GET',
    path,
    access,
    answer: isJsonResponse(stuckWork),
  },
  retry: {
    summary: 'Retry stuck work',
    description: 'Attempts the work again.',
    method: 'POST',
    path: `${path}/retry`,
    access,
    errors,
    body: object({ reason }),
    answer: decided,
  },
  skip: {
    summary: 'Skip stuck work',
    description: 'Continues with `event` in place of the stuck result or reminder.',
    method: 'POST',
    path: `${path}/skip`,
    access,
    errors,
    body: object({
      /** An event of the machine, such as `{"type": "tool_answered", "action_id": "act_…", "output": "…"}`. */
      event: object({ type: string({ pattern: '^[^$]', maxLength: 128 }) }, { open: true }),
      reason,
    }),
    answer: decided,
  },
  discard: {
    summary: 'Discard stuck work',
    description: 'The work is abandoned and no longer listed.',
    method: 'POST',
    path: `${path}/discard`,
    access,
    errors,
    body: object({ reason }),
    answer: decided,
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly stuck: typeof stuck
  }
}
