import { sessionDefinition } from '#machines/session/session-definition.ts'
import { clientTokens as operations } from '#specs/resources/client-tokens.ts'
import { authPort } from '../accounts/accounts.ts'
import { capability } from '../capability/capability.ts'
import { clientTokenUseCases } from './client-token-use-cases.ts'

/** Capability `client_tokens`: tokens for the browsers of tenants' end users. */
export const clientTokens = capability({
  name: 'client_tokens',
  operations,
  kinds: [],
  open: (house) => ({
    useCases: clientTokenUseCases({
      ...house,
      clientTokens: authPort.of(house).clientTokens,
      findSession: (scope, id) => house.host.find(scope, sessionDefinition, id),
    }),
  }),
})
