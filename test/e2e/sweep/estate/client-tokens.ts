import type { EstatePart } from './estate-part.ts'

/** The estate of client tokens, which are signed and not stored. */
export const clientTokens: EstatePart = {
  bodies: {
    'client_tokens.create': ({ id }, n) => ({
      ...{ tenant_id: id('tenant_id'), external_user_id: 'ada', session_id: id('session_id') },
      ...{ installation_ids: [id('installation_id')], expires_in: 600 + n },
    }),
  },
  shownBy: { 'client_tokens.create permissions': 'test/actors/accounts/client-tokens.test.ts' },
}
