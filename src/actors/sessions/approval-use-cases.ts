import type { OfRound } from '#machines/action/action-data.ts'
import { actionDefinition } from '#machines/action/action-definition.ts'
import type { OpenCall } from '#machines/session/session-data.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { Commit, JsonObject, Scope, StoredEvent } from '#storage/index.ts'
import type { Idempotency, Principal, StreamAnswer } from '../call/call.ts'
import { nullWhenNotFound } from '../call/not-found.ts'
import type { UseCases } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { actorOf, type Caller } from '../records/audit-note.ts'
import { timestampOf } from '../records/row-times.ts'
import { contextOf, type Delivered, storedState } from '../runtime/index.ts'
import type { Host, Resident } from '../runtime/internal.ts'
import { inputValues } from './input-values.ts'
import { checkMayDecide } from './may-decide.ts'
import { streamPlace } from './session-agent.ts'
import { causeOf, checkSameRequest, endsTurn, findSession } from './session-use-cases.ts'
import { sessionView } from './session-views.ts'
import { editsOf } from './tools/edited-call.ts'
import type { TurnConfigs } from './turns/turn-config.ts'

type ApproveCall = Parameters<UseCases['sessions.approve']>[0]
type Approvals = Pick<UseCases, 'sessions.approve' | 'sessions.reject'>

export interface ApprovalParts extends Pick<Services, 'host' | 'now'> {
  readonly configs: Pick<TurnConfigs, 'read'>
}

/** Approvals and rejections of a session's tool calls. They are delivered to the actions, which notify the session. */
export const sessionApprovalUseCases = ({ host, now, configs }: ApprovalParts): Approvals => ({
  'sessions.approve': async (call) => {
    const { body, idempotency } = call
    const session = await findSession(host, call, call.params.session_id)
    await host.delivered(session.id)
    const action = await findAction(host, call.scope, { session, id: body.action_id })
    const before = await processedBefore(host, action, idempotency)
    if (before !== null) return { ...resumed(host, session, before), replayed: true }
    try {
      const result = await approveAll({ host, now, configs }, call, session)
      checkSameRequest(result, idempotency)
      return { ...resumed(host, session, standingAt(result.commit)), replayed: result.duplicate }
    } catch (error) {
      // a request with the same key may have been processed in the meantime
      const since = isResolved(error) ? await processedBefore(host, action, idempotency) : null
      if (since === null) throw error
      return { ...resumed(host, session, since), replayed: true }
    }
  },
  'sessions.reject': async (call) => {
    const { body, idempotency } = call
    const session = await findSession(host, call, call.params.session_id)
    await host.delivered(session.id)
    const action = await findAction(host, call.scope, { session, id: body.action_id })
    if ((await processedBefore(host, action, idempotency)) === null) {
      checkMayDecide({ principal: call.principal, decision: 'reject' }, session, pendingCall(session, body.action_id))
      const event = { type: 'reject', ...decisionOf(call, now()), ...roundOf(action), ...markOf(idempotency) }
      await resolve(host, action, { event, idempotency })
    }
    // deleted meanwhile: it has no status
    const current = await findSession(host, call, session.id).catch(nullWhenNotFound)
    const status = current === null ? 'completed' : sessionView(current).status
    return { id: session.id, action_id: action.id, resolution: 'rejected', status }
  },
})

/** Who decided and when, as fields of an action's event. `at` in ms since the epoch. */
export const decisionOf = (caller: Caller, at: number) => ({
  by: byOf(caller.principal),
  at: timestampOf(at),
  audit: { by: actorOf(caller), at },
})

const byOf = (principal: Principal): string => {
  if (principal.kind === 'secret_key' || principal.kind === 'agent_key') return principal.keyId
  if (principal.kind === 'dashboard') return principal.memberId
  return principal.kind === 'client_token' ? principal.user : principal.kind
}

/** The fingerprint against which a repeated Idempotency-Key is checked. */
export const markOf = (idempotency: Idempotency | null): { fingerprint?: string } =>
  idempotency === null ? {} : { fingerprint: idempotency.fingerprint }

/**
 * The answer to a tool server's request for input, as fields of the event: the number of the request, and the values.
 *
 * @throws {ServiceError} `invalid_field`, `missing_field`
 */
export const inputOf = (action: Resident, content: JsonObject | undefined): OfRound & { readonly content?: string } => {
  const { value, context } = storedState(action.state.snapshot)
  const known = contextOf(actionDefinition, { context })
  // the action itself refuses a late answer, so the form is not validated here
  if (value !== 'awaiting_input' && known.input !== null) return {}
  const values = inputValues(known, content)
  return { ...roundOf(action), ...(values !== undefined && { content: values }) }
}

/** The number of the input request that a rejection is for; empty when the action is not awaiting input. */
export const roundOf = (action: Resident): OfRound => {
  const { value, context } = storedState(action.state.snapshot)
  if (value !== 'awaiting_input') return {}
  return { round: Number(contextOf(actionDefinition, { context }).input?.round) }
}

const approval = (
  call: Caller & Pick<ApproveCall, 'idempotency'>,
  at: number,
  output: string | undefined,
): StoredEvent => ({
  type: 'approve',
  ...decisionOf(call, at),
  ...(output !== undefined && { output }),
  ...markOf(call.idempotency),
})

/**
 * Returns an action of this session. @throws {ServiceError} `not_found`, also for another session's action;
 * `actor_parked`.
 */
const findAction = async (
  host: Host,
  scope: Scope,
  { session, id }: { readonly session: Resident; readonly id: string },
): Promise<Resident> => {
  const action = await host.find(scope, actionDefinition, id).catch(nullWhenNotFound)
  if (action === null || contextOf(actionDefinition, action.state.snapshot).session_id !== session.id) {
    throw new ServiceError('not_found', { param: 'action_id', message: 'The session has no such action.' })
  }
  return action
}

/** The last sequence of the session's log when this request was first processed; null when it was not processed yet. */
const processedBefore = async (
  host: Host,
  action: Resident,
  idempotency: Idempotency | null,
): Promise<number | null> => {
  if (idempotency === null) return null
  const commit = await host.commitOf(action.id, idempotency.cause)
  if (commit === null) return null
  checkSameRequest({ commit, duplicate: true }, idempotency)
  // The commit can be stored before this host has processed it. Delivering the event again orders what follows after
  // it.
  await host.deliverTo(action, { event: commit.event, cause: commit.cause })
  await host.delivered(action.id)
  return standingAt(commit)
}

/** The last sequence of the session's log when this approval was given. */
const standingAt = (commit: Commit | null): number => {
  const after = commit?.event.after
  return typeof after === 'number' ? after : 0
}

const isResolved = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'action_already_resolved'

/** Approves all calls that the request names. @returns the delivery of the approval of its `action_id`. */
const approveAll = async (
  { host, now, configs }: ApprovalParts,
  call: ApproveCall,
  session: Resident,
): Promise<Delivered> => {
  const { body, scope, idempotency } = call
  const approvals = approvalsOf(call, session)
  const after = session.state.lastSequence
  let first: Delivered | undefined
  for (const { action_id, output } of approvals) {
    const action = await findAction(host, scope, { session, id: action_id })
    const edits = await editsOf(configs, action, action_id === body.action_id ? body.arguments : undefined)
    const content = action_id === body.action_id ? body.content : undefined
    const event = { ...approval(call, now(), output), ...edits, ...inputOf(action, content), after }
    const result = await resolve(host, action, { event, idempotency })
    first ??= result
  }
  return first ?? { commit: null, duplicate: false }
}

interface Approval {
  readonly action_id: string
  readonly output: string | undefined
}

/** The named call first, then the other calls of the same model answer for which `tool_results` has outputs. */
const approvalsOf = ({ principal, body }: ApproveCall, session: Resident): readonly Approval[] => {
  const { action_id: actionId, tool_results: results = [] } = body
  const outputs = new Map(results.map((result) => [result.action_id, result.output]))
  const main = pendingCall(session, actionId)
  const decider = { principal, decision: 'approve' } as const
  checkMayDecide(decider, session, main)
  if (main.kind === 'function' && !outputs.has(actionId)) {
    throw new ServiceError('tool_result_required', { param: 'tool_results' })
  }
  const others = [...outputs.keys()].filter((id) => id !== actionId)
  for (const id of others) checkMayDecide(decider, session, pendingCall(session, id, 'tool_results'))
  return [actionId, ...others].map((action_id) => ({ action_id, output: outputs.get(action_id) }))
}

const pendingCall = (session: Resident, actionId: string, param = 'action_id'): OpenCall => {
  const { calls } = contextOf(sessionDefinition, session.state.snapshot)
  const call = calls.find(({ action_id }) => action_id === actionId)
  if (call?.status === 'pending') return call
  throw new ServiceError(call === undefined && param !== 'action_id' ? 'not_found' : 'action_already_resolved', {
    param,
  })
}

/** Delivers the event to the action, and waits until the session has been notified. */
const resolve = async (
  host: Host,
  action: Resident,
  { event, idempotency }: { readonly event: StoredEvent; readonly idempotency: Idempotency | null },
): Promise<Delivered> => {
  const result = await host.deliverTo(action, { event, cause: causeOf(idempotency) })
  if (result.commit === null) throw new ServiceError('action_already_resolved', { param: 'action_id' })
  await host.delivered(action.id)
  return result
}

/** Streams the events that follow a decision, until the turn ends or pauses again. */
const resumed = (host: Host, session: Resident, after: number): Omit<StreamAnswer, 'replayed'> => ({
  stream: host.feed.follow(session.id, after, { at: 'idle', after: endsTurn, isFresh: true }),
  ...streamPlace(session),
})
