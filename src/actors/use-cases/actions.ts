import { ServiceError } from '../../../specs/errors.ts'
import type { ResultOf } from '../../../specs/index.ts'
import type { ActionContext, ActionInput } from '../../machines/action.ts'
import { actionDefinition } from '../../machines/index.ts'
import type { StoredEvent } from '../../storage/ports.ts'
import { newIdFor } from '../ids.ts'
import { storedState } from '../runtime/actor-state.ts'
import type { Host } from '../runtime/host.ts'
import type { Resident } from '../runtime/resident.ts'
import { isObject } from '../runtime/schema.ts'
import { sanitized, truncated } from '../sessions/sanitize.ts'
import { actionContext } from '../sessions/schema.ts'
import type { Idempotency } from './call.ts'
import { byOf, markOf } from './session-approvals.ts'
import { causeOf, checkSameRequest } from './sessions.ts'
import type { UseCases } from './use-cases.ts'

type ActionUseCases = Pick<UseCases, Extract<keyof UseCases, `actions.${string}`>>
type Action = ResultOf<'actions.get'>

/** What the action use-cases stand on. */
export interface ActionParts {
  readonly host: Host
  readonly now: () => number
}

const weekMs = 7 * 24 * 60 * 60 * 1000

/** Approval-gated actions (interface "Action"): read sanitized, approve and reject idempotently. */
export const actionUseCases = ({ host, now }: ActionParts): ActionUseCases => ({
  'actions.create': async (call) => {
    const { scope, body, idempotency } = call
    const id = newIdFor(call, 'act', host.newActorId)
    const owner = { project: scope.project, tenant: body.tenant_id ?? scope.tenant, user: null, createdAt: now() }
    const input: ActionInput = {
      action_id: id,
      owner: null,
      session_id: body.session_id ?? null,
      run_id: body.run_id ?? null,
      kind: 'caller',
      tool: body.tool,
      arguments: JSON.stringify(body.arguments),
      risk_level: body.risk_level,
      policy: 'at_most_once',
      expires_in_ms: body.expires_in === undefined ? weekMs : body.expires_in * 1000,
      config: null,
    }
    await host.create(actionDefinition, id, owner, input, causeOf(idempotency))
    return actionView(await host.find(scope, actionDefinition, id))
  },
  'actions.get': async (call) => actionView(await host.find(call.scope, actionDefinition, call.params.action_id)),
  'actions.approve': async (call) => {
    const { body, principal, idempotency } = call
    const action = await host.find(call.scope, actionDefinition, call.params.action_id)
    const output = body?.tool_results?.find(({ action_id }) => action_id === action.id)?.output
    const event = {
      type: 'approve',
      by: byOf(principal),
      ...(body?.note !== undefined && { note: body.note }),
      ...(output !== undefined && { output }),
      ...markOf(idempotency),
    }
    return resolved(host, action, event, idempotency)
  },
  'actions.reject': async (call) => {
    const { body, principal, idempotency } = call
    const action = await host.find(call.scope, actionDefinition, call.params.action_id)
    const reason = body?.reason === undefined ? {} : { reason: body.reason }
    return resolved(
      host,
      action,
      { type: 'reject', by: byOf(principal), ...reason, ...markOf(idempotency) },
      idempotency,
    )
  },
})

/** Repeating a decision changes nothing and answers the action as it is. */
const resolved = async (
  host: Host,
  action: Resident,
  event: StoredEvent,
  idempotency: Idempotency | null,
): Promise<Action> => {
  const told = await host.tell(action, { event, cause: causeOf(idempotency) })
  checkSameRequest(told, idempotency)
  await host.delivered(action.id)
  const current = await host.load(action.id)
  if (current === null) throw new ServiceError('not_found', { param: 'action_id' })
  return actionView(current)
}

/** An action as a read shows it: secret-like arguments masked, a long result cut. */
export const actionView = (resident: Resident): Action => {
  const { value, context } = storedState(resident.state.snapshot)
  const action = actionContext(context)
  return {
    id: resident.id,
    tool: action.tool,
    risk_level: riskOf(action),
    status: statusOf(value),
    arguments: argumentsOf(action),
    tenant_id: resident.owner.tenant,
    run_id: action.run_id,
    session_id: action.session_id,
    result: action.output === null ? null : truncated(action.output),
    error: action.error,
    note: action.note,
    expires_at: new Date(resident.owner.createdAt + action.expires_in_ms).toISOString(),
    created_at: new Date(resident.owner.createdAt).toISOString(),
    updated_at: new Date(resident.touchedAt).toISOString(),
  }
}

const argumentsOf = (action: ActionContext): Action['arguments'] => {
  const masked = sanitized(JSON.parse(action.arguments))
  return isObject(masked) ? masked : { text: masked }
}

const risks = ['low', 'medium', 'high', 'critical'] as const
const states = ['pending_approval', 'approved', 'executing', 'executed', 'failed', 'rejected', 'expired'] as const

const riskOf = (action: ActionContext): Action['risk_level'] =>
  risks.find((risk) => risk === action.risk_level) ?? 'medium'

const statusOf = (value: unknown): Action['status'] => states.find((state) => state === value) ?? 'pending_approval'
