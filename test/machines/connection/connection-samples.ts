import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import type { MachineDefinition } from '#machines/definition.ts'
import type { JsonObject, StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = connectionDefinition

const by = { kind: 'secret_key', id: 'key_1' }

/** The input of a connection. */
const inputOf = (held = false): JsonObject => ({
  connection_id: 'con_1',
  connector: held ? 'api_key' : 'oauth2',
  auth: held ? 'api_key' : 'oauth2',
  name: 'Notes',
  owner_type: 'project',
  test_only: false,
  pattern: null,
  config: {},
  scopes: ['read'],
  key_last4: null,
  tool_count: 0,
  held,
  created_by: by,
})

const grant = { granted_scopes: ['read'], provided: {}, at: 1000 }

export const signsIn: StoredEvent = { type: 'authorized', code: 'sealed', scopes: ['read'], by }
export const granted = (generation = 1): StoredEvent => ({
  type: 'granted',
  ...{ generation, is_refreshable: true, expires_at_ms: 61_000, refresh_in_ms: 54_000, ...grant },
})
export const grantedOnce: StoredEvent = {
  type: 'granted',
  ...{ generation: 1, is_refreshable: false, expires_at_ms: 61_000, refresh_in_ms: 60_000, ...grant },
}
export const grantedForGood: StoredEvent = {
  type: 'granted',
  ...{ generation: 1, is_refreshable: false, expires_at_ms: null, refresh_in_ms: null, ...grant },
}
export const notExchanged: StoredEvent = { type: 'exchange_failed', error: { code: 'invalid_grant', message: 'No.' } }
export const refresh = (generation: number | null = 1): StoredEvent => ({ type: 'refresh', generation })
export const refused = (generation = 1): StoredEvent => ({ type: 'refused', generation })

const failure = { type: 'refresh_failed', ended: false, is_final: false, jitter: 0.5 } as const
export const unavailable: StoredEvent = { ...failure, error: { code: 'provider_unavailable', message: 'Later.' } }
export const ended: StoredEvent = { ...failure, ended: true, error: { code: 'invalid_grant', message: 'Over.' } }
export const clientRefused: StoredEvent = {
  ...failure,
  is_final: true,
  error: { code: 'invalid_client', message: 'Who?' },
}
export const key: StoredEvent = { type: 'key_given', generation: 2, key_last4: 'abcd', by }
export const rename: StoredEvent = { type: 'update', name: 'Other', changes: ['name'], by }
export const move: StoredEvent = {
  type: 'update',
  config: { base_url: 'https://x' },
  drops: true,
  changes: ['config'],
  by,
}
export const tested: StoredEvent = { type: 'tested', error: null, at: 2000 }
export const demands = (generation = 1, scopes: readonly string[] = ['write'], at = 3000): StoredEvent => ({
  ...{ type: 'scopes_required', generation, scopes: [...scopes], at },
})
export const wait: StoredEvent = { type: 'wait', actor: 'act_1' }
export const revoke: StoredEvent = { type: 'revoke', by }
export const gone: StoredEvent = { type: 'grant_revoked' }
export const deletion: StoredEvent = { type: 'delete' }
export const renewal: StoredEvent = { type: 'xstate.after.renewal.connection.active.scheduled' }
export const backoff: StoredEvent = { type: 'xstate.after.backoff.connection.postponed' }
export const retention: StoredEvent = { type: 'xstate.after.retention.connection.revoked' }

/** A new connection. */
export const fresh = (held = false): AnyMachineSnapshot => initialTransition(machine, inputOf(held))[0]

/** A connection by OAuth after these events. */
export const connection = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(), ...events)

/** Every event in every state of a connection that holds a key, or none. */
export const walkOf = (held: boolean): Walk => ({
  machine,
  input: inputOf(held),
  events: [
    ...[signsIn, granted(), grantedOnce, grantedForGood, notExchanged, refresh(), refused(), unavailable, ended],
    ...[clientRefused, key, rename, move, tested, wait, revoke, gone, deletion, renewal, backoff, retention],
    ...[demands(), demands(2)],
  ],
  kindOf: ({ value, context }) =>
    [
      pathOf(value),
      ...[context.held, context.is_refreshable, context.is_lost, context.waiters.length],
      context.missing_scopes.length,
    ].join(' '),
})
