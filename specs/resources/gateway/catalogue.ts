import { publicAccess } from '#specs/access.ts'
import { answersBytes, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { countedList, providedList } from '#specs/dsl/lists.ts'
import {
  array,
  boolean,
  described,
  integer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from '#specs/dsl/schema.ts'

/** Types of models in the public catalogue, in the order of its sections. */
export const modelTypes = ['chat', 'reasoning', 'code', 'search', 'vision', 'image'] as const

/** Capabilities of models in the public catalogue. */
export const capabilityNames = [
  'reasoning',
  'vision',
  'code',
  'search',
  'image',
  'tools',
  'structuredOutput',
  'fileInput',
  'videoInput',
  'audioInput',
  'caching',
] as const

/** One of `modelTypes`. */
export type ModelType = (typeof modelTypes)[number]

/** One of `capabilityNames`. */
export type CapabilityName = (typeof capabilityNames)[number]

const flags = <const N extends string>(names: readonly N[]) => object(flagFields(names))

function flagFields<const N extends string>(names: readonly N[]): Readonly<Record<N, ReturnType<typeof boolean>>>
function flagFields(names: readonly string[]): Shape {
  return Object.fromEntries(names.map((name) => [name, boolean()]))
}

const model = object(
  {
    id: string(),
    name: string(),
    provider: string(),
    provider_name: string(),
    provider_logo_url: string(),
    type: described(oneOf(...modelTypes), 'First entry of `types`.'),
    types: array(oneOf(...modelTypes)),
    context_window: described(integer(), 'Context window in tokens; 0 if unknown.'),
    context_display: string(),
    description: string(),
    capabilities: flags(capabilityNames),
    pricing: object({
      input_per_million: described(
        number(),
        'Price in USD per million input tokens; 0 for a model that is not charged by tokens.',
      ),
      output_per_million: number({ description: 'Price in USD per million output tokens.' }),
      currency: string(),
      input_display: string(),
      output_display: string(),
      per_image: boolean(),
      per_image_usd: nullable(number()),
    }),
  },
  { title: 'CatalogueModel', description: 'A model with its price and capabilities.' },
)

const provider = object(
  {
    id: string(),
    name: string(),
    logo_url: string(),
    website: string(),
    docs_url: string(),
    model_count: integer(),
  },
  { title: 'CatalogueProvider', description: 'A model provider.' },
)

/** Cached for one hour in shared caches. */
const cached = ['cache-control', 'public, s-maxage=3600'] as const

const word = string({ maxLength: 256 })

const open = { method: 'GET', access: publicAccess, tagged: true } as const

/** The public catalogue, which needs no credential. */
export const catalogue = defineOperations('catalogue', {
  models: {
    ...open,
    summary: 'List the models of every provider',
    description: 'Returns prices and capabilities. The response may be cached for an hour.',
    path: '/api/models',
    query: {
      provider: optional(word),
      type: optional(oneOf(...modelTypes)),
      search: optional(word),
      capability: optional(array(oneOf(...capabilityNames), { maxItems: 32 })),
    },
    answer: isJsonResponse(providedList(model)),
    headers: [cached],
  },
  providers: {
    ...open,
    summary: 'List the model providers',
    description:
      'Returns every provider of the catalogue with the number of its models. The answer is the same for every caller and may be cached.',
    path: '/api/providers',
    answer: isJsonResponse(countedList(provider)),
    headers: [cached],
  },
  logo: {
    ...open,
    summary: "Retrieve a provider's logo",
    description: 'An SVG image.',
    path: '/api/providers/{id}/logo',
    answer: answersBytes('image/svg+xml'),
    errors: ['not_found'],
    headers: [
      cached,
      ['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'"],
      ['x-content-type-options', 'nosniff'],
    ],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly catalogue: typeof catalogue
  }
}
