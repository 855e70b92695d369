import { secretKeyOrConsole, secretKeyOrDashboard } from '#specs/access.ts'
import { waits } from '#specs/call-timeout.ts'
import { providerCredentials, providerSettings } from '#specs/data/provider-credentials.ts'
import { wireFormats } from '#specs/data/providers.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '#specs/dsl/schema.ts'
import { ownPrices } from '#specs/own-prices.ts'
import { keyLimits, poolWeight } from './routing-policy.ts'

const format = oneOf(...wireFormats)

const provider = described(
  string({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
  'Id of a provider (`catalogue.providers`), or your own name for another server, which requires `base_url`.',
)

const baseUrl = described(
  string({ maxLength: 2048, pattern: '^https?://' }),
  "URL of the server up to the version segment. Default: the provider's own.",
)

const apiKey = described(
  string({ minLength: 1, maxLength: 4096, pattern: '^[!-~]+$' }),
  'API key for the provider. Stored encrypted and never shown. Required, unless `credentials` are given or the server needs none.',
)

const settings = nullable(providerSettings)
const credentials = optional(providerCredentials)

const apiFormat = described(format, "API format of the server. Default: the provider's own, or `openai`.")

const fields = {
  name: string({ minLength: 1, maxLength: 256 }),
  provider,
  api_format: format,
  base_url: nullable(baseUrl),
  settings,
  key_last4: described(string(), 'Last four characters of the key; empty if the key is too short.'),
  is_active: described(defaulted(boolean(), true), 'Whether requests are routed to the connection.'),
  fallback_to_managed: described(
    defaulted(boolean(), false),
    "Whether calls are retried with the installation's own key when the connection fails.",
  ),
  weight: defaulted(poolWeight, 1),
  ...keyLimits,
  prices: ownPrices,
  status: described(oneOf('untested', 'ok', 'failed'), 'Result of the last test.'),
  last_tested_at: nullable(timestamp()),
  model_sync_id: described(
    nullable(id('syn')),
    'Id of the latest applied model sync. Its models are the models of the connection.',
  ),
  model_count: integer(),
  ...waits,
}

/** A project's own keys for providers. */
export const providerConnections = defineResource('provider_connections', {
  path: '/v1/provider-connections',
  key: 'connection_id',
  idPrefix: 'pvc',
  title: 'ProviderConnection',
  description: 'Your own API key at a provider. The provider bills calls with it directly; they cost no credits.',
  fields,
  writable: [
    'name',
    'provider',
    'base_url',
    'settings',
    'is_active',
    'fallback_to_managed',
    'weight',
    'requests_per_minute',
    'tokens_per_minute',
    'prices',
    'first_byte_timeout_ms',
    'idle_timeout_ms',
  ],
  writeOnly: { api_key: optional(apiKey), credentials, api_format: optional(apiFormat) },
  access: secretKeyOrDashboard('admin'),
  operations: {
    list: { access: secretKeyOrDashboard('member') },
    create: {
      access: secretKeyOrConsole,
      description: 'Stores the key encrypted; no response contains it. Model calls of the project use it from then on.',
    },
    get: {
      access: secretKeyOrDashboard('member'),
      description: 'The key itself is never returned; `provider_connections.test` checks that the provider accepts it.',
    },
    update: {
      description:
        'Changes the fields that the body contains. A new key replaces the stored one and is used by the next call.',
    },
    delete: {
      description:
        'The key is deleted with its model syncs. Calls that began with it continue, and later calls do not use it.',
    },
  },
})

const trouble = object(
  {
    code: oneOf('key_refused', 'address_refused', 'timeout', 'unreachable', 'provider_error', 'unreadable', 'no_list'),
    message: string(),
  },
  { title: 'ProviderTrouble', description: 'An error of a provider.' },
)

const checked = {
  latency_ms: integer(),
  model_count: described(integer(), 'Number of models that the provider lists for this key.'),
  error: nullable(trouble),
}

/** Tests of provider keys. A failure of the provider is a result, not an error. */
export const providerConnectionTests = defineOperations('provider_connections', {
  validate: {
    summary: 'Validate a provider key',
    description:
      "Lists the provider's models with the key, without storing it. When the provider refuses the key or fails, the response has `valid: false` and status 200.",
    method: 'POST',
    path: '/v1/provider-connections/validate',
    access: secretKeyOrDashboard('admin'),
    body: object({
      name: optional(string({ maxLength: 256 })),
      provider,
      api_format: optional(apiFormat),
      base_url: optional(nullable(baseUrl)),
      settings: optional(settings),
      api_key: optional(apiKey),
      credentials,
    }),
    answer: isJsonResponse(
      object(
        { valid: boolean(), provider: string(), api_format: format, ...checked },
        { title: 'ProviderValidation', description: 'Result of validating a provider key.' },
      ),
    ),
  },
  test: {
    summary: 'Test a provider connection',
    description: "Lists the provider's models with the stored key and updates `status`.",
    method: 'POST',
    path: '/v1/provider-connections/{connection_id}/test',
    access: secretKeyOrDashboard('admin'),
    answer: isJsonResponse(
      object(
        { success: boolean(), status: oneOf('ok', 'failed'), ...checked },
        { title: 'ProviderTest', description: 'Result of a connection test.' },
      ),
    ),
  },
})

const modelFields = {
  id: string(),
  name: string(),
  context_window: described(integer(), 'Context window in tokens; 0 if unknown.'),
}
const model = object(modelFields, { title: 'SyncedModel', description: 'A model that the provider lists.' })

const sync = object(
  {
    id: id('syn'),
    connection_id: id('pvc'),
    status: oneOf('preview', 'applied'),
    added: array(model),
    removed: array(model),
    changed: array(
      object(
        { ...modelFields, previous: object({ name: string(), context_window: integer() }) },
        { title: 'ChangedModel', description: 'A model that changed, with its previous values.' },
      ),
    ),
    model_count: described(integer(), 'Number of models after the sync is applied.'),
    applied_at: nullable(timestamp()),
    expires_at: described(nullable(timestamp()), 'Time at which an unapplied preview is deleted.'),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  {
    title: 'ModelSync',
    description: 'Difference between the models of a connection and the models that the provider lists.',
  },
)

const syncs = '/v1/provider-connections/{connection_id}/model-syncs'

/** Updates of a connection's models from the provider's list, which are previewed and then applied. */
export const modelSyncs = defineOperations('model_syncs', {
  create: {
    summary: 'Create a model sync',
    description:
      "Compares the models of the connection with the provider's list and returns the difference. Nothing changes until the sync is applied.",
    method: 'POST',
    path: syncs,
    access: secretKeyOrDashboard('admin'),
    answer: isJsonResponse(sync, { status: 201 }),
    errors: ['invalid_field', 'provider_error', 'provider_timeout', 'provider_unavailable'],
  },
  get: {
    summary: 'Retrieve a model sync',
    description:
      'Returns the differences that the sync found between the models of the provider and those that are served.',
    method: 'GET',
    path: `${syncs}/{sync_id}`,
    access: secretKeyOrConsole,
    answer: isJsonResponse(sync),
  },
  apply: {
    summary: 'Apply a model sync',
    description:
      'Replaces the models of the connection with those of the preview. Applying a sync again has no effect.',
    method: 'POST',
    path: `${syncs}/{sync_id}/apply`,
    access: secretKeyOrDashboard('admin'),
    answer: isJsonResponse(sync),
    errors: ['version_conflict'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly providerConnections: typeof providerConnections
    readonly providerConnectionTests: typeof providerConnectionTests
    readonly modelSyncs: typeof modelSyncs
  }
}
