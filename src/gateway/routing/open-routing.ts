import { routePrice } from '../call/accounting/route-price.ts'
import type { Route, Routes } from '../call/routes.ts'
import { ManagedList } from './managed-list.ts'
import type { ManagedProviders } from './managed-providers.ts'
import { ModelRegistry } from './model-registry.ts'
import { ProjectProviders, type ProjectProvidersParts } from './project-providers.ts'
import { ProjectRoutes } from './project-routes.ts'

/** Context window and maximum length of an answer of a model, in tokens; 0 when unknown. */
export interface ModelWindow {
  readonly context: number
  readonly longestAnswer: number
}

/** Dependencies of {openRouting}. */
export interface RoutingParts extends ProjectProvidersParts {
  readonly managed: ManagedProviders
}

/** Finds the routes and models of projects. */
export interface Routing {
  readonly routes: Routes
  /** Connections and custom providers of projects; operations that change them call `changed`. */
  readonly own: ProjectProviders
  readonly managed: ManagedProviders
  readonly registry: ModelRegistry
  /** Returns the context window of a model. @throws {ServiceError} the errors of `routes`; {StoreUnavailable} */
  windowOf(project: string, model: string): Promise<ModelWindow>
  /** Closes the connections to the server whose models are listed. */
  close(): Promise<void>
}

/**
 * Opens routing over the installation's keys, and the connections and custom providers of each project. Nothing is read
 * before the first request.
 */
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
 * Returns the context window of a model on its first route: from the price list, else from the model sync of the
 * project's connection.
 *
 * @throws {ServiceError} the errors of `Routes`; {StoreUnavailable}
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
