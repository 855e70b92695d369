import type { EstatePart } from './estate-part.ts'

const realtimeTest = 'test/e2e/gateway/realtime/relay.e2e.test.ts'

/** The estate of client tokens and ephemeral secrets, which are signed and not stored. */
export const clientTokens: EstatePart = {
  bodies: {
    'client_tokens.create': ({ id }, n) => ({
      ...{ tenant_id: id('tenant_id'), external_user_id: 'ada', session_id: id('session_id') },
      ...{ installation_ids: [id('installation_id')], expires_in: 600 + n },
    }),
    'realtime_secrets.create': ({ id }, n) => ({
      ...{ tenant_id: id('tenant_id'), external_user_id: 'ada', installation_id: id('installation_id') },
      expires_after: { seconds: 600 + n },
    }),
  },
  shownBy: {
    'client_tokens.create permissions': 'test/actors/accounts/client-tokens.test.ts',
    'realtime_secrets.create permissions': realtimeTest,
    'realtime_secrets.create budget_usd': realtimeTest,
    'realtime_secrets.create expires_after': realtimeTest,
  },
}
