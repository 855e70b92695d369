import { type ActionContext, actionFields } from '#machines/action/action-data.ts'
import { actionDefinition } from '#machines/action/action-definition.ts'
import { statusOf } from '#machines/index.ts'
import type { ResultOf } from '#specs/index.ts'
import { statuses } from '#specs/statuses.ts'
import type { Json, StoredRecord } from '#storage/index.ts'
import type { Principal } from '../call/call.ts'
import { readerOf } from '../call/speaker.ts'
import { timestampOf } from '../records/row-times.ts'
import { mask, sanitized, sanitizedText, truncated } from '../records/sanitize.ts'
import { shownFields } from '../records/schema.ts'
import { sanitizedOutput } from '../records/shown-event.ts'
import { contextOf, isObject, storedState } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import { editsBetween } from './argument-edits.ts'
import { actionExecution } from './schema.ts'

/** An action without its review, which is a record of its own. */
export type ActionView = Omit<ResultOf<'actions.get'>, 'review'>
type Action = ActionView

/** An action as the API returns it: secret-like arguments are masked and a long result is truncated. */
export const actionView = (resident: Resident): Action => {
  const { id, owner, touchedAt, state } = resident
  // a deleted action never runs; it can be deleted while it is read
  const status = statusOf(actionDefinition, state.snapshot) ?? 'rejected'
  const times = { created_at: owner.createdAt, updated_at: touchedAt }
  return viewOf({ id, tenant: owner.tenant, ...times }, contextOf(actionDefinition, state.snapshot), status)
}

/**
 * An action as the holder of this credential sees it: the arguments of a call of the caller's own tool are complete for
 * the caller, which has to run the tool with them (specs/decisions/0113-patterns-and-masks.md).
 */
export const actionViewFor = (principal: Principal, resident: Resident): Action => {
  const action = contextOf(actionDefinition, storedState(resident.state.snapshot))
  const view = actionView(resident)
  const runs = action.kind === 'function' && readerOf(principal) === 'caller'
  return runs ? { ...view, arguments: asArguments(JSON.parse(action.arguments)) } : view
}

/** The same view, built from the action's list row, which holds its context and state. */
export const actionRowView = (row: StoredRecord): Action =>
  viewOf(row, contextOf(actionDefinition, { context: row.data }), statusOfRow(row))

type Facts = Pick<StoredRecord, 'id' | 'tenant' | 'created_at' | 'updated_at'>

const viewOf = (row: Facts, action: ActionContext, status: Action['status']): Action => {
  return {
    id: row.id,
    ...shownFields(actionFields, action),
    risk_level: riskOf(action),
    status,
    arguments: argumentsOf(action),
    run_by: action.execute === null && callers.includes(action.kind) ? 'caller' : 'server',
    execute: executionOf(action),
    connection: requiredConnection(action.connection),
    input: requiredInput(action.input),
    edits: editsOf(action),
    tenant_id: row.tenant,
    result: action.output === null ? null : truncated(sanitizedOutput(action.output)),
    expires_at: timestampOf((waiting.has(status) ? row.updated_at : row.created_at) + action.expires_in_ms),
    created_at: timestampOf(row.created_at),
    updated_at: timestampOf(row.updated_at),
  }
}

/** States that an action leaves when its time is over, which begins with each of them. Nothing else changes it there. */
const waiting: ReadonlySet<Action['status']> = new Set(['pending_approval', 'awaiting_connection', 'awaiting_input'])

/** Kinds of calls that the caller runs. */
const callers: readonly ActionContext['kind'][] = ['function', 'caller']

const requiredConnection = (connection: ActionContext['connection']): Action['connection'] => {
  if (connection === null) return null
  const { connection_id, connector, authorize_url, expires_at } = connection
  return {
    connection_id: String(connection_id),
    connector: String(connector),
    authorize_url: typeof authorize_url === 'string' ? authorize_url : null,
    expires_at: typeof expires_at === 'string' ? expires_at : null,
  }
}

const requiredInput = (input: ActionContext['input']): Action['input'] => {
  if (input === null) return null
  const { server, server_url, mode, message, schema, url, secret_fields } = input
  return {
    server: String(server),
    server_url: String(server_url),
    mode: mode === 'url' ? 'url' : 'form',
    message: String(message),
    schema: isObject(schema) ? schema : null,
    url: typeof url === 'string' ? url : null,
    secret_fields: Array.isArray(secret_fields) ? secret_fields.map(String) : [],
  }
}

const argumentsOf = (action: ActionContext): Action['arguments'] => asArguments(sanitized(JSON.parse(action.arguments)))

const asArguments = (value: Json): Action['arguments'] => (isObject(value) ? value : { text: value })

const editsOf = ({ proposed_arguments, arguments: approved }: ActionContext): Action['edits'] =>
  proposed_arguments === null ? null : editsBetween(JSON.parse(proposed_arguments), JSON.parse(approved))

/** The request as shown to an approver: the sanitized URL, and header names with masked values. */
const executionOf = ({ execute }: ActionContext): Action['execute'] => {
  if (execute === null) return null
  const { type, url, method, timeout_ms, headers } = actionExecution(JSON.parse(execute))
  return {
    type,
    url: sanitizedText(url),
    ...(method !== undefined && { method }),
    ...(timeout_ms !== undefined && { timeout_ms }),
    ...(headers !== undefined && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, mask])) }),
  }
}

const risks = ['low', 'medium', 'high', 'critical'] as const
const riskOf = (action: ActionContext): Action['risk_level'] =>
  risks.find((risk) => risk === action.risk_level) ?? 'medium'

const statusOfRow = ({ data }: StoredRecord): Action['status'] =>
  statuses.action.find((status) => status === data.status) ?? 'pending_approval'
