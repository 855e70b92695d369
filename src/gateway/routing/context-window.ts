import { routePrice } from '../call/accounting/route-price.ts'
import type { Route, Routes } from '../call/routes.ts'
import type { ProjectProviders } from './project-providers.ts'

/** How much a model takes in, and how long its answers may be, in tokens; 0 where it is not known. */
export interface ModelWindow {
  readonly context: number
  readonly longestAnswer: number
}

/** What finding it needs. */
export interface ContextWindowParts {
  readonly routes: Routes
  readonly own: Pick<ProjectProviders, 'of'>
}

/**
 * The window of a model as its first route has it: by the list of models, else by what the provider of the project's
 * connection said of it.
 *
 * @throws {ServiceError} what `Routes` refuses a model with; {StoreUnavailable}
 */
export const modelWindow = async (
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
