import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { defineResource } from '../resource.ts'
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
} from '../schema.ts'

const format = oneOf('openai', 'anthropic', 'google', 'perplexity', 'elevenlabs', 'deepgram', 'cartesia', 'spitch')

const provider = described(
  string({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
  'A provider of /api/providers, or a word of your own for another server; that one needs base_url.',
)

const baseUrl = described(
  string({ maxLength: 2048, pattern: '^https?://' }),
  "Up to the version segment; null or absent: the provider's own.",
)

const apiKey = described(
  string({ minLength: 1, maxLength: 4096, pattern: '^[!-~]+$' }),
  'Kept encrypted and never shown again.',
)

const apiFormat = described(format, "The wire format of the server. Absent: the provider's own, else openai.")

const fields = {
  name: string({ minLength: 1, maxLength: 256 }),
  provider,
  api_format: format,
  base_url: nullable(baseUrl),
  key_last4: described(string(), "The key's last four characters; empty for a short key."),
  is_active: described(defaulted(boolean(), true), 'False: routing passes it by.'),
  status: described(oneOf('untested', 'ok', 'failed'), 'What the last test showed.'),
  last_tested_at: nullable(timestamp()),
  model_sync_id: described(nullable(id('syn')), 'The model sync that stands: the connection lists its models.'),
  model_count: integer(),
}

/** Keys of a project at providers, BYOK (interface "Agent platform", provider-connections; interface-additions "provider connections"). */
export const providerConnections = defineResource('provider_connections', {
  path: '/v1/provider-connections',
  key: 'connection_id',
  idPrefix: 'pvc',
  title: 'ProviderConnection',
  fields,
  writable: ['name', 'provider', 'base_url', 'is_active'],
  writeOnly: { api_key: apiKey, api_format: optional(apiFormat) },
  access: secretKeyOrDashboard('admin'),
  operations: {
    list: { access: secretKeyOrDashboard('member') },
    create: { access: secretKeyOnly },
    get: { access: secretKeyOrDashboard('member') },
    update: {},
    delete: {},
  },
})

const trouble = object(
  {
    code: oneOf('key_refused', 'address_refused', 'timeout', 'unreachable', 'provider_error', 'unreadable', 'no_list'),
    message: string(),
  },
  { title: 'ProviderTrouble' },
)

const checked = {
  latency_ms: integer(),
  model_count: described(integer(), 'How many models the provider lists for this key.'),
  error: nullable(trouble),
}

/** Trying keys out. Trouble with the provider is an answer, not an error. */
export const providerConnectionTests = defineOperations('provider_connections', {
  validate: {
    summary: 'Try a key without keeping it',
    method: 'POST',
    path: '/v1/provider-connections/validate',
    access: secretKeyOrDashboard('admin'),
    body: object({
      name: optional(string({ maxLength: 256 })),
      provider,
      api_format: optional(apiFormat),
      base_url: optional(nullable(baseUrl)),
      api_key: apiKey,
    }),
    answer: answersJson(
      object({ valid: boolean(), provider: string(), api_format: format, ...checked }, { title: 'ProviderValidation' }),
    ),
  },
  test: {
    summary: 'Try the key of a saved connection; its status says what came of it',
    method: 'POST',
    path: '/v1/provider-connections/{connection_id}/test',
    access: secretKeyOrDashboard('admin'),
    answer: answersJson(
      object({ success: boolean(), status: oneOf('ok', 'failed'), ...checked }, { title: 'ProviderTest' }),
    ),
  },
})

const modelFields = { id: string(), name: string(), context_window: described(integer(), '0 when unknown.') }
const model = object(modelFields, { title: 'SyncedModel' })

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
        { title: 'ChangedModel' },
      ),
    ),
    model_count: described(integer(), 'Models of the connection once it is applied.'),
    applied_at: nullable(timestamp()),
    expires_at: described(nullable(timestamp()), 'When a preview that nobody applied is gone.'),
    created_at: timestamp(),
    updated_at: timestamp(),
  },
  { title: 'ModelSync' },
)

const syncs = '/v1/provider-connections/{connection_id}/model-syncs'

/** What a provider lists against what the connection has: shown first, then applied exactly as shown. */
export const modelSyncs = defineOperations('model_syncs', {
  create: {
    summary: 'Preview a model sync: the difference to what the provider lists now',
    method: 'POST',
    path: syncs,
    access: secretKeyOrDashboard('admin'),
    answer: answersJson(sync, { status: 201 }),
    errors: ['invalid_field', 'provider_error', 'provider_timeout', 'provider_unavailable'],
  },
  get: {
    summary: 'Read: ModelSync',
    method: 'GET',
    path: `${syncs}/{sync_id}`,
    access: secretKeyOnly,
    answer: answersJson(sync),
  },
  apply: {
    summary: 'Make the previewed models those of the connection; again, it changes nothing',
    method: 'POST',
    path: `${syncs}/{sync_id}/apply`,
    access: secretKeyOrDashboard('admin'),
    answer: answersJson(sync),
    errors: ['version_conflict'],
  },
})
