import type { Refusal } from '../declared.ts'
import {
  answerWaiter,
  auditCreation,
  auditRevocation,
  change,
  connectionSetup,
  demandScopes,
  dismiss,
  dropGrant,
  keepEnd,
  keepError,
  keepFailure,
  keepRefusal,
  keepTest,
  keepWaiter,
  lose,
  takeCode,
  takeGrant,
  takeKey,
  takeSignIn,
} from './connection-actions.ts'
import { type ConnectionContext, failuresShown } from './connection-data.ts'

/** Events that every connection accepts unless it is revoked. */
const common = {
  authorized: { target: '#connection.exchanging', actions: takeCode },
  key_given: { target: '#connection.active', actions: takeKey },
  update: [{ guard: 'drops', target: '#connection.pending', actions: [...change, dropGrant] }, { actions: change }],
  tested: { actions: keepTest },
  revoke: { target: '#connection.revoking', actions: auditRevocation },
} as const

const renew = { guard: 'isRefreshOfThis', target: '#connection.refreshing' } as const
const waits = { actions: keepWaiter } as const
/** Calls that lack scopes wait for a sign-in; all others continue. */
const goesOn = [{ guard: 'lacksScopes', actions: keepWaiter }, { actions: answerWaiter('connected') }] as const
const demand = { guard: 'requiresScopes', actions: demandScopes } as const
const ended = { actions: answerWaiter('connection_ended') } as const

/** Handling of a refused key or token: it is refreshed if possible; otherwise the connection expires. */
const refusals = [
  { guard: 'isRefusalOfThis', target: '#connection.refreshing' },
  { guard: 'isLossOfThis', target: '#connection.expired', actions: keepRefusal },
] as const

const revoked: Refusal = { code: 'connection_revoked' }
const notFound: Refusal = { code: 'not_found' }
const notRefreshable: Refusal = {
  code: 'invalid_transition',
  message: 'There is nothing to refresh the connection with: its owner has to sign in.',
}
const isSettled: Refusal | null = null
const overAndDone = {
  authorized: revoked,
  key_given: revoked,
  update: revoked,
  refresh: revoked,
  refused: isSettled,
  tested: isSettled,
  revoke: isSettled,
} as const

const whileSigningIn = {
  oneOf: ['pending', 'active'],
  of: ({ held }: ConnectionContext) => (held ? 'active' : 'pending'),
  because: 'a grant stays in use while its owner signs in again',
} as const

const whileRetrying = {
  oneOf: ['active', 'error'],
  of: ({ attempts }: ConnectionContext) => (attempts >= failuresShown ? 'error' : 'active'),
  because: 'a few failed refreshes are not shown, since most of them are temporary',
} as const

/**
 * Access of a project, tenant or end user to a service. It is one actor, so a token is refreshed once however many
 * calls use it concurrently. A reminder refreshes it before it expires, or a call does that finds it too old. A failed
 * refresh is retried (`postponed`) and the grant is kept; a grant that the provider reports as gone is `expired`. A
 * service may require more scopes for a call (`scopes_required`): the grant stays in use for other calls, and the calls
 * that lack scopes wait for a sign-in.
 * Secrets are not in its log: effects keep them in a record, sealed, under the generation that the log names
 * (specs/decisions/0166-connections.md).
 */
export const connectionMachine = connectionSetup.createMachine({
  id: 'connection',
  context: ({ input }) => ({
    ...input,
    granted_scopes: null,
    missing_scopes: [],
    step_ups: 0,
    stepped_up_at_ms: null,
    provided: {},
    generation: input.held ? 1 : 0,
    is_refreshable: false,
    expires_at_ms: null,
    refresh_in_ms: null,
    refreshed_at_ms: null,
    tested_at_ms: null,
    error: null,
    attempts: 0,
    delay_ms: 0,
    is_lost: false,
    waiters: [],
    code: null,
  }),
  initial: 'beginning',
  on: { delete: '.erasing' },
  states: {
    beginning: {
      entry: auditCreation,
      always: [{ guard: 'isHeld', target: 'active' }, { target: 'pending' }],
    },
    pending: { meta: { status: 'pending', refuses: { refresh: notRefreshable } }, on: { ...common, wait: waits } },
    exchanging: {
      meta: { status: whileSigningIn },
      tags: 'busy',
      entry: { type: 'exchangeCode', params: {} },
      exit: { type: 'abort', params: { effects: ['exchangeCode'] } },
      on: {
        ...common,
        authorized: { target: 'exchanging', reenter: true, actions: takeCode },
        wait: waits,
        granted: { target: 'active', actions: takeSignIn },
        exchange_failed: [
          { guard: 'isRefreshable', target: 'refreshing', actions: keepError },
          { guard: 'isHeld', target: 'active', actions: keepError },
          { target: 'pending', actions: keepError },
        ],
      },
    },
    active: {
      initial: 'deciding',
      meta: {
        status: 'active',
        refuses: { refresh: ({ context }) => (context.is_refreshable ? null : notRefreshable) },
      },
      on: { ...common, wait: goesOn, refresh: renew, refused: refusals, scopes_required: demand },
      states: {
        deciding: { always: [{ guard: 'ends', target: 'scheduled' }, { target: 'resting' }] },
        resting: {},
        scheduled: {
          after: {
            renewal: [
              { guard: 'isRefreshable', target: '#connection.refreshing' },
              { target: '#connection.expired', actions: keepEnd },
            ],
          },
        },
      },
    },
    refreshing: {
      meta: { status: 'active' },
      tags: 'busy',
      entry: { type: 'refreshToken', params: ({ context }) => ({ generation: context.generation }) },
      exit: { type: 'abort', params: { effects: ['refreshToken'] } },
      on: {
        ...common,
        wait: goesOn,
        scopes_required: demand,
        granted: { target: 'active', actions: takeGrant },
        refresh_failed: [
          { guard: 'isEnded', target: 'expired', actions: keepFailure },
          { guard: 'isFinal', target: 'error', actions: keepFailure },
          { target: 'postponed', actions: keepFailure },
        ],
      },
    },
    postponed: {
      meta: { status: whileRetrying },
      after: { backoff: 'refreshing' },
      on: { ...common, wait: goesOn, refresh: renew, refused: refusals, scopes_required: demand },
    },
    error: {
      meta: { status: 'error' },
      entry: lose,
      on: { ...common, wait: waits, refresh: renew },
    },
    expired: {
      entry: [connectionSetup.assign({ held: false, is_refreshable: false }), lose],
      meta: { status: 'expired', refuses: { refresh: notRefreshable } },
      on: { ...common, wait: waits },
    },
    revoking: {
      meta: { status: 'revoked', refuses: overAndDone },
      entry: [dismiss, { type: 'revokeGrant', params: {} }],
      on: { wait: ended, grant_revoked: 'revoked' },
    },
    revoked: {
      meta: { status: 'revoked', refuses: overAndDone },
      after: { retention: 'erasing' },
      on: { wait: ended },
    },
    erasing: {
      type: 'final',
      meta: { refuses: { refresh: notFound, update: notFound, revoke: notFound, delete: notFound } },
      entry: [
        { type: 'abort', params: { effects: ['exchangeCode', 'refreshToken', 'revokeGrant'] } },
        dismiss,
        { type: 'eraseConnection', params: {} },
      ],
    },
  },
})
