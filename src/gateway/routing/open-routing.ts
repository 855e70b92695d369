import { routePrice } from '../call/accounting/route-price.ts'
import type { Route, Routes } from '../call/routes.ts'
import { ManagedList } from './managed-list.ts'
import type { ManagedProviders } from './managed-providers.ts'
import { ModelRegistry } from './model-registry.ts'
import { ProjectProviders, type ProjectProvidersParts } from './project-providers.ts'
import { ProjectRoutes } from './project-routes.ts'

/** How much a model takes in, and how long its answers may be, in tokens; 0 where it is not known. */
export interface ModelWindow {
  readonly context: number
  readonly longestAnswer: number
}

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

interface ContextWindowParts {
  readonly routes: Routes
  readonly own: Pick<ProjectProviders, 'of'>
}

/**
 * The window of a model as its first route has it: by the list of models, else by what the provider of the project's
 * connection said of it.
 *
 * @throws {ServiceError} what `Routes` refuses a model with; {StoreUnavailable}
 */
const modelWindow = async (
  { routes, own }: ContextWindowParts,
  project: string,
  model: string,
): Promise<ModelWindow> => {
  const [route] = await routes.resolve(project, model, 'chat')
  if (route === undefined) return { context: 0, longestAnswer: 0 }
  const row = routePrice(route)
  const context = row?.context || (await syncedWindow(own, project, route))
  return { context, longestAnswer: row?.max_output ?? 0 }
}

const syncedWindow = async (
  own: ContextWindowParts['own'],
  project: string,
  { connectionId, model }: Route,
): Promise<number> => {
  if (connectionId === null) return 0
  const { connections } = await own.of(project)
  const connection = connections.find(({ id }) => id === connectionId)
  return connection?.models?.get(model)?.context_window ?? 0
}
