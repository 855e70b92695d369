import type { Routes } from '../call/routes.ts'
import { type ModelWindow, modelWindow } from './context-window.ts'
import { ManagedList } from './managed-list.ts'
import type { ManagedProviders } from './managed-providers.ts'
import { ModelRegistry } from './model-registry.ts'
import { ProjectProviders, type ProjectProvidersParts } from './project-providers.ts'
import { ProjectRoutes } from './project-routes.ts'

/** What routing is opened with. */
export interface RoutingParts extends ProjectProvidersParts {
  readonly managed: ManagedProviders
}

/** Who serves which model for whom. */
export interface Routing {
  readonly routes: Routes
  /** What projects brought along; notified of changes by the operations on them. */
  readonly own: ProjectProviders
  readonly managed: ManagedProviders
  readonly registry: ModelRegistry
  /** How much a model takes in. @throws {ServiceError} what `routes` refuses it with; {StoreUnavailable} */
  windowOf(project: string, model: string): Promise<ModelWindow>
  /** Ends connections to the server whose list is shown. */
  close(): Promise<void>
}

/** Routing over the installation's keys and what each project brings along. Reads nothing before the first request. */
export const openRouting = ({ managed, ...parts }: RoutingParts): Routing => {
  const own = new ProjectProviders(parts)
  const routes = new ProjectRoutes({ managed, own })
  const list = new ManagedList(managed.compatible, parts.now)
  const registry = new ModelRegistry({ managed, own, offered: list.models, now: parts.now })
  return {
    ...{ routes, own, managed, registry },
    windowOf: (project, model) => modelWindow({ routes, own }, project, model),
    close: () => list.close(),
  }
}
