import { secretKeyOrDashboard } from '#specs/access.ts'
import { ownerFilters } from '#specs/dsl/lists.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  json,
  jsonObject,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { connectionFields, inputFields } from '#specs/events/events.ts'
import { statuses } from '#specs/statuses.ts'
import { execution, expiresIn, riskLevel, toolResults } from '#specs/tools.ts'
import { reviewSummary } from './action-reviews.ts'

/** Approvals are decided by members with at least this role. */
const answering = { ...secretKeyOrDashboard('member'), changes: 'approver' } as const

const status = oneOf(...statuses.action)

const reference = () => nullable(string({ maxLength: 128 }))

/** Tool calls that wait for approval by a person. Secrets in arguments are masked. */
export const actions = defineResource('actions', {
  path: '/v1/actions',
  key: 'action_id',
  idPrefix: 'act',
  title: 'Action',
  description: 'A tool call that requires approval. It is executed once, after its approval.',
  fields: {
    tool: string({ minLength: 1, maxLength: 256, description: 'Name of the tool.' }),
    risk_level: defaulted(riskLevel, 'medium'),
    status: described(status, 'State of the action.'),
    arguments: described(
      jsonObject(),
      'Arguments of the call. Secrets are masked, except where a secret key reads a call of a `function` tool, which the caller itself runs.',
    ),
    tenant_id: described(reference(), 'Tenant for which the call is made.'),
    run_id: described(reference(), 'Run that made the call.'),
    session_id: described(reference(), 'Session that made the call.'),
    run_by: described(
      oneOf('caller', 'server'),
      'Who runs the tool: `caller` for a call whose output you send, `server` for one that the server makes after its approval.',
    ),
    execute: described(
      nullable(execution),
      'Request that the server makes, once, when the action is approved. Without it, you execute the approved action yourself and report the outcome with `actions.complete`.',
    ),
    connection: described(
      nullable(object(connectionFields)),
      'Connection that the call requires while it is `awaiting_connection`, or required before. The call resumes automatically once the connection is active.',
    ),
    input: described(
      nullable(object(inputFields)),
      "Input that the tool's server requests while the action is `awaiting_input`, or requested last. Respond with `content` in `actions.approve`, or decline with `actions.reject`.",
    ),
    edits: described(
      nullable(
        array(
          object({
            path: string({ description: 'JSON Pointer into `arguments`.' }),
            before: described(optional(json()), 'Proposed value; absent if the approver added the value.'),
            after: described(optional(json()), 'Approved value; absent if the approver removed the value.'),
          }),
        ),
      ),
      'Changes that the approver made to the arguments. Secrets are masked. Null if there are none.',
    ),
    result: described(nullable(json()), 'Output of the tool, truncated. Null until the tool has returned.'),
    error: nullable(object({ code: string(), message: string() })),
    note: nullable(string({ description: 'Note of the person who decided.' })),
    resolved_by: nullable(string({ description: 'Key, member or end user that made the decision.' })),
    resolved_at: described(nullable(timestamp()), 'Time of the decision.'),
    expires_at: described(timestamp(), 'Time at which a pending action expires.'),
    review: reviewSummary,
  },
  writable: ['tool', 'arguments', 'risk_level', 'tenant_id', 'run_id', 'session_id', 'execute'],
  writeOnly: { expires_in: optional(expiresIn) },
  ofTenants: 'user',
  access: secretKeyOrDashboard('member'),
  operations: {
    list: {
      description:
        'Newest first. `status=pending_approval` lists the actions that are waiting for a decision. To get the next page, send `next_cursor` of this one as `cursor`.',
      query: {
        status: optional(status),
        risk_level: optional(riskLevel),
        tool: optional(string({ minLength: 1, maxLength: 256 })),
        session_id: optional(string({ minLength: 1, maxLength: 128 })),
        run_id: optional(string({ minLength: 1, maxLength: 128 })),
        assignee_id: optional(string({ minLength: 1, maxLength: 128, description: 'Member who is to decide.' })),
        unassigned: described(
          optional(boolean()),
          'Whether to list only actions without an assignee, or only those with one.',
        ),
        snoozed: described(
          optional(boolean()),
          'Whether to list only actions that are set aside now, or only the others.',
        ),
        ...ownerFilters,
      },
    },
    create: {
      description:
        'With `execute`, the server executes the action once it is approved. Without it, you execute the action yourself and report the outcome with `actions.complete`.',
      fields: [{ field: 'execute', by: ['secret_key'] }],
      errors: ['not_found'],
    },
    get: { description: 'Returns the call with its arguments, status and result. A long result is truncated.' },
  },
  machine: 'action',
  transitions: {
    approve: {
      summary: 'Approve an action',
      description:
        'The tool call is executed once, no matter how often the action is approved. For a tool that you run yourself, send its output in `tool_results`, which approves other calls of the same session or run whose outputs it has. `arguments` replaces the proposed arguments.',
      event: 'approve',
      access: answering,
      body: object({
        note: optional(string({ maxLength: 4096, description: 'Note that is stored in the audit log as the reason.' })),
        tool_results: optional(toolResults),
        arguments: described(
          optional(jsonObject()),
          'Arguments that replace the proposed ones. A masked value that is sent back unchanged keeps the stored value.',
        ),
        content: described(
          optional(jsonObject()),
          "Values for the form that the tool's server requested (`input.schema`). They are sent to that server.",
        ),
      }),
      errors: ['action_already_resolved', 'tool_result_required'],
    },
    complete: {
      summary: 'Complete an action',
      description:
        'Reports the outcome of an approved action that you executed yourself: with `output` its status becomes `executed`, with `error` it becomes `failed`.',
      event: 'complete',
      body: object({
        output: optional(string({ description: 'Output of the tool.' })),
        error: described(
          optional(object({ code: string({ minLength: 1, maxLength: 128 }), message: string({ maxLength: 4096 }) })),
          'Reason for which the tool produced no output.',
        ),
      }),
      errors: ['action_already_resolved', 'invalid_transition'],
    },
    reject: {
      summary: 'Reject an action',
      description:
        "The tool call is never executed. `reason` is passed to the model and stored in the audit log. For an action that is `awaiting_input`, the input is declined, and the model receives the server's answer.",
      event: 'reject',
      access: answering,
      body: object({
        reason: optional(string({ maxLength: 4096 })),
        response: described(
          optional(oneOf('decline', 'cancel')),
          'Answer for a server that requested input: `decline` (default) refuses the request, `cancel` dismisses it without a decision.',
        ),
      }),
      errors: ['action_already_resolved'],
    },
  },
})

declare module '../../index.ts' {
  interface Resources {
    readonly actions: typeof actions
  }
}
