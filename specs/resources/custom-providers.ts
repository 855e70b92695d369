import { dashboardOnly } from '../access.ts'
import { answersJson } from '../answer.ts'
import { defineOperations } from '../declare.ts'
import { namedList } from '../lists.ts'
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
} from '../schema.ts'

const uuid = string({ format: 'uuid' })
const format = oneOf('openai', 'anthropic')
const key = string({ minLength: 1, maxLength: 4096, pattern: '^[!-~]+$' })
const baseUrl = described(
  string({ maxLength: 2048, pattern: '^https?://' }),
  'Up to /v1, without /chat/completions at its end.',
)
const modelId = string({ minLength: 1, maxLength: 256, pattern: '^[!-~]+$' })

const providerFields = {
  id: uuid,
  name: string(),
  base_url: string(),
  api_format: format,
  is_active: boolean(),
  created_at: timestamp(),
}

const provider = object(providerFields, { title: 'CustomProvider' })

const modelFields = { id: uuid, model_name: string(), display_name: string() }
const listedModel = object(modelFields, { title: 'CustomModel' })
const model = object({ ...modelFields, is_active: boolean() }, { title: 'CustomModelShown' })

const listed = object({ ...providerFields, custom_models: array(listedModel) }, { title: 'CustomProviderListed' })
const shown = object({ ...providerFields, custom_models: array(model) }, { title: 'CustomProviderShown' })

const models = array(
  object({
    name: described(string({ minLength: 1, maxLength: 256 }), 'What people are shown.'),
    modelId: described(modelId, 'As the server knows it.'),
  }),
  { maxItems: 500 },
)

const writable = {
  name: described(
    string({ minLength: 1, maxLength: 256 }),
    'Also routes requests: the name alone, or name/model, in any case.',
  ),
  baseUrl,
  apiKey: described(optional(nullable(key)), 'Kept encrypted and never shown; null: the server takes none.'),
  format,
  models: optional(models),
}

const all = '/api/projects/{project_id}/providers'
const one = `${all}/{provider_id}`
const shared = { envelope: 'custom_providers' } as const

/** Servers that a project registered (interface "Custom providers"); their models appear in the gateway. */
export const customProviders = defineOperations('custom_providers', {
  create: {
    summary: 'Register a model server of your own',
    method: 'POST',
    path: all,
    access: dashboardOnly('admin'),
    body: object(writable),
    answer: answersJson(object({ provider }), { status: 201 }),
    ...shared,
  },
  list: {
    summary: 'List: CustomProvider, newest first, with its models',
    method: 'GET',
    path: all,
    access: dashboardOnly('member'),
    answer: answersJson(namedList('providers', listed)),
    ...shared,
  },
  get: {
    summary: 'Read: CustomProvider with its models',
    method: 'GET',
    path: one,
    access: dashboardOnly('member'),
    answer: answersJson(object({ provider: shown })),
    ...shared,
  },
  update: {
    summary: 'Change: CustomProvider; isActive false takes it out of routing',
    method: 'PATCH',
    path: one,
    access: dashboardOnly('admin'),
    body: object({
      name: optional(writable.name),
      baseUrl: optional(baseUrl),
      isActive: optional(boolean()),
      format: optional(format),
      apiKey: writable.apiKey,
      models: described(optional(models), 'Takes the place of all models; one that stays keeps its id.'),
    }),
    answer: answersJson(object({ provider })),
    ...shared,
  },
  delete: {
    summary: 'Delete: CustomProvider with all its models',
    method: 'DELETE',
    path: one,
    access: dashboardOnly('admin'),
    answer: answersJson(object({ success: constant(true) })),
    ...shared,
  },
  test: {
    summary: 'Send a server a minimal chat completion; trouble with it is an answer, not an error',
    method: 'POST',
    path: '/api/projects/{project_id}/custom-providers/test',
    access: dashboardOnly('admin'),
    body: object({
      provider_id: described(optional(string({ maxLength: 64 })), 'A registered provider; else base_url.'),
      base_url: optional(baseUrl),
      api_format: defaulted(format, 'openai'),
      model: described(optional(modelId), "Default: the registered provider's first model, else gpt-3.5-turbo."),
      api_key: optional(key),
    }),
    answer: answersJson(
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
            latency_ms: described(optional(integer()), 'Absent when the server did not answer in time.'),
          },
          { title: 'CustomProviderFailed' },
        ),
      ]),
    ),
    ...shared,
  },
})
