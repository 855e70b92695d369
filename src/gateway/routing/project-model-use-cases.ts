import { connectionTestUseCases } from './connection-test-use-cases.ts'
import { type ConnectionParts, connectionUseCases } from './connection-use-cases.ts'
import { customProviderUseCases } from './custom-provider-use-cases.ts'
import { modelSyncUseCases } from './model-sync-use-cases.ts'
import { modelUseCases } from './model-use-cases.ts'
import type { Routing } from './open-routing.ts'
import { routingPolicyUseCases } from './policy/routing-policy-use-cases.ts'

/** Use-cases of the models of a project, and of the connections and custom providers that add to them. */
export const projectModelUseCases = (
  { own, registry, routes }: Routing,
  parts: Omit<ConnectionParts, 'own'>,
  origin: string | null = null,
) => ({
  ...modelUseCases(registry, origin ?? ''),
  ...connectionUseCases({ ...parts, own }),
  ...connectionTestUseCases({ ...parts, own }),
  ...modelSyncUseCases({ ...parts, own }),
  ...customProviderUseCases({ ...parts, own }),
  ...routingPolicyUseCases(parts, { own, routes }),
})
