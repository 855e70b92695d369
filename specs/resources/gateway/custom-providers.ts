import { dashboardOnly } from '#specs/access.ts'
import { waits } from '#specs/call-timeout.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { namedList } from '#specs/dsl/lists.ts'
import {
  array,
  boolean,
  constant,
  defaulted,
  described,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
  union,
} from '#specs/dsl/schema.ts'
import { ownPrices } from '#specs/own-prices.ts'
import { keyLimits, poolWeight } from './routing-policy.ts'

const uuid = string({ format: 'uuid' })
const format = oneOf('openai', 'anthropic')
const key = string({ minLength: 1, maxLength: 4096, pattern: '^[!-~]+$' })
const baseUrl = described(
  string({ maxLength: 2048, pattern: '^https?://' }),
  'URL of the server up to `/v1`, without `/chat/completions`.',
)
const modelId = string({ minLength: 1, maxLength: 256, pattern: '^[!-~]+$' })

const providerFields = {
  id: uuid,
  name: string(),
  base_url: string(),
  api_format: format,
  is_active: boolean(),
  fallback_to_managed: boolean(),
  weight: poolWeight,
  ...keyLimits,
  prices: ownPrices,
  ...waits,
  created_at: timestamp(),
}

const provider = object(providerFields, { title: 'CustomProvider', description: 'A model server of your own.' })

const modelFields = { id: uuid, model_name: string(), display_name: string(), prices: ownPrices }
const listedModel = object(modelFields, { title: 'CustomModel', description: 'A model of a custom provider.' })
const model = object(
  { ...modelFields, is_active: boolean() },
  { title: 'CustomModelShown', description: 'A model of a custom provider.' },
)

const listed = object({ ...providerFields, custom_models: array(listedModel) }, { title: 'CustomProviderListed' })
const shown = object({ ...providerFields, custom_models: array(model) }, { title: 'CustomProviderShown' })

const models = array(
  object({
    name: described(string({ minLength: 1, maxLength: 256 }), 'Display name.'),
    modelId: described(modelId, 'Id of the model on the server.'),
    prices: optional(ownPrices),
  }),
  { maxItems: 500 },
)

const writable = {
  name: described(
    string({ minLength: 1, maxLength: 256 }),
    'Name of the provider. Requests refer to it as `name` or `name/model`; case is ignored. Several with one name share the calls of models that they have in common.',
  ),
  baseUrl,
  apiKey: described(
    optional(nullable(key)),
    'API key of the server. Stored encrypted and never shown. Null for a server that needs no key.',
  ),
  format,
  models: optional(models),
  prices: optional(ownPrices),
  fallbackToManaged: described(
    optional(boolean()),
    "Whether calls for one of its models are retried with the installation's own key when the provider fails. Default: false. Does not apply to calls that name the provider.",
  ),
  weight: optional(poolWeight),
  requestsPerMinute: optional(keyLimits.requests_per_minute),
  tokensPerMinute: optional(keyLimits.tokens_per_minute),
  firstByteTimeoutMs: optional(waits.first_byte_timeout_ms),
  idleTimeoutMs: optional(waits.idle_timeout_ms),
}

const all = '/api/projects/{project_id}/providers'
const one = `${all}/{provider_id}`
const shared = { envelope: 'custom_providers' } as const

/** A project's own model servers, whose models the gateway serves. */
export const customProviders = defineOperations('custom_providers', {
  create: {
    summary: 'Create a custom provider',
    description: 'Registers a model server of your own. Its models are served by the gateway.',
    method: 'POST',
    path: all,
    access: dashboardOnly('admin'),
    body: object(writable),
    answer: isJsonResponse(object({ provider }), { status: 201 }),
    ...shared,
  },
  list: {
    summary: 'List custom providers',
    description: 'Newest first, with their models.',
    method: 'GET',
    path: all,
    access: dashboardOnly('member'),
    answer: isJsonResponse(namedList('providers', listed)),
    ...shared,
  },
  get: {
    summary: 'Retrieve a custom provider',
    description: 'Returns its address and models. The key is never returned.',
    method: 'GET',
    path: one,
    access: dashboardOnly('member'),
    answer: isJsonResponse(object({ provider: shown })),
    ...shared,
  },
  update: {
    summary: 'Update a custom provider',
    description: 'No requests are routed to a provider with `isActive: false`.',
    method: 'PATCH',
    path: one,
    access: dashboardOnly('admin'),
    body: object({
      name: optional(writable.name),
      baseUrl: optional(baseUrl),
      isActive: optional(boolean()),
      format: optional(format),
      apiKey: writable.apiKey,
      fallbackToManaged: writable.fallbackToManaged,
      weight: writable.weight,
      requestsPerMinute: writable.requestsPerMinute,
      tokensPerMinute: writable.tokensPerMinute,
      prices: writable.prices,
      models: described(
        optional(models),
        "Complete list of the provider's models. A model that is already registered keeps its id.",
      ),
      firstByteTimeoutMs: writable.firstByteTimeoutMs,
      idleTimeoutMs: writable.idleTimeoutMs,
    }),
    answer: isJsonResponse(object({ provider })),
    ...shared,
  },
  delete: {
    summary: 'Delete a custom provider',
    description: 'Its models are deleted too.',
    method: 'DELETE',
    path: one,
    access: dashboardOnly('admin'),
    answer: isJsonResponse(object({ success: constant(true) })),
    ...shared,
  },
  test: {
    summary: 'Test a custom provider',
    description:
      'Sends a minimal chat completion to the server. When the server fails, the response has `success: false` and status 200.',
    method: 'POST',
    path: '/api/projects/{project_id}/custom-providers/test',
    access: dashboardOnly('admin'),
    body: object({
      provider_id: described(
        optional(string({ maxLength: 64 })),
        'Id of a registered provider. Without it, `base_url` is tested.',
      ),
      base_url: optional(baseUrl),
      api_format: defaulted(format, 'openai'),
      model: described(
        optional(modelId),
        'Model to call. Default: the first model of the provider, or `gpt-3.5-turbo`.',
      ),
      api_key: optional(key),
    }),
    answer: isJsonResponse(
      union([
        object(
          {
            success: constant(true),
            message: string(),
            latency_ms: integer(),
            response: object({
              model: string(),
              content: string(),
              usage: object({ prompt_tokens: integer(), completion_tokens: integer(), total_tokens: integer() }),
            }),
          },
          { title: 'CustomProviderAnswered' },
        ),
        object(
          {
            success: constant(false),
            error: string(),
            latency_ms: described(
              optional(integer()),
              'Latency in milliseconds; absent if the server did not answer in time.',
            ),
          },
          { title: 'CustomProviderFailed' },
        ),
      ]),
    ),
    ...shared,
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly customProviders: typeof customProviders
  }
}
