import { secretKeyOrDashboard } from '../access.ts'
import { ownerFilters } from '../dsl/lists.ts'
import { defineResource } from '../dsl/resource.ts'
import {
  array,
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
} from '../dsl/schema.ts'
import { connectionFields, inputFields } from '../events/events.ts'
import { execution, expiresIn, riskLevel, toolResults } from '../tools.ts'

/** Approvals are answered by members with that role, and those above. */
const answering = { ...secretKeyOrDashboard('member'), changes: 'approver' } as const

const status = oneOf(
  'pending_approval',
  'awaiting_connection',
  'awaiting_input',
  'approved',
  'executing',
  'executed',
  'failed',
  'rejected',
  'expired',
)

const reference = () => nullable(string({ maxLength: 128 }))

/** A tool call that waits for a person's approval. Secrets in its arguments are masked. */
export const actions = defineResource('actions', {
  path: '/v1/actions',
  key: 'action_id',
  idPrefix: 'act',
  title: 'Action',
  description: 'A tool call that waits for an approval. It is executed once after it was approved.',
  fields: {
    tool: string({ minLength: 1, maxLength: 256, description: 'Name of the tool.' }),
    risk_level: defaulted(riskLevel, 'medium'),
    status: described(status, 'State of the action.'),
    arguments: described(jsonObject(), 'Arguments of the call. Secrets are masked.'),
    tenant_id: described(reference(), 'Tenant that the call is for.'),
    run_id: described(reference(), 'Run that made the call.'),
    session_id: described(reference(), 'Session that made the call.'),
    execute: described(
      nullable(execution),
      'Request that the server makes, once, when the action is approved. Without it you act on the approved action yourself and report with `actions.complete`.',
    ),
    connection: described(
      nullable(object(connectionFields)),
      'What the call waits for while it is `awaiting_connection`, or waited for. It goes on by itself.',
    ),
    input: described(
      nullable(object(inputFields)),
      'What the server of the tool requests while the action is `awaiting_input`, or requested last. `actions.approve` answers with `content`, `actions.reject` declines.',
    ),
    edits: described(
      nullable(
        array(
          object({
            path: string({ description: 'JSON Pointer into `arguments`.' }),
            before: described(optional(json()), 'Value that was proposed; absent for an added one.'),
            after: described(optional(json()), 'Value of the approval; absent for a removed one.'),
          }),
        ),
      ),
      'Changes that the approval made to the arguments. Secrets are masked. Null where it made none.',
    ),
    result: described(nullable(json()), 'Output of the tool, truncated. Null until the tool has answered.'),
    error: nullable(object({ code: string(), message: string() })),
    note: nullable(string({ description: 'Note of the person who decided.' })),
    resolved_by: nullable(string({ description: 'Key, member or end user that decided.' })),
    resolved_at: described(nullable(timestamp()), 'Time of the decision.'),
    expires_at: described(timestamp(), 'Time at which a pending action expires.'),
  },
  writable: ['tool', 'arguments', 'risk_level', 'tenant_id', 'run_id', 'session_id', 'execute'],
  writeOnly: { expires_in: optional(expiresIn) },
  ofTenants: 'user',
  access: secretKeyOrDashboard('member'),
  operations: {
    list: {
      description:
        'Newest first. `status=pending_approval` lists what waits for a decision. When there are more, `next_cursor` of a page is the `cursor` of the next one.',
      query: {
        status: optional(status),
        risk_level: optional(riskLevel),
        tool: optional(string({ minLength: 1, maxLength: 256 })),
        session_id: optional(string({ minLength: 1, maxLength: 128 })),
        run_id: optional(string({ minLength: 1, maxLength: 128 })),
        ...ownerFilters,
      },
    },
    create: {
      description: 'With `execute`, the server carries out the approved action. Without it, you do.',
      fields: [{ field: 'execute', by: ['secret_key'] }],
      errors: ['not_found'],
    },
    get: {},
  },
  machine: 'action',
  transitions: {
    approve: {
      summary: 'Approve an action',
      description:
        'The tool call is executed once, however often the action is approved. `tool_results` carries the output of a tool that you run. `arguments` replaces the proposed arguments.',
      event: 'approve',
      access: answering,
      body: object({
        note: optional(
          string({ maxLength: 4096, description: 'Note for the audit log, which keeps it as the reason.' }),
        ),
        tool_results: optional(toolResults),
        arguments: described(
          optional(jsonObject()),
          'Edited arguments. A value that the action shows masked stands for the stored one where it is sent back as it was shown.',
        ),
        content: described(
          optional(jsonObject()),
          'Values of the form that the server of the tool requests (`input.schema`). They go to that server.',
        ),
      }),
      errors: ['action_already_resolved', 'tool_result_required'],
    },
    complete: {
      summary: 'Complete an action',
      description:
        'Reports the outcome of an approved action that you carried out: `output` makes it `executed`, `error` makes it `failed`.',
      event: 'complete',
      body: object({
        output: optional(string({ description: 'Output of the tool.' })),
        error: described(
          optional(object({ code: string({ minLength: 1, maxLength: 128 }), message: string({ maxLength: 4096 }) })),
          'Why the tool gave no output.',
        ),
      }),
      errors: ['action_already_resolved', 'invalid_transition'],
    },
    reject: {
      summary: 'Reject an action',
      description:
        'The tool call is never executed. The model reads `reason`, and the audit log keeps it. For an action that is `awaiting_input`, the input is declined, and the model reads the answer of the server.',
      event: 'reject',
      access: answering,
      body: object({
        reason: optional(string({ maxLength: 4096 })),
        response: described(
          optional(oneOf('decline', 'cancel')),
          'Answer to a server that requests input: `decline` (the default) for a refusal, `cancel` for a dismissed question.',
        ),
      }),
      errors: ['action_already_resolved'],
    },
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly actions: typeof actions
  }
}
