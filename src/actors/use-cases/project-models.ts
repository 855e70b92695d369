import type { Routing } from '../gateway/routing/open-routing.ts'
import { customProviderUseCases } from './custom-providers.ts'
import { modelSyncUseCases } from './model-syncs.ts'
import { modelUseCases } from './models.ts'
import { connectionTestUseCases } from './provider-connection-tests.ts'
import { type ConnectionParts, connectionUseCases } from './provider-connections.ts'

/** The models of a project, and what it brings along to have more of them. */
export const projectModelUseCases = ({ own, registry }: Routing, parts: Omit<ConnectionParts, 'own'>) => ({
  ...modelUseCases(registry),
  ...connectionUseCases({ ...parts, own }),
  ...connectionTestUseCases({ ...parts, own }),
  ...modelSyncUseCases({ ...parts, own }),
  ...customProviderUseCases({ ...parts, own }),
})
