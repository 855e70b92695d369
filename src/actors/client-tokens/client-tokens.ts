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
  open: (services) => ({
    useCases: clientTokenUseCases({
      ...services,
      clientTokens: authPort.of(services).clientTokens,
      findSession: (scope, id) => services.host.find(scope, sessionDefinition, id),
    }),
  }),
})
