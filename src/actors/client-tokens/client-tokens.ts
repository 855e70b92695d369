import { realtimeSecrets } from '#gateway/realtime/secrets/secret-budget.ts'
import { sessionDefinition } from '#machines/session/session-definition.ts'
import { clientTokens as operations } from '#specs/resources/client-tokens.ts'
import { realtimeSecrets as secretOperations } from '#specs/resources/gateway/realtime.ts'
import type { Scope } from '#storage/index.ts'
import { authPort } from '../accounts/accounts.ts'
import { capability } from '../capability/capability.ts'
import { clientTokenUseCases } from './client-token-use-cases.ts'
import { realtimeSecretUseCases } from './realtime-secret-use-cases.ts'

/** Capability `client_tokens`: tokens and ephemeral secrets for the browsers of end users. */
export const clientTokens = capability({
  name: 'client_tokens',
  operations: { ...operations, ...secretOperations },
  kinds: [realtimeSecrets],
  open: (services) => {
    const { clientTokens: minter } = authPort.of(services)
    const findSession = (scope: Scope, id: string) => services.host.find(scope, sessionDefinition, id)
    return {
      useCases: {
        ...clientTokenUseCases({ ...services, clientTokens: minter, findSession }),
        ...realtimeSecretUseCases({ ...services, clientTokens: minter }),
      },
    }
  },
})
