import { secretKeyOrDashboard } from '../access.ts'
import { defineResource } from '../resource.ts'
import { defaulted, json, jsonObject, nullable, object, oneOf, optional, string, timestamp } from '../schema.ts'
import { expiresIn, riskLevel, toolResults } from '../tools.ts'

const reference = () => nullable(string({ maxLength: 128 }))

/** A risky tool call that waits for a person (interface "Action"). Arguments are shown with secrets masked. */
export const actions = defineResource('actions', {
  path: '/v1/actions',
  key: 'action_id',
  idPrefix: 'act',
  title: 'Action',
  fields: {
    tool: string({ minLength: 1, maxLength: 256 }),
    risk_level: defaulted(riskLevel, 'medium'),
    status: oneOf('pending_approval', 'approved', 'executing', 'executed', 'failed', 'rejected', 'expired'),
    arguments: jsonObject(),
    tenant_id: reference(),
    run_id: reference(),
    session_id: reference(),
    /** The tool's output, truncated; null until there is one. */
    result: nullable(json()),
    error: nullable(object({ code: string(), message: string() })),
    note: nullable(string()),
    /** Who decided: a key, a member or an end user. */
    resolved_by: nullable(string()),
    resolved_at: nullable(timestamp()),
    expires_at: timestamp(),
  },
  writable: ['tool', 'arguments', 'risk_level', 'tenant_id', 'run_id', 'session_id'],
  writeOnly: { expires_in: optional(expiresIn) },
  access: secretKeyOrDashboard('member'),
  operations: { create: { errors: ['not_found'] }, get: {} },
  machine: 'action',
  transitions: {
    approve: {
      summary: 'Approve an action; it is executed once',
      event: 'approve',
      body: object({ note: optional(string({ maxLength: 4096 })), tool_results: optional(toolResults) }),
      errors: ['action_already_resolved', 'tool_result_required'],
    },
    reject: {
      summary: 'Reject an action',
      event: 'reject',
      body: object({ reason: optional(string({ maxLength: 4096 })) }),
      errors: ['action_already_resolved'],
    },
  },
})
