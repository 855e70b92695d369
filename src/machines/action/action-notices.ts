import type { JsonObject } from '#specs/dsl/json.ts'
import type { Notice } from '../declared.ts'
import type { At, Message } from '../index.ts'
import type { ActionContext, ActionEvent, Decision } from './action-data.ts'

/** A message to the actor that waits for the outcome, if there is one. */
export const messageToOwner = (context: ActionContext, event: Message['event']): { messages: readonly Message[] } => ({
  messages: context.owner === null ? [] : [{ to: context.owner, event }],
})

type ActionNotice = Extract<Notice['event_type'], `action.${string}`>

const statuses: Readonly<Partial<Record<ActionNotice, string>>> = {
  'action.created': 'pending_approval',
  'action.input_required': 'awaiting_input',
}

/** Notifies webhooks, without the arguments, which only an approver may see. */
export const notifies = (event_type: ActionNotice, more: (context: ActionContext) => JsonObject = () => ({})) =>
  ({
    type: 'notify',
    params: ({ context }: { context: ActionContext }): Notice => {
      const { action_id, tool, risk_level, run_id, session_id } = context
      const status = statuses[event_type] ?? event_type.slice('action.'.length)
      return { event_type, data: { action_id, tool, risk_level, status, run_id, session_id, ...more(context) } }
    },
  }) as const

/** The decider, as data of a webhook event. */
export const withDecider = ({ resolved_by }: ActionContext): JsonObject => ({ resolved_by })

/** The error, as data of a webhook event. */
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

/**
 * Writes a line of the audit log. It is sent as a message instead of the action `audit`, because it also names the
 * tool: the id alone says little once the action is gone.
 */
export const audits = (done: 'approved' | 'rejected' | 'completed') =>
  ({
    type: 'send',
    params: ({ context, event }: At<ActionContext, DecisionEvent>) => ({ messages: [lineOf(context, event, done)] }),
  }) as const

/** The edited arguments of an approved call, for the actor that waits for it; nothing when a person changed none. */
export const editsOf = ({ arguments: edits, proposed_arguments }: ActionContext): JsonObject =>
  proposed_arguments === null ? {} : { arguments: edits }
