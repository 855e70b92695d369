import type { Routes } from '../calls/routes.ts'
import type { ManagedProviders } from './managed-providers.ts'
import { ProjectProviders, type ProjectProvidersParts } from './project-providers.ts'
import { ProjectRoutes } from './project-routes.ts'

/** What routing is opened with. */
export interface RoutingParts extends ProjectProvidersParts {
  readonly managed: ManagedProviders
}

/** Who serves which model for whom. */
export interface Routing {
  readonly routes: Routes
  /** What projects brought along; told of changes by the operations on them. */
  readonly own: ProjectProviders
  readonly managed: ManagedProviders
}

/** Routing over the installation's keys and what each project brings along. Reads nothing before the first request. */
export const openRouting = ({ managed, ...parts }: RoutingParts): Routing => {
  const own = new ProjectProviders(parts)
  return { routes: new ProjectRoutes({ managed, own }), own, managed }
}
