import type { SsrfGuard } from '../../tools/ssrf-guard.ts'
import type { Redaction } from '../calls/redaction.ts'
import type { Routes } from '../calls/routes.ts'
import { ManagedList } from './managed-list.ts'
import type { ManagedProviders } from './managed-providers.ts'
import { ModelRegistry } from './model-registry.ts'
import { ProjectProviders, type ProjectProvidersParts } from './project-providers.ts'
import { ProjectRoutes } from './project-routes.ts'
import { TurnModels } from './turn-models.ts'

/** What routing is opened with. */
export interface RoutingParts extends ProjectProvidersParts {
  readonly managed: ManagedProviders
  /** Connects to addresses that projects named. */
  readonly guard: Pick<SsrfGuard, 'dispatcher'>
  /** Policies by which turns and runs ask; nothing is redacted without them. */
  readonly redaction?: Pick<Redaction, 'policyOf'>
}

/** Who serves which model for whom. */
export interface Routing {
  readonly routes: Routes
  /** What projects brought along; told of changes by the operations on them. */
  readonly own: ProjectProviders
  readonly managed: ManagedProviders
  /** The same routes as sessions and runs call them. */
  readonly turns: TurnModels
  readonly registry: ModelRegistry
  /** Ends the connections of turns. */
  close(): Promise<void>
}

/** Routing over the installation's keys and what each project brings along. Reads nothing before the first request. */
export const openRouting = ({ managed, guard, redaction, ...parts }: RoutingParts): Routing => {
  const own = new ProjectProviders(parts)
  const routes = new ProjectRoutes({ managed, own })
  const turns = new TurnModels({ routes, guard, ...(redaction !== undefined && { redaction }) })
  const list = new ManagedList(managed.compatible, parts.now)
  const registry = new ModelRegistry({ managed, own, offered: list.models, now: parts.now })
  const close = async (): Promise<void> => {
    await Promise.all([turns.close(), list.close()])
  }
  return { routes, own, managed, turns, registry, close }
}
