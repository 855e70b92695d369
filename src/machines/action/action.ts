import { assign, setup } from 'xstate'
import type { Status } from '#specs/statuses.ts'
import { type Refusal, type Refusing, vocabulary } from '../declared.ts'
import { type At, assignsOf, type Shown } from '../index.ts'
import { errorOutput } from '../tool-call/tool-calls.ts'
import type { ActionContext, ActionError, ActionEvent, ActionInput, InputAnswer } from './action-data.ts'
import { audits, editsOf, messageToOwner, notifies, withDecider, withError } from './action-notices.ts'

type Decided = At<ActionContext, Extract<ActionEvent, { type: 'approve' | 'reject' }>>

const alreadyResolved: Refusal = { code: 'action_already_resolved' }
const notFound: Refusal = { code: 'not_found' }
const invalid: Refusal = { code: 'invalid_transition' }
const connectionRequired: Refusal = { code: 'connection_required' }
const connectionRevoked: ActionError = { code: 'connection_revoked', message: 'The connection was revoked.' }

/** A repeated approval is ignored; one with different edited arguments is refused, because it is too late. */
const otherArguments = ({ context, event }: At<ActionContext, Approval>): Refusal | null =>
  event.arguments === undefined || event.arguments === context.arguments ? null : alreadyResolved

type Approval = Extract<ActionEvent, { type: 'approve' }>
type Completion = Extract<ActionEvent, { type: 'complete' }>

const actionSetup = setup({
  types: {
    context: {} as ActionContext,
    input: {} as ActionInput,
    events: {} as ActionEvent,
    meta: {} as Refusing<ActionContext, ActionEvent> & Shown<ActionContext, Status<'action'>>,
  },
  actions: {
    ...vocabulary,
    runTool: (_: unknown, _params: { action_id: string; policy: string }) => {},
    releaseInput: (_: unknown, _params: { action_id: string }) => {},
    eraseAction: (_: unknown, _params: { action_id: string }) => {},
  },
  guards: {
    bringsOutput: ({ context, event }) =>
      event.type === 'approve' &&
      (context.kind === 'function' || context.kind === 'caller') &&
      event.output !== undefined,
    waitsForConnection: ({ context }) => context.connection !== null,
    waitsForInput: ({ context }) => context.input !== null,
    answersInput: ({ context, event }) =>
      (event.type === 'approve' || event.type === 'reject') && event.round === context.input?.round,
    isOurs: ({ context }) => context.kind === 'http' || context.kind === 'builtin',
    isCallers: ({ context }) => context.kind === 'caller',
    isAgents: ({ context }) => context.kind === 'agent',
    hasSucceeded: ({ context, event }) => context.kind === 'caller' && event.type === 'complete' && 'output' in event,
    hasFailed: ({ context, event }) => context.kind === 'caller' && event.type === 'complete' && 'error' in event,
  },
  delays: { expiry: ({ context }) => context.expires_in_ms },
})

const assigns = assignsOf<ActionContext, ActionEvent>()

const decided = assigns(({ event }: Decided) => {
  const note = event.type === 'approve' ? event.note : event.reason
  return { resolved_by: event.by, resolved_at: event.at, note: note ?? null }
})

/** Replaces the arguments by those that the approver edited, and keeps the proposed ones. */
const edited = assigns(({ context, event }: At<ActionContext, Approval>) =>
  event.arguments === undefined || event.arguments === context.arguments
    ? {}
    : { arguments: event.arguments, proposed_arguments: context.arguments },
)

const approvedBy = [decided, edited] as const

/** Notifies webhooks and the audit log of an approval, after the owner, so that no turn waits for them. */
const notifyApproval = [notifies('action.approved', withDecider), audits('approved')] as const

/** Notifies the owner of the approval, so that it continues by itself or waits for the tool. */
const sendApproved = {
  type: 'send',
  params: ({ context }: { context: ActionContext }) =>
    messageToOwner(context, { type: 'action_approved', action_id: context.action_id, ...editsOf(context) }),
} as const

/** Sends the owner the output of a tool that the caller ran itself. */
const sendOutput = {
  type: 'send',
  params: ({ context }: { context: ActionContext }) =>
    messageToOwner(context, {
      type: 'action_approved',
      action_id: context.action_id,
      output: context.output ?? '',
      ...editsOf(context),
    }),
} as const

/** Notifies the owner that the call will not run, with the comment of the person who rejected it. */
const sendRejected = (reason: string) =>
  ({
    type: 'send',
    params: ({ context }: { context: ActionContext }) => {
      const { action_id, note } = context
      return messageToOwner(context, { type: 'action_rejected', action_id, reason, ...(note !== null && { note }) })
    },
  }) as const

/** Sends the owner the tool's output, or its error. */
const sendExecuted = {
  type: 'send',
  params: ({ context }: { context: ActionContext }) => {
    const { action_id, error } = context
    const output = error === null ? (context.output ?? '') : errorOutput(error.code, error.message)
    return messageToOwner(context, { type: 'action_executed', action_id, output })
  },
} as const

/** Sink for messages that subscribe an action to a connection (src/actors/connections/use/connection-waits.ts). */
export const connectionWaitSink = 'connection_waits'

/** Subscribes to the connection, which may be usable already, or be gone. */
const awaitConnection = {
  type: 'send',
  params: ({ context: { action_id, connection } }: { context: ActionContext }) => {
    const connection_id = connection?.connection_id
    if (typeof connection_id !== 'string') return { messages: [] }
    return { messages: [{ to: connectionWaitSink, event: { type: 'wait', connection_id, actor: action_id } }] }
  },
} as const

/** Notifies the owner that the approved call waits for a connection. */
const sendConnectionRequired = [
  assigns(({ event: { connection } }: At<ActionContext, Extract<ActionEvent, { type: 'connection_required' }>>) => ({
    connection,
  })),
  {
    type: 'send',
    params: ({ context }: { context: ActionContext }) =>
      messageToOwner(context, {
        type: 'connection_required',
        action_id: context.action_id,
        connection: context.connection ?? {},
        by: 'action',
      }),
  },
] as const

/** Notifies the owner that the server of the approved call requests input. */
const sendInputRequired = [
  assigns(({ event: { input } }: At<ActionContext, Extract<ActionEvent, { type: 'input_required' }>>) => ({
    input,
    answer: null,
  })),
  {
    type: 'send',
    params: ({ context }: { context: ActionContext }) =>
      messageToOwner(context, {
        type: 'input_required',
        action_id: context.action_id,
        input: context.input ?? {},
        by: 'action',
      }),
  },
] as const

/** Forwards a progress report of the approved tool to the owner. */
const sendProgress = {
  type: 'send',
  params: ({ context, event }: At<ActionContext, Extract<ActionEvent, { type: 'tool_progressed' }>>) => {
    const { progress, total, message } = event
    return messageToOwner(context, { type: 'tool_progressed', action_id: context.action_id, progress, total, message })
  },
} as const

const answerOf = (event: Decided['event']): InputAnswer => {
  if (event.type === 'reject') return { action: event.response ?? 'decline' }
  return { action: 'accept', ...(event.content !== undefined && { content: JSON.parse(event.content) }) }
}

/** Handles a person's answer to a request for input, or the refusal of one; the call continues with either. */
const answered = [
  decided,
  assigns(({ event }: Decided) => ({ answer: JSON.stringify(answerOf(event)) })),
  {
    type: 'send',
    params: ({ context, event }: Decided) =>
      messageToOwner(context, {
        type: 'action_approved',
        action_id: context.action_id,
        answered: answerOf(event).action,
      }),
  },
] as const

/** Discards the state that is kept for an answer. */
const releaseInput = {
  type: 'releaseInput',
  params: ({ context }: { context: ActionContext }) => ({ action_id: context.action_id }),
} as const

/** Notifies the owner that the connection is usable. */
const sendConnected = {
  type: 'send',
  params: ({ context }: { context: ActionContext }) =>
    messageToOwner(context, { type: 'action_approved', action_id: context.action_id, connected: true }),
} as const

/** Stores the outcome that the caller reports for an action it carried out itself. */
const completed = [
  assigns(({ event }: At<ActionContext, Completion>) =>
    'output' in event ? { output: event.output } : { error: event.error },
  ),
  audits('completed'),
] as const

const cancelled = assigns(() => ({ note: 'cancelled' }))

/** How a call ends that has not begun. */
const endedBefore = {
  reject: {
    target: 'rejected',
    actions: [decided, sendRejected('rejected'), notifies('action.rejected', withDecider), audits('rejected')],
  },
  cancel: { target: 'rejected', actions: [cancelled, notifies('action.rejected', withDecider)] },
  delete: { target: 'deleted', actions: sendRejected('deleted') },
} as const

/**
 * Approval of one risky tool call.
 * Approving twice runs the tool once: only `pending_approval` accepts `approve`. Later approvals change nothing, and
 * one after a rejection is refused (`action_already_resolved`). A standalone action without an `execute` request stays
 * `approved` until the caller reports its outcome.
 */
export const actionMachine = actionSetup.createMachine({
  id: 'action',
  context: ({ input }) => ({
    ...input,
    execute: input.execute ?? null,
    connection: input.connection ?? null,
    input: input.input ?? null,
    answer: null,
    proposed_arguments: null,
    resolved_by: null,
    resolved_at: null,
    note: null,
    output: null,
    error: null,
  }),
  initial: 'beginning',
  on: { delete: '.deleted' },
  states: {
    beginning: {
      always: [
        { guard: 'waitsForConnection', target: 'awaiting_connection' },
        { guard: 'waitsForInput', target: 'awaiting_input' },
        { target: 'pending_approval' },
      ],
    },
    awaiting_connection: {
      entry: awaitConnection,
      meta: { status: 'awaiting_connection', refuses: { approve: connectionRequired, complete: invalid } },
      after: { expiry: { target: 'expired', actions: [sendRejected('expired'), notifies('action.expired')] } },
      on: {
        connected: { target: 'executing', actions: sendConnected },
        connection_ended: {
          target: 'failed',
          actions: [
            assign({ error: ({ event }) => event.error ?? connectionRevoked }),
            sendConnected,
            sendExecuted,
            notifies('action.failed', withError),
          ],
        },
        ...endedBefore,
      },
    },
    awaiting_input: {
      entry: notifies('action.input_required'),
      meta: {
        status: 'awaiting_input',
        refuses: { approve: alreadyResolved, reject: alreadyResolved, complete: invalid },
      },
      after: {
        expiry: { target: 'expired', actions: [sendRejected('expired'), notifies('action.expired'), releaseInput] },
      },
      on: {
        approve: { guard: 'answersInput', target: 'executing', actions: [...answered, audits('approved')] },
        reject: { guard: 'answersInput', target: 'executing', actions: [...answered, audits('rejected')] },
        cancel: {
          target: 'rejected',
          actions: [cancelled, notifies('action.rejected', withDecider), releaseInput],
        },
        delete: { target: 'deleted', actions: sendRejected('deleted') },
      },
    },
    pending_approval: {
      entry: notifies('action.created'),
      // `approve` is refused for a tool that the caller runs when the output is missing
      meta: {
        status: 'pending_approval',
        refuses: { approve: { code: 'tool_result_required', param: 'tool_results' }, complete: invalid },
      },
      after: { expiry: { target: 'expired', actions: [sendRejected('expired'), notifies('action.expired')] } },
      on: {
        approve: [
          {
            guard: 'bringsOutput',
            target: 'executed',
            actions: [
              ...approvedBy,
              assign({ output: ({ event }) => event.output ?? null }),
              sendOutput,
              ...notifyApproval,
              notifies('action.executed'),
            ],
          },
          { guard: 'isCallers', target: 'approved', actions: [...approvedBy, ...notifyApproval] },
          { guard: 'isAgents', target: 'approved', actions: [...approvedBy, sendApproved, ...notifyApproval] },
          { guard: 'isOurs', target: 'executing', actions: [...approvedBy, sendApproved, ...notifyApproval] },
        ],
        ...endedBefore,
      },
    },
    approved: {
      meta: { status: 'approved', refuses: { approve: otherArguments, reject: alreadyResolved, complete: invalid } },
      on: {
        complete: [
          { guard: 'hasSucceeded', target: 'executed', actions: [...completed, notifies('action.executed')] },
          { guard: 'hasFailed', target: 'failed', actions: [...completed, notifies('action.failed', withError)] },
        ],
      },
    },
    executing: {
      tags: 'busy',
      meta: { status: 'executing', refuses: { approve: otherArguments, reject: alreadyResolved, complete: invalid } },
      exit: { type: 'abort', params: { effects: ['runTool'] } },
      entry: {
        type: 'runTool',
        params: ({ context }) => ({ action_id: context.action_id, policy: context.policy }),
      },
      on: {
        cancel: {
          target: 'failed',
          actions: [
            assign({
              error: { code: 'cancelled', message: 'What the call belonged to ended before the tool did.' },
            }),
            notifies('action.failed', withError),
          ],
        },
        tool_progressed: { actions: sendProgress },
        connection_required: { target: 'awaiting_connection', actions: sendConnectionRequired },
        input_required: { target: 'awaiting_input', actions: sendInputRequired },
        tool_succeeded: {
          target: 'executed',
          actions: [assign({ output: ({ event }) => event.output }), sendExecuted, notifies('action.executed')],
        },
        tool_failed: {
          target: 'failed',
          actions: [
            assign({ error: ({ event }) => ({ code: event.code, message: event.message }) }),
            sendExecuted,
            notifies('action.failed', withError),
          ],
        },
        delete: {
          target: 'deleted',
          actions: [assign({ error: { code: 'cancelled', message: 'The action was deleted.' } }), sendExecuted],
        },
      },
    },
    executed: {
      meta: {
        status: 'executed',
        refuses: { approve: otherArguments, reject: alreadyResolved, complete: alreadyResolved },
      },
    },
    failed: {
      meta: {
        status: 'failed',
        refuses: { approve: otherArguments, reject: alreadyResolved, complete: alreadyResolved },
      },
    },
    rejected: { meta: { status: 'rejected', refuses: { approve: alreadyResolved, complete: alreadyResolved } } },
    expired: {
      meta: {
        status: 'expired',
        refuses: { approve: alreadyResolved, reject: alreadyResolved, complete: alreadyResolved },
      },
    },
    deleted: {
      type: 'final',
      meta: {
        refuses: { approve: notFound, reject: notFound, complete: notFound, cancel: notFound, delete: notFound },
      },
      entry: { type: 'eraseAction', params: ({ context }) => ({ action_id: context.action_id }) },
    },
  },
})
