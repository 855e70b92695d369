import { publicKeyOrDashboard } from '#specs/access.ts'
import { answersEither, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { objectList } from '#specs/dsl/lists.ts'
import { array, boolean, described, integer, nullable, object, oneOf, optional, string } from '#specs/dsl/schema.ts'

const source = oneOf('service', 'byok', 'custom')

/** A model that a credential can use. */
const model = object(
  {
    id: string(),
    object: oneOf('model'),
    created: integer(),
    owned_by: string(),
    name: string(),
    description: string(),
    provider: string(),
    source,
    connection_id: nullable(string()),
    type: string(),
    types: array(string()),
    context_window: integer(),
    status: oneOf('active', 'deprecated'),
    available: described(boolean(), 'Whether the model can currently be called at the endpoint for its type.'),
    unavailable_reason: nullable(oneOf('provider_not_configured', 'no_endpoint')),
    pricing_status: oneOf('priced', 'nominal', 'unknown'),
  },
  { title: 'Model', description: 'A model that the gateway serves.' },
)

const word = string({ maxLength: 256 })

/** Query parameters of other APIs' SDKs for a list of models. They are ignored: the list is always complete. */
const pagesOfOthers = ['limit', 'order', 'after', 'after_id', 'before_id', 'beta', 'pageSize', 'pageToken']

/** Models of providers, provider connections and custom providers, in one list. */
export const models = defineOperations('models', {
  list: {
    summary: 'List models',
    description:
      "Returns OpenAI's model list with additional fields. Models that a configured key can reach come first; `?available=true` omits the others. Models of your own connections and custom providers are included. Requests with the header `anthropic-version`, such as those of Anthropic's SDKs, receive Anthropic's list format with chat models only, and those with `x-goog-api-key` Google's.",
    method: 'GET',
    path: '/v1/models',
    access: publicKeyOrDashboard,
    envelope: 'openai',
    sdkEnvelopes: ['anthropic', 'google'],
    query: {
      provider: optional(word),
      type: optional(word),
      available: optional(boolean()),
      source: optional(source),
      connection_id: optional(word),
    },
    passedOver: pagesOfOthers,
    answer: answersEither(isJsonResponse(objectList(model))),
  },
  get: {
    summary: 'Retrieve a model',
    description:
      "Takes a model id or `provider/model`. Requests with the header `anthropic-version` receive Anthropic's format, and those with `x-goog-api-key` Google's.",
    method: 'GET',
    path: '/v1/models/{model}',
    slashesInLast: true,
    access: publicKeyOrDashboard,
    envelope: 'openai',
    sdkEnvelopes: ['anthropic', 'google'],
    passedOver: ['beta'],
    answer: answersEither(isJsonResponse(model)),
    errors: ['model_not_found'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly models: typeof models
  }
}
