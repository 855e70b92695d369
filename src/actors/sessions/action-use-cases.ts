import type { ActionInput } from '#machines/action/action-data.ts'
import { actionDefinition } from '#machines/action/action-definition.ts'
import { runDefinition } from '#machines/run/run-definition.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import type { ToolCallContext } from '#machines/tool-call/tool-calls.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { ResultOf } from '#specs/index.ts'
import type { JsonObject, Scope, StoredEvent } from '#storage/index.ts'
import { isNotFound, orNotFound } from '../call/not-found.ts'
import type { UseCases, UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { contextOf, type Owner } from '../runtime/index.ts'
import { type Host, newIdFor, type Resident } from '../runtime/internal.ts'
import { type ActionView, actionView, actionViewFor } from './action-views.ts'
import { decisionOf, inputOf, markOf, roundOf } from './approval-use-cases.ts'
import { outputsOf } from './given-outputs.ts'
import { listActions } from './list-actions.ts'
import { summariesOf } from './reviews/action-reviews.ts'
import { causeOf, checkSameRequest } from './session-use-cases.ts'
import { editsOf } from './tools/edited-call.ts'
import type { ToolHeaders } from './tools/tool-headers.ts'
import type { TurnConfigs } from './turns/turn-config.ts'

type Action = ResultOf<'actions.get'>
type CreateCall = Parameters<UseCases['actions.create']>[0]
type CompleteCall = Parameters<UseCases['actions.complete']>[0]

export interface ActionParts extends Pick<Services, 'host' | 'now' | 'records'> {
  /**
   * @throws {ServiceError} `not_found` for an unknown tenant; `tenant_suspended` or `tenant_deleting` for an inactive
   * one.
   */
  readonly checkTenant: (project: string, tenant: string) => Promise<void>
  readonly toolHeaders: Pick<ToolHeaders, 'keepRequest'>
  readonly configs: Pick<TurnConfigs, 'read'>
}

const weekMs = 7 * 24 * 60 * 60 * 1000

/** Use-cases of approval-gated actions (`actions.*`). Reads are sanitized; approve and reject are idempotent. */
export const actionUseCases = (parts: ActionParts): UseCasesOf<'actions'> => ({
  'actions.create': (call) => createAction(parts, call),
  'actions.list': (call) => listActions(parts, call),
  'actions.get': async (call) => {
    const action = await parts.host.find(call.scope, actionDefinition, call.params.action_id)
    return reviewed(parts, call.scope, actionViewFor(call.principal, action))
  },
  'actions.approve': async (call) => {
    const { host, now } = parts
    const { body, idempotency, scope } = call
    const action = await host.find(scope, actionDefinition, call.params.action_id)
    const { own: output, others } = await outputsOf(host, { scope, action, results: body?.tool_results ?? [] })
    const event = {
      type: 'approve',
      ...decisionOf(call, now()),
      ...(body?.note !== undefined && { note: body.note }),
      ...(output !== undefined && { output }),
      ...(await editsOf(parts.configs, action, body?.arguments)),
      ...inputOf(action, body?.content),
      ...markOf(idempotency),
    }
    const approved = await resolved(parts, action, { event, idempotency, scope })
    const given = { type: 'approve', ...decisionOf(call, now()), ...markOf(idempotency) }
    for (const { action: other, output } of others)
      await host.deliverTo(other, { event: { ...given, output }, cause: causeOf(idempotency) })
    return approved
  },
  'actions.complete': async (call) => {
    const { host, now } = parts
    const { body, idempotency, scope } = call
    const action = await host.find(scope, actionDefinition, call.params.action_id)
    const event = { type: 'complete', ...decisionOf(call, now()), ...outcomeOf(body), ...markOf(idempotency) }
    return resolved(parts, action, { event, idempotency, scope })
  },
  'actions.reject': async (call) => {
    const { host, now } = parts
    const { body, idempotency, scope } = call
    const action = await host.find(scope, actionDefinition, call.params.action_id)
    const reason = body?.reason === undefined ? {} : { reason: body.reason }
    const response = body?.response === 'cancel' ? { response: body.response } : {}
    const refusal = { ...reason, ...response, ...roundOf(action) }
    const event = { type: 'reject', ...decisionOf(call, now()), ...refusal, ...markOf(idempotency) }
    return resolved(parts, action, { event, idempotency, scope })
  },
})

const createAction = async (parts: ActionParts, call: CreateCall): Promise<Action> => {
  const { host, now } = parts
  const { scope, body, idempotency } = call
  const waiter = await waiterOf(host, call)
  const tenant = waiter?.actor.owner.tenant ?? body.tenant_id ?? scope.tenant
  if (waiter !== null && body.tenant_id !== undefined && body.tenant_id !== null && body.tenant_id !== tenant) {
    throw invalidField('tenant_id', 'It belongs to another tenant.')
  }
  if (tenant !== null) await parts.checkTenant(scope.project, tenant)
  const id = newIdFor(call, 'act', host.newActorId)
  const owner = { project: scope.project, tenant, user: waiter?.actor.owner.user ?? scope.user, createdAt: now() }
  const input: ActionInput = {
    action_id: id,
    owner: null,
    session_id: body.session_id ?? null,
    run_id: body.run_id ?? null,
    ...(body.execute ? await executionOf(parts, call, owner) : executorOf(waiter?.holder, body.tool)),
    tool: body.tool,
    arguments: JSON.stringify(body.arguments),
    risk_level: body.risk_level,
    expires_in_ms: body.expires_in === undefined ? weekMs : body.expires_in * 1000,
  }
  await host.create({ kind: actionDefinition, id, owner, input, cause: causeOf(idempotency) })
  return reviewed(parts, scope, actionView(await host.find(scope, actionDefinition, id)))
}

/**
 * The run or session that the new action belongs to, with its tools; null for a standalone action. @throws
 * {ServiceError} `not_found`.
 */
const waiterOf = async (
  host: Host,
  { scope, body }: CreateCall,
): Promise<{ readonly actor: Resident; readonly holder: ToolCallContext } | null> => {
  const session =
    typeof body.session_id === 'string'
      ? await found(host.find(scope, sessionDefinition, body.session_id), 'session_id')
      : null
  if (typeof body.run_id === 'string') {
    const actor = await found(host.find(scope, runDefinition, body.run_id), 'run_id')
    return { actor, holder: contextOf(runDefinition, actor.state.snapshot) }
  }
  return session && { actor: session, holder: contextOf(sessionDefinition, session.state.snapshot) }
}

const found = (actor: Promise<Resident>, param: string): Promise<Resident> =>
  actor.catch((error: unknown) => {
    throw isNotFound(error) ? new ServiceError('not_found', { param, cause: error }) : error
  })

/**
 * Who runs the tool after approval: the server, where it runs this tool for the session or run; otherwise the caller.
 */
const executorOf = (
  holder: ToolCallContext | undefined,
  tool: string,
): Pick<ActionInput, 'kind' | 'policy' | 'config'> => {
  const known = holder?.tools[tool]
  if (holder === undefined || known === undefined) return { kind: 'caller', policy: 'at_most_once', config: null }
  // the config also has the parameters of a tool that the caller runs
  if (known.kind !== 'http' && known.kind !== 'builtin')
    return { kind: 'caller', policy: 'at_most_once', config: holder.config }
  return { kind: known.kind, policy: known.policy, config: holder.config }
}

/**
 * The HTTP request that the server makes itself. It is made at most once, like a call of a tool that declares no
 * `effect`.
 */
const executionOf = async (
  { toolHeaders }: ActionParts,
  { body }: CreateCall,
  owner: Owner,
): Promise<Pick<ActionInput, 'kind' | 'policy' | 'config' | 'execute'>> => {
  const request = { ...body.execute, name: body.tool, type: 'http' as const, url: body.execute?.url ?? '' }
  const kept = await toolHeaders.keepRequest(request, { owner, param: 'execute' })
  return { kind: 'http', policy: 'at_most_once', config: null, execute: JSON.stringify(kept) }
}

/** @throws {ServiceError} `invalid_field` when both `output` and `error` are sent, or neither. */
const outcomeOf = ({ output, error }: CompleteCall['body']): JsonObject => {
  if (output !== undefined && error === undefined) return { output }
  if (error !== undefined && output === undefined) return { error }
  throw invalidField('output', 'Send either `output` or `error`.')
}

/** Delivers a decision to the action and returns the action's current state. A repeated decision changes nothing. */
const resolved = async (
  parts: ActionParts,
  action: Resident,
  { event, idempotency, scope }: Pick<CompleteCall, 'idempotency' | 'scope'> & { readonly event: StoredEvent },
): Promise<Action> => {
  const { host } = parts
  const result = await host.deliverTo(action, { event, cause: causeOf(idempotency) })
  checkSameRequest(result, idempotency)
  await host.delivered(action.id)
  const current = orNotFound(await host.load(action.id), 'action_id')
  return reviewed(parts, scope, actionView(current))
}

/** An action with the summary of its review. */
const reviewed = async (parts: ActionParts, scope: Scope, action: ActionView): Promise<Action> => {
  const summary = await summariesOf(parts, scope, [action.id])
  return { ...action, review: summary(action.id) }
}
