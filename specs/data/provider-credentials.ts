import { described, type Infer, object, oneOf, optional, record, string } from '../dsl/schema.ts'
import type { WireFormat } from './providers.ts'

const word = (description: string) =>
  optional(described(string({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' }), description))

const secret = (description: string) =>
  optional(described(string({ minLength: 1, maxLength: 8192, pattern: '^[!-~]+$' }), description))

/** Settings of a connection: where the provider serves it, and under which names. Shown to its project. */
export const providerSettings = object(
  {
    resource: word('Azure OpenAI: name of the resource, the first label of its host.'),
    api_version: optional(
      described(
        string({ pattern: '^(preview|latest|20\\d{2}-\\d{2}-\\d{2}(-preview)?)$' }),
        'Azure OpenAI: a dated version of the API, which calls deployments by their own URLs. Default: the v1 API.',
      ),
    ),
    deployments: optional(
      described(
        record(string({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' }), { maxProperties: 200 }),
        'Azure OpenAI: name of the deployment of each model. Default: a deployment has the name of its model.',
      ),
    ),
    region: word('Amazon Bedrock: AWS region, such as `us-east-1`.'),
    api: optional(
      described(
        oneOf('converse', 'invoke'),
        "Amazon Bedrock: operation of chats. `invoke` sends the bodies of the model's vendor by InvokeModel, for Anthropic's and OpenAI's models and imported ones, of which Converse does not have all. Default: `converse`, and `invoke` for Claude by `/v1/messages`, whose requests Converse cannot express whole.",
      ),
    ),
    project_id: word('Vertex AI: id of the Google Cloud project.'),
    location: word('Vertex AI: location, such as `us-central1` or `global`.'),
    account_id: word('Cloudflare: id of the account.'),
  },
  { title: 'ProviderSettings', description: 'Where a cloud serves the models of a connection.' },
)

/** Credentials other than an API key. */
export const providerCredentials = object(
  {
    tenant_id: word('Azure OpenAI: id or domain of the Entra tenant.'),
    client_id: word('Azure OpenAI: id of the Entra application.'),
    client_secret: secret('Azure OpenAI: secret of the Entra application.'),
    authority: optional(
      described(
        string({ maxLength: 2048, pattern: '^https?://' }),
        'Azure OpenAI: URL of Entra in another cloud. Default: `https://login.microsoftonline.com`.',
      ),
    ),
    access_key_id: secret('Amazon Bedrock: id of the access key.'),
    secret_access_key: secret('Amazon Bedrock: the access key.'),
    session_token: secret('Amazon Bedrock: token of temporary credentials.'),
    service_account: optional(
      described(
        string({ minLength: 2, maxLength: 16_384 }),
        'Vertex AI: the key file of a service account, as the JSON text that Google issues.',
      ),
    ),
  },
  {
    title: 'ProviderCredentials',
    description: 'Credentials that replace `api_key` at a cloud. Stored encrypted and never shown.',
  },
)

/** Settings of a connection. */
export type ProviderSettings = Infer<typeof providerSettings>

/** Credentials of a connection. */
export type ProviderCredentials = Infer<typeof providerCredentials>

/** What the connections of an API declare. */
interface CloudFields {
  readonly settings: readonly (keyof ProviderSettings)[]
  /** Whether an API key may be given instead of credentials. */
  readonly takesKey: boolean
  readonly required: readonly (keyof ProviderCredentials)[]
  readonly optional: readonly (keyof ProviderCredentials)[]
}

/** Settings and credentials of APIs with others than a base URL and a key. */
export const cloudFields: Readonly<Partial<Record<WireFormat, CloudFields>>> = {
  azure: {
    settings: ['resource', 'api_version', 'deployments'],
    takesKey: true,
    required: ['tenant_id', 'client_id', 'client_secret'],
    optional: ['authority'],
  },
  bedrock: {
    settings: ['region', 'api'],
    takesKey: true,
    required: ['access_key_id', 'secret_access_key'],
    optional: ['session_token'],
  },
  vertex: {
    settings: ['project_id', 'location'],
    takesKey: false,
    required: ['service_account'],
    optional: [],
  },
  openai: { settings: ['account_id'], takesKey: true, required: [], optional: [] },
}
