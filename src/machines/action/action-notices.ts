import type { JsonObject } from '#specs/dsl/json.ts'
import type { At } from '../refusal.ts'
import type { Message, Notice } from '../vocabulary.ts'
import type { ActionContext, ActionEvent, Decision } from './action-data.ts'

/** A message to the actor that waits for the outcome, if one does. */
export const toOwner = (context: ActionContext, event: Message['event']): { messages: readonly Message[] } => ({
  messages: context.owner === null ? [] : [{ to: context.owner, event }],
})

type ActionNotice = Extract<Notice['event_type'], `action.${string}`>

const statuses: Readonly<Partial<Record<ActionNotice, string>>> = {
  'action.created': 'pending_approval',
  'action.input_required': 'awaiting_input',
}

/** What webhooks hear: never the arguments, which only an approver is to see. */
export const notifies = (event_type: ActionNotice, more: (context: ActionContext) => JsonObject = () => ({})) =>
  ({
    type: 'notify',
    params: ({ context }: { context: ActionContext }): Notice => {
      const { action_id, tool, risk_level, run_id, session_id } = context
      const status = statuses[event_type] ?? event_type.slice('action.'.length)
      return { event_type, data: { action_id, tool, risk_level, status, run_id, session_id, ...more(context) } }
    },
  }) as const

/** Who decided, for webhooks. */
export const withDecider = ({ resolved_by }: ActionContext): JsonObject => ({ resolved_by })

/** What failed, for webhooks. */
export const withError = ({ error }: ActionContext): JsonObject => ({ error })

const lineOf = ({ action_id, tool }: ActionContext, event: DecisionEvent, done: string): Message => ({
  to: 'audit',
  event: {
    type: 'audit',
    at: event.audit.at,
    action: `action.${done}`,
    by: event.audit.by,
    resource: { type: 'action', id: action_id, name: tool },
    changes: 'arguments' in event && event.arguments !== undefined ? ['arguments'] : [],
    ...whyOf(event),
  },
})

const whyOf = (event: DecisionEvent): { readonly reason?: string } => {
  const reason = event.type === 'approve' ? event.note : event.type === 'reject' ? event.reason : undefined
  return reason === undefined || reason === '' ? {} : { reason }
}

type DecisionEvent = Extract<ActionEvent, Decision>

/** A line of the audit log. A message of its own, since it names the tool: an action's id says little once it is gone. */
export const audits = (done: 'approved' | 'rejected' | 'completed') =>
  ({
    type: 'send',
    params: ({ context, event }: At<ActionContext, DecisionEvent>) => ({ messages: [lineOf(context, event, done)] }),
  }) as const
