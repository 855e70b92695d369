import type { UseCases } from '../../actors/use-cases/use-cases.ts'
import type { HttpHandler } from '../http-port.ts'
import { type ApiParts, Dispatcher } from './dispatcher.ts'
import { allEndpoints } from './endpoint.ts'
import { type SessionUpgradeParts, SessionUpgrades } from './session-upgrade.ts'

/** What the interface stands on, beside what is made here. */
export type OpenApiParts = Omit<ApiParts, 'endpoints' | 'upgrade'> &
  Omit<SessionUpgradeParts, 'endpoints'> & { readonly useCases: UseCases }

/** The handler that serves the whole declared interface: HTTP by `Dispatcher`, sockets by `SessionUpgrades`. */
export const openApi = (parts: OpenApiParts): HttpHandler => {
  const endpoints = allEndpoints(parts.useCases)
  const upgrades = new SessionUpgrades({ ...parts, endpoints })
  return new Dispatcher({ ...parts, endpoints, upgrade: (request) => upgrades.decide(request) })
}
