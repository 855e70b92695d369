import type { ProviderSpec } from '#specs/data/providers.ts'
import { providers } from '#specs/data/providers.ts'
import { type CapabilityName, capabilityNames, type ModelType } from '#specs/resources/gateway/catalogue.ts'
import type { PriceRow, PriceTable } from '../prices/price-table.ts'
import { contextDisplay, imageDisplay, perMillion, tokenDisplay } from './displays.ts'
import { logoUrl } from './listed-providers.ts'

/** One row of `GET /api/models`. */
export interface CatalogueModel {
  readonly id: string
  readonly name: string
  readonly provider: string
  readonly provider_name: string
  readonly provider_logo_url: string
  readonly type: ModelType
  readonly types: readonly ModelType[]
  readonly context_window: number
  readonly context_display: string
  readonly description: string
  readonly capabilities: Readonly<Record<CapabilityName, boolean>>
  readonly pricing: CataloguePricing
}

/** Prices in USD, as numbers for display; the cost of calls is computed from the exact prices. */
interface CataloguePricing {
  readonly input_per_million: number
  readonly output_per_million: number
  readonly currency: string
  readonly input_display: string
  readonly output_display: string
  readonly per_image: boolean
  readonly per_image_usd: number | null
}

/** One row of `GET /api/providers`. */
export interface CatalogueProvider {
  readonly id: string
  readonly name: string
  readonly logo_url: string
  readonly website: string
  readonly docs_url: string
  readonly model_count: number
}

/** Listed providers: all except the simulated one. */
const shownProviders: readonly ProviderSpec[] = providers.filter(({ id }) => id !== 'simulated')

/**
 * Returns the chat and image models available on `today` (`yyyy-mm-dd`), by provider and then by name. Speech models
 * are listed by the voice routes, and the catalogue has no type for embeddings.
 *
 * @param origin origin under which logos are served, such as `https://agents.example`; '' for relative paths.
 */
export const catalogueModels = (table: PriceTable, today: string, origin: string): readonly CatalogueModel[] =>
  shownProviders.flatMap((provider) =>
    [...(table.byProvider.get(provider.id)?.values() ?? [])]
      .filter((row) => isShown(row, today))
      .map((row) => catalogueModel(row, provider, origin)),
  )

/** Returns every provider with the number of its models in `models`. */
export const catalogueProviders = (models: readonly CatalogueModel[], origin: string): readonly CatalogueProvider[] =>
  shownProviders.map(({ id, name, website, docsUrl }) => ({
    id,
    name,
    logo_url: logoUrl(id, origin),
    website,
    docs_url: docsUrl,
    model_count: models.filter(({ provider }) => provider === id).length,
  }))

/**
 * Whether a model is listed. A model without a price for its output or images is left out, since 0 would mean that it
 * is free. Image models are billed per image here, so those priced only by tokens are left out.
 */
const isShown = ({ mode, output, image, retires }: PriceRow, today: string): boolean =>
  ((mode === 'image' && image !== undefined) || (mode === 'chat' && output !== undefined)) &&
  (retires === undefined || retires > today)

const catalogueModel = (row: PriceRow, provider: ProviderSpec, origin: string): CatalogueModel => {
  const types = typesOf(row)
  return {
    id: row.id,
    name: nameOf(row.id),
    provider: provider.id,
    provider_name: provider.name,
    provider_logo_url: logoUrl(provider.id, origin),
    type: types[0] ?? 'chat',
    types,
    context_window: row.context,
    context_display: contextDisplay(row.context),
    description: describe(row, provider),
    capabilities: flagsOf(row.capabilities),
    pricing: pricingOf(row),
  }
}

/** Returns the name without the path that some providers include in ids. */
const nameOf = (id: string): string => id.slice(id.lastIndexOf('/') + 1)

/**
 * Returns the types of a model: its specialisation first (images, search, code), then chat, then other abilities. A web
 * search offered as a tool is the capability `search`, not the type.
 */
const typesOf = ({ mode, id, capabilities }: PriceRow): readonly ModelType[] => {
  if (mode === 'image') return ['image']
  const types: ModelType[] = []
  if (/search|sonar|online/.test(id)) types.push('search')
  if (capabilities.includes('code')) types.push('code')
  types.push('chat')
  if (capabilities.includes('reasoning')) types.push('reasoning')
  if (capabilities.includes('vision')) types.push('vision')
  return types
}

const flagsOf = (capabilities: readonly string[]): Readonly<Record<CapabilityName, boolean>> => {
  const has = (name: CapabilityName): boolean => capabilities.includes(name)
  return {
    reasoning: has('reasoning'),
    vision: has('vision'),
    code: has('code'),
    search: has('search'),
    image: has('image'),
    tools: has('tools'),
    structuredOutput: has('structuredOutput'),
    fileInput: has('fileInput'),
    videoInput: has('videoInput'),
    audioInput: has('audioInput'),
    caching: has('caching'),
  }
}

const pricingOf = ({ input, output, image }: PriceRow): CataloguePricing => {
  const read = perMillion(input)
  const written = perMillion(output)
  return {
    input_per_million: read.toNumber(),
    output_per_million: written.toNumber(),
    currency: 'USD',
    input_display: tokenDisplay(read),
    output_display: image === undefined ? tokenDisplay(written) : imageDisplay(image),
    per_image: image !== undefined,
    per_image_usd: image === undefined ? null : Number(image),
  }
}

const describe = ({ mode, context, capabilities, retires }: PriceRow, provider: ProviderSpec): string => {
  const kind = mode === 'image' ? 'Image model' : 'Chat model'
  const window = context === 0 ? '' : ` with ${context.toLocaleString('en-US')} tokens of context`
  const known = capabilityNames.filter((name) => capabilities.includes(name) && words[name] !== undefined)
  const skills = known.length === 0 ? '' : ` Can do: ${known.map((name) => words[name]).join(', ')}.`
  const end = retires === undefined ? '' : ` The provider retires it on ${retires}.`
  return `${kind} of ${provider.name}${window}.${skills}${end}`
}

const words: Readonly<Partial<Record<CapabilityName, string>>> = {
  reasoning: 'reasoning',
  vision: 'seeing images',
  code: 'code',
  search: 'web search',
  tools: 'tool calls',
  structuredOutput: 'JSON by schema',
  fileInput: 'reading files',
  videoInput: 'watching video',
  audioInput: 'hearing audio',
}
