import { prices } from '../prices/prices.ts'
import type { CustomModel, SyncedModel } from './kinds.ts'
import type { ManagedProviders } from './managed-providers.ts'
import { providerNamed } from './model-names.ts'
import { catalogueRow, listedRow, type ModelRow } from './model-rows.ts'
import type { OwnConnection, OwnProvider, OwnProviders, ProjectProviders } from './project-providers.ts'

export interface ModelRegistryParts {
  readonly managed: Pick<ManagedProviders, 'of' | 'compatible'>
  readonly own: Pick<ProjectProviders, 'of'>
  /** Models listed by the installation's compatible server; empty while they are unknown. */
  readonly offered: () => Promise<readonly SyncedModel[]>
  /** ms since the epoch. */
  readonly now: () => number
}

/**
 * All models that a project can name, in the order of routing: those of its connections, of its custom providers, of
 * the installation. An id may occur several times; `effective` keeps the first of each.
 */
export class ModelRegistry {
  readonly #parts: ModelRegistryParts
  readonly #own = new WeakMap<OwnProviders, readonly ModelRow[]>()
  #service: { readonly day: string; readonly rows: readonly ModelRow[] } = { day: '', rows: [] }

  constructor(parts: ModelRegistryParts) {
    this.#parts = parts
  }

  /** Returns all rows of a project. @throws {StoreUnavailable} */
  async rows(project: string): Promise<readonly ModelRow[]> {
    const own = await this.#parts.own.of(project)
    const day = new Date(this.#parts.now()).toISOString().slice(0, 10)
    const service = [...(await this.#compatibleRows(day)), ...this.#serviceRows(day)]
    return [...this.#ownRows(own, day), ...service]
  }

  #ownRows(own: OwnProviders, day: string): readonly ModelRow[] {
    const known = this.#own.get(own)
    if (known !== undefined) return known
    const rows = [
      ...own.connections.flatMap((connection) => connectionRows(connection, day)),
      ...own.customs.flatMap(customRows),
    ]
    this.#own.set(own, rows)
    return rows
  }

  /** A compatible server offers the models that it lists, not those of OpenAI. */
  async #compatibleRows(day: string): Promise<readonly ModelRow[]> {
    if (this.#parts.managed.compatible === null) return []
    const origin = { source: 'service', connection_id: null, available: true } as const
    const listing = { provider: 'openai', origin, description: 'Listed by the configured OpenAI-compatible server.' }
    return (await this.#parts.offered()).map((model) => listedRow(model, listing, day))
  }

  #serviceRows(day: string): readonly ModelRow[] {
    if (this.#service.day === day) return this.#service.rows
    const { managed } = this.#parts
    const rows = prices.rows.flatMap((row) => {
      const available = managed.of(row.provider) !== undefined
      const isListed =
        row.provider === 'simulated' ? available : row.provider !== 'openai' || managed.compatible === null
      return isListed ? [catalogueRow(row, { source: 'service', connection_id: null, available }, day)] : []
    })
    this.#service = { day, rows }
    return rows
  }
}

/** The first row of each id. */
export const effective = (rows: readonly ModelRow[]): readonly ModelRow[] => {
  const seen = new Set<string>()
  return rows.filter(({ id }) => !seen.has(id) && seen.add(id))
}

/** Rows of a connection: the models of its applied model sync; without one, those of its provider in the price list. */
const connectionRows = ({ id, name, endpoint, models }: OwnConnection, day: string): readonly ModelRow[] => {
  const { provider } = endpoint
  const origin = { source: 'byok', connection_id: id, available: true } as const
  if (models === null) {
    const rows = [...(prices.byProvider.get(provider)?.values() ?? [])]
    return rows.map((row) => withPrice(catalogueRow(row, origin, day), endpoint.ownPrices))
  }
  const description = `Listed by ${providerNamed(provider)?.name ?? provider}, by the key of the connection ${name}.`
  const listing = { provider, origin, description }
  return [...models.values()].map((model) => withPrice(listedRow(model, listing, day), endpoint.ownPrices))
}

/** Marks a row as priced when the project has set a price. */
const withPrice = (row: ModelRow, own: object | null | undefined): ModelRow =>
  own === null || own === undefined ? row : { ...row, pricing_status: 'priced' }

/** Rows of a custom provider: its models, and its name as an alias of the first one. */
const customRows = (provider: OwnProvider): readonly ModelRow[] => {
  const { name, models, endpoint } = provider
  const [first] = models
  if (first === undefined) return []
  const rows = models.map((model) => {
    const description = `Served by the custom provider ${name}.`
    const row = customRow(provider, { id: model.model_name, name: labelOf(model), description })
    return withPrice(row, model.prices ?? endpoint.ownPrices)
  })
  const alias = { id: name, name, description: `The first model of the custom provider ${name}: ${labelOf(first)}.` }
  return [...rows, withPrice(customRow(provider, alias), first.prices ?? endpoint.ownPrices)]
}

const labelOf = ({ display_name, model_name }: CustomModel): string => display_name || model_name

const customRow = (
  { id: provider, createdAt }: OwnProvider,
  { id, name, description }: Pick<ModelRow, 'id' | 'name' | 'description'>,
): ModelRow => ({
  ...{ id, object: 'model', created: Math.floor(createdAt / 1000), owned_by: `custom:${provider}`, name },
  ...{ provider: `custom:${provider}`, source: 'custom', connection_id: null, type: 'chat', types: ['chat'] },
  ...{ context_window: 0, description, status: 'active', available: true, unavailable_reason: null },
  pricing_status: 'unknown',
})
