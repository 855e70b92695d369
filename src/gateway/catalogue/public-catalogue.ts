import { providers } from '#specs/data/providers.ts'
import type { QueryOf } from '#specs/index.ts'
import type { PriceTable } from '../prices/price-table.ts'
import { type CatalogueModel, type CatalogueProvider, catalogueModels, catalogueProviders } from './catalogue-rows.ts'
import { type ListedProvider, listedProviders } from './listed-providers.ts'

/** Filters of the list of models; a model has to match all of them. */
export type CatalogueFilter = QueryOf<'catalogue.models'>

/** A list of the catalogue. Equal filters get the same object, so that it is serialised only once. */
export interface ListResponse<T> {
  readonly object: 'list'
  readonly data: readonly T[]
  readonly total: number
}

/** A list of models with their providers. */
export interface ModelsResponse extends ListResponse<CatalogueModel> {
  readonly providers: readonly ListedProvider[]
}

/** Dependencies of the catalogue. */
export interface PublicCatalogueParts {
  readonly table: PriceTable
  /** Origin under which logos are served, such as `https://agents.example`; null: the origin of the list. */
  readonly origin: string | null
  readonly now: () => number
}

/** Number of cached lists; each may be some hundred kB. */
const keptAnswers = 64
const dayMs = 86_400_000

/** The public catalogue. Rows are rebuilt once a day, since models retire by date. */
export class PublicCatalogue {
  readonly #parts: PublicCatalogueParts
  #day = -1
  #all: readonly CatalogueModel[] = []
  #providers: ListResponse<CatalogueProvider> = counted([])
  readonly #answers = new Map<string, ModelsResponse>()

  constructor(parts: PublicCatalogueParts) {
    this.#parts = parts
  }

  models(filter: CatalogueFilter): ModelsResponse {
    this.#makeRows()
    const question = questionOf(filter)
    const kept = this.#answers.get(question)
    if (kept !== undefined) return kept
    const rows = this.#all.filter(matches(filter))
    const answer = { ...counted(rows), providers: listedProviders(rows, this.#parts.origin ?? '') }
    const [oldest] = this.#answers.keys()
    if (oldest !== undefined && this.#answers.size >= keptAnswers) this.#answers.delete(oldest)
    this.#answers.set(question, answer)
    return answer
  }

  providers(): ListResponse<CatalogueProvider> {
    this.#makeRows()
    return this.#providers
  }

  #makeRows(): void {
    const { table, origin, now } = this.#parts
    const at = now()
    const day = Math.floor(at / dayMs)
    if (day === this.#day) return
    this.#day = day
    this.#answers.clear()
    this.#all = catalogueModels(table, new Date(at).toISOString().slice(0, 10), origin ?? '')
    this.#providers = counted(catalogueProviders(this.#all, origin ?? ''))
  }
}

const counted = <T>(data: readonly T[]): ListResponse<T> => ({ object: 'list', data, total: data.length })

/** Returns a cache key; equal for filters that select the same models. */
const questionOf = ({ provider = '', type, search = '', capability = [] }: CatalogueFilter): string =>
  JSON.stringify([provider.toLowerCase(), type ?? '', search.toLowerCase(), [...new Set(capability)].sort()])

const matches = ({ provider, type, search, capability = [] }: CatalogueFilter): ((row: CatalogueModel) => boolean) => {
  const sought = provider === undefined || provider === '' ? undefined : providerId(provider)
  const text = search?.toLowerCase()
  return (row) =>
    (sought === undefined || row.provider === sought) &&
    (type === undefined || row.types.includes(type)) &&
    (text === undefined || [row.name, row.id, row.provider, row.description].some((each) => holds(each, text))) &&
    capability.every((name) => row.capabilities[name])
}

const holds = (where: string, text: string): boolean => where.toLowerCase().includes(text)

/** Returns a provider's id from its id or an alias, in any case. */
const providerId = (nameOrId: string): string => {
  const word = nameOrId.toLowerCase()
  return providers.find(({ aliases }) => aliases?.includes(word) === true)?.id ?? word
}
