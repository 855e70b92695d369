import { setup } from 'xstate'
import type { Status } from '#specs/statuses.ts'
import { type Notice, type Refusing, vocabulary } from '../declared.ts'
import { type At, type AuditLine, assignsOf, type Message, type Shown } from '../index.ts'
import {
  type ConnectionContext,
  type ConnectionEvent,
  type ConnectionInput,
  maxScopes,
  maxStepUps,
  maxWaiters,
  refreshDelaysMs,
  revokedForMs,
  stepUpWindowMs,
} from './connection-data.ts'

/** Types, actions, guards and delays of the connection's chart. */
export const connectionSetup = setup({
  types: {
    context: {} as ConnectionContext,
    input: {} as ConnectionInput,
    events: {} as ConnectionEvent,
    meta: {} as Refusing<ConnectionContext, ConnectionEvent> & Shown<ConnectionContext, Status<'connection'>>,
  },
  actions: {
    ...vocabulary,
    exchangeCode: (_: unknown, _params: Record<never, never>) => {},
    refreshToken: (_: unknown, _params: { generation: number }) => {},
    revokeGrant: (_: unknown, _params: Record<never, never>) => {},
    eraseConnection: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isHeld: ({ context }) => context.held,
    isRefreshable: ({ context }) => context.held && context.is_refreshable,
    isRefreshOfThis: ({ context, event }) =>
      event.type === 'refresh' && context.is_refreshable && isOfThis(context, event.generation),
    isRefusalOfThis: ({ context, event }) =>
      event.type === 'refused' && context.is_refreshable && isOfThis(context, event.generation),
    isLossOfThis: ({ context, event }) => event.type === 'refused' && isOfThis(context, event.generation),
    requiresScopes: ({ context, event }) =>
      event.type === 'scopes_required' && isOfThis(context, event.generation) && mayStepUp(context, event),
    lacksScopes: ({ context }) => context.missing_scopes.length > 0,
    isEnded: ({ event }) => event.type === 'refresh_failed' && event.ended,
    isFinal: ({ event }) => event.type === 'refresh_failed' && event.is_final,
    ends: ({ context }) => context.refresh_in_ms !== null,
    drops: ({ event }) => event.type === 'update' && event.drops === true,
  },
  delays: {
    renewal: ({ context }) => context.refresh_in_ms ?? 0,
    backoff: ({ context }) => context.delay_ms,
    retention: revokedForMs,
  },
})

/**
 * Whether an event concerns the current token. A token that was replaced meanwhile is no reason to replace the new one.
 */
const isOfThis = (context: ConnectionContext, generation: number | null): boolean =>
  context.held && (generation === null || generation === context.generation)

type Demand = Extract<ConnectionEvent, { readonly type: 'scopes_required' }>

const newScopes = ({ scopes }: ConnectionContext, event: Demand): readonly string[] =>
  event.scopes.filter((scope) => !scopes.includes(scope))

const stepUpsBefore = ({ step_ups, stepped_up_at_ms }: ConnectionContext, { at }: Demand): number =>
  stepped_up_at_ms !== null && at - stepped_up_at_ms < stepUpWindowMs ? step_ups : 0

/**
 * Whether another sign-in may help. It cannot when the latest one has already requested the scopes, and a service that
 * keeps requiring more is not followed.
 */
const mayStepUp = (context: ConnectionContext, event: Demand): boolean => {
  const added = newScopes(context, event).length
  const isBounded = context.scopes.length + added <= maxScopes && stepUpsBefore(context, event) < maxStepUps
  return added > 0 && isBounded
}

type On<Type extends ConnectionEvent['type']> = At<ConnectionContext, Extract<ConnectionEvent, { readonly type: Type }>>

const assigns = assignsOf<ConnectionContext, ConnectionEvent>()
const jitterPart = 0.2

type ConnectionNotice = Extract<Notice['event_type'], `connection.${string}`>

const noticeOf = (context: ConnectionContext, event_type: ConnectionNotice): Notice => ({
  event_type,
  data: {
    connection_id: context.connection_id,
    connector: context.connector,
    name: context.name,
    owner_type: context.owner_type,
    error: event_type === 'connection.expired' ? context.error : null,
  },
})

const toWaiters = ({ waiters }: ConnectionContext, type: 'connected' | 'connection_ended') => ({
  messages: waiters.map((to): Message => ({ to, event: { type } })),
})

/** Notifies webhooks that the connection does not work, once until it recovers. */
export const lose = connectionSetup.enqueueActions(({ enqueue, context }) => {
  if (context.is_lost) return
  enqueue({ type: 'notify', params: noticeOf(context, 'connection.expired') })
  enqueue.assign({ is_lost: true })
})

/** Marks the connection as working, and notifies webhooks and the actors that wait for it. */
const recover = connectionSetup.enqueueActions(({ enqueue, context }) => {
  if (context.is_lost) enqueue({ type: 'notify', params: noticeOf(context, 'connection.recovered') })
  enqueue.assign({ is_lost: false })
  // a refresh brings no further scopes
  if (context.missing_scopes.length > 0) return
  if (context.waiters.length > 0) enqueue({ type: 'send', params: toWaiters(context, 'connected') })
  enqueue.assign({ waiters: [] })
})

/** Notifies the actors that wait for the connection that it will never work again. */
export const dismiss = connectionSetup.enqueueActions(({ enqueue, context }) => {
  if (context.waiters.length > 0) enqueue({ type: 'send', params: toWaiters(context, 'connection_ended') })
  enqueue.assign({ held: false, waiters: [], code: null, error: null })
})

const audits = (done: string) =>
  ({
    type: 'audit',
    params: ({ event }: On<'authorized' | 'key_given' | 'update' | 'revoke'>): { lines: readonly AuditLine[] } => {
      const changes = event.type === 'update' ? event.changes : []
      return { lines: [{ action: `connection.${done}`, by: event.by, resource: 'connection', changes }] }
    },
  }) as const

/** Audits a creation. A connection that a turn prepares has no line, because no caller created it. */
export const auditCreation = {
  type: 'audit',
  params: ({ context: { created_by: by } }: { context: ConnectionContext }): { lines: readonly AuditLine[] } => ({
    lines: by === null ? [] : [{ action: 'connection.created', by, resource: 'connection' }],
  }),
} as const

/** Journals a failure, by which followers of the connection learn the result. */
const journalFailure = {
  type: 'journal',
  params: ({ event: { error } }: On<'exchange_failed' | 'refresh_failed'>) => ({
    events: [{ event_type: 'connection.failed', payload: error }],
  }),
} as const

const journalGrant = {
  type: 'journal',
  params: ({ event: { generation } }: On<'granted'>) => ({
    events: [{ event_type: 'connection.granted', payload: { generation } }],
  }),
} as const

/** Stores the code of a sign-in, which is then exchanged. */
export const takeCode = [
  assigns(({ event: { code, scopes } }: On<'authorized'>) => ({ code, scopes })),
  audits('authorized'),
] as const

/** Stores a granted token. */
export const takeGrant = [
  assigns(({ context, event }: On<'granted'>) => {
    const { type: _granted, at, granted_scopes, provided, ...grant } = event
    return {
      ...grant,
      granted_scopes: granted_scopes ?? context.granted_scopes,
      provided: { ...context.provided, ...provided },
      refreshed_at_ms: at,
      held: true,
      error: null,
      attempts: 0,
      code: null,
    }
  }),
  recover,
  journalGrant,
] as const

/** Stores a token that a sign-in granted, which has requested every scope that was missing. */
export const takeSignIn = [connectionSetup.assign({ missing_scopes: [] }), ...takeGrant] as const

/** Stores which scopes the service requires in addition. The grant stays, since it works for other calls. */
export const demandScopes = assigns(({ context, event }: On<'scopes_required'>) => {
  const before = stepUpsBefore(context, event)
  const added = newScopes(context, event)
  return {
    scopes: [...context.scopes, ...added],
    missing_scopes: [...context.missing_scopes, ...added],
    step_ups: before + 1,
    stepped_up_at_ms: before === 0 ? event.at : context.stepped_up_at_ms,
  }
})

/** Stores a key that the caller gave. */
export const takeKey = [
  assigns(({ event: { generation, key_last4 } }: On<'key_given'>) => ({
    generation,
    key_last4,
    held: true,
    error: null,
  })),
  recover,
  audits('connected'),
] as const

/** Stores why the code was not accepted; an earlier grant is kept. */
export const keepError = [
  assigns(({ event: { error } }: On<'exchange_failed'>) => ({ error, code: null })),
  journalFailure,
] as const

/** Stores why a refresh failed, and the delay before the next one. */
export const keepFailure = [
  assigns(({ context, event: { error, jitter } }: On<'refresh_failed'>) => {
    const delay = refreshDelaysMs[Math.min(context.attempts, refreshDelaysMs.length - 1)] ?? 0
    return { error, attempts: context.attempts + 1, delay_ms: delay + Math.round(delay * jitterPart * jitter) }
  }),
  journalFailure,
] as const

/** Stores that the service refused a key or token which cannot be renewed. */
export const keepRefusal = connectionSetup.assign({
  error: { code: 'refused', message: 'The service refused the key or token.' },
})

/** Stores that a token expired which cannot be renewed. */
export const keepEnd = connectionSetup.assign({
  error: { code: 'expired', message: 'The access token ended, and the provider gave none to refresh it with.' },
})

/** Applies an update of name, config, scopes or number of tools. */
export const change = [
  assigns(({ context, event }: On<'update'>) => ({
    name: event.name ?? context.name,
    config: event.config ?? context.config,
    scopes: event.scopes ?? context.scopes,
    tool_count: event.tool_count ?? context.tool_count,
  })),
  audits('updated'),
] as const

/** Drops the grant, because it is from another server. */
export const dropGrant = connectionSetup.assign({
  held: false,
  is_refreshable: false,
  expires_at_ms: null,
  refresh_in_ms: null,
  granted_scopes: null,
  missing_scopes: [],
  provided: {},
  code: null,
})

/** Stores the result of a test. */
export const keepTest = assigns(({ event: { at, error } }: On<'tested'>) => ({ tested_at_ms: at, error }))

const tooManyWait = { code: 'connection_busy', message: 'Too many calls wait for the connection already.' }

/** Adds an actor that waits until the connection is usable. Beyond `maxWaiters` the actor is sent an error instead. */
export const keepWaiter = connectionSetup.enqueueActions(({ enqueue, context: { waiters }, event }) => {
  if (event.type !== 'wait') return
  if (waiters.includes(event.actor)) return enqueue.assign({})
  if (waiters.length < maxWaiters) return enqueue.assign({ waiters: [...waiters, event.actor] })
  const message: Message = { to: event.actor, event: { type: 'connection_ended', error: tooManyWait } }
  enqueue({ type: 'send', params: { messages: [message] } })
})

/** Answers an actor that does not need to wait. */
export const answerWaiter = (type: 'connected' | 'connection_ended') =>
  ({
    type: 'send',
    params: ({ event: { actor } }: On<'wait'>): { messages: readonly Message[] } => ({
      messages: [{ to: actor, event: { type } }],
    }),
  }) as const

/** Audits the revocation by a caller. */
export const auditRevocation = audits('revoked')
