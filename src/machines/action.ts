import { assign, setup } from 'xstate'
import type { Json } from '../../specs/json.ts'
import type { ToolKind } from './approval.ts'
import { type Message, vocabulary } from './vocabulary.ts'

/** Who runs the tool once approved; `caller`: an action of its own, which the caller acts on. */
export type ActionKind = Exclude<ToolKind, 'unknown'> | 'caller'

/** An action's durable context. */
export type ActionContext = {
  readonly action_id: string
  /** The actor that waits for the outcome; null for an action of its own. */
  readonly owner: string | null
  readonly session_id: string | null
  readonly run_id: string | null
  readonly kind: ActionKind
  readonly tool: string
  /** JSON text. */
  readonly arguments: string
  readonly risk_level: string
  readonly policy: 'idempotent' | 'at_most_once'
  readonly expires_in_ms: number
  /** Where a server-run tool's definition stands (src/actors/sessions/turn-config.ts). */
  readonly config: Json
  readonly resolved_by: string | null
  readonly note: string | null
  readonly output: string | null
  readonly error: { readonly code: string; readonly message: string } | null
}

/** What starts an action. */
export type ActionInput = Omit<ActionContext, 'resolved_by' | 'note' | 'output' | 'error'>

/** Everything that can happen to an action. */
export type ActionEvent =
  | { readonly type: 'approve'; readonly by: string; readonly note?: string; readonly output?: string }
  | { readonly type: 'reject'; readonly by: string; readonly reason?: string }
  | { readonly type: 'cancel' }
  | { readonly type: 'tool_succeeded'; readonly output: string }
  | { readonly type: 'tool_failed'; readonly code: string; readonly message: string }

const tellOwner = (context: ActionContext, event: Message['event']): { messages: readonly Message[] } => ({
  messages: context.owner === null ? [] : [{ to: context.owner, event }],
})

const errorOutput = (code: string, message: string): string => JSON.stringify({ error: { code, message } })

/**
 * Approval of one risky tool call.
 *
 * Approving twice runs the tool once: only `pending_approval` accepts `approve`; later ones change nothing, and one
 * after a rejection is refused (interface-additions "Turns, tools and approvals"; interface "Action").
 */
export const actionMachine = setup({
  types: {
    context: {} as ActionContext,
    input: {} as ActionInput,
    events: {} as ActionEvent,
  },
  actions: {
    ...vocabulary,
    runTool: (_: unknown, _params: { action_id: string; policy: string }) => {},
  },
  guards: {
    lacksOutput: ({ context, event }) =>
      event.type === 'approve' && context.kind === 'function' && event.output === undefined,
    runsElsewhere: ({ context }) => context.kind === 'function',
    isCallers: ({ context }) => context.kind === 'caller',
  },
  delays: { expiry: ({ context }) => context.expires_in_ms },
}).createMachine({
  id: 'action',
  context: ({ input }) => ({ ...input, resolved_by: null, note: null, output: null, error: null }),
  initial: 'pending_approval',
  states: {
    pending_approval: {
      after: {
        expiry: {
          target: 'expired',
          actions: {
            type: 'send',
            params: ({ context }) =>
              tellOwner(context, { type: 'action_rejected', action_id: context.action_id, reason: 'expired' }),
          },
        },
      },
      on: {
        approve: [
          {
            guard: 'lacksOutput',
            actions: { type: 'refuse', params: { code: 'tool_result_required', param: 'tool_results' } },
          },
          {
            guard: 'runsElsewhere',
            target: 'executed',
            actions: [
              assign(({ event }) => ({
                resolved_by: event.by,
                note: event.note ?? null,
                output: event.output ?? null,
              })),
              {
                type: 'send',
                params: ({ context, event }) =>
                  tellOwner(context, {
                    type: 'action_approved',
                    action_id: context.action_id,
                    output: event.output ?? '',
                  }),
              },
            ],
          },
          {
            guard: 'isCallers',
            target: 'approved',
            actions: assign(({ event }) => ({ resolved_by: event.by, note: event.note ?? null })),
          },
          {
            target: 'executing',
            actions: [
              assign(({ event }) => ({ resolved_by: event.by, note: event.note ?? null })),
              {
                type: 'send',
                params: ({ context }) => tellOwner(context, { type: 'action_approved', action_id: context.action_id }),
              },
            ],
          },
        ],
        reject: {
          target: 'rejected',
          actions: [
            assign(({ event }) => ({ resolved_by: event.by, note: event.reason ?? null })),
            {
              type: 'send',
              params: ({ context }) =>
                tellOwner(context, { type: 'action_rejected', action_id: context.action_id, reason: 'rejected' }),
            },
          ],
        },
        cancel: { target: 'rejected', actions: assign({ note: 'cancelled' }) },
      },
    },
    approved: { on: { reject: { actions: { type: 'refuse', params: { code: 'action_already_resolved' } } } } },
    executing: {
      entry: {
        type: 'runTool',
        params: ({ context }) => ({ action_id: context.action_id, policy: context.policy }),
      },
      on: {
        reject: { actions: { type: 'refuse', params: { code: 'action_already_resolved' } } },
        cancel: {
          target: 'failed',
          actions: [
            { type: 'abort', params: { effects: ['runTool'] } },
            assign({ error: { code: 'cancelled', message: 'The turn ended before the tool did.' } }),
          ],
        },
        tool_succeeded: {
          target: 'executed',
          actions: [
            assign({ output: ({ event }) => event.output }),
            {
              type: 'send',
              params: ({ context, event }) =>
                tellOwner(context, { type: 'action_executed', action_id: context.action_id, output: event.output }),
            },
          ],
        },
        tool_failed: {
          target: 'failed',
          actions: [
            assign({ error: ({ event }) => ({ code: event.code, message: event.message }) }),
            {
              type: 'send',
              params: ({ context, event }) =>
                tellOwner(context, {
                  type: 'action_executed',
                  action_id: context.action_id,
                  output: errorOutput(event.code, event.message),
                }),
            },
          ],
        },
      },
    },
    executed: { on: { reject: { actions: { type: 'refuse', params: { code: 'action_already_resolved' } } } } },
    failed: { on: { reject: { actions: { type: 'refuse', params: { code: 'action_already_resolved' } } } } },
    rejected: { on: { approve: { actions: { type: 'refuse', params: { code: 'action_already_resolved' } } } } },
    expired: {
      on: {
        approve: { actions: { type: 'refuse', params: { code: 'action_already_resolved' } } },
        reject: { actions: { type: 'refuse', params: { code: 'action_already_resolved' } } },
      },
    },
  },
})
