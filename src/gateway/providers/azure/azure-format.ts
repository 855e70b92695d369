import type { AuthorizedRoute, TokenRequest } from '#gateway/call/authorization/authorization.ts'
import type { Route } from '#gateway/call/routes.ts'
import { wireModelOf } from '#gateway/call/routes.ts'
import { objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import type { ProviderSettings } from '#specs/data/provider-credentials.ts'
import type { EmbeddingFormat } from '../embedding-format.ts'
import { openAiEmbeddings } from '../openai/openai-embeddings.ts'
import { openAi } from '../openai/openai-format.ts'
import { openAiImages } from '../openai/openai-images.ts'
import type { Headers, ProviderFormat } from '../provider-format.ts'

/**
 * Azure's OpenAI API: OpenAI's bodies at the address of a resource, where a model is a deployment. The v1 API names the
 * deployment in the body; a dated version names it in the URL.
 */
const azureHeaders: ProviderFormat['headers'] = ({ apiKey }): Headers =>
  apiKey === null || apiKey.startsWith('{') ? {} : { 'api-key': apiKey }

type Deployed = Pick<Route, 'model' | 'wireModel' | 'settings'>

const azurePath = (route: Deployed, operation: string): string => {
  const version = route.settings?.api_version
  if (!isDated(version)) return `/v1${operation}${versionQuery(version)}`
  return `/deployments/${encodeURIComponent(wireModelOf(route))}${operation}${versionQuery(version)}`
}

const isDated = (version: string | undefined): boolean => version !== undefined && /^\d/.test(version)

const versionQuery = (version: string | undefined): string =>
  version === undefined ? '' : `?api-version=${encodeURIComponent(version)}`

const embeddings: EmbeddingFormat = {
  ...openAiEmbeddings,
  requests: (request, route) =>
    openAiEmbeddings.requests(request, route).map((one) => ({
      ...one,
      path: azurePath(route, one.path),
      headers: { 'content-type': 'application/json', ...azureHeaders(route) },
    })),
}

/** The token of an Entra application by its secret. The resource of a token differs by the version of the API. */
const entraToken = (credentials: string, settings: ProviderSettings | undefined): TokenRequest => {
  const fields = objectOf(parseJson(credentials))
  const authority = (textOf(fields.authority) || 'https://login.microsoftonline.com').replace(/(?<!\/)\/+$/, '')
  const scope = isDated(settings?.api_version)
    ? 'https://cognitiveservices.azure.com/.default'
    : 'https://ai.azure.com/.default'
  return {
    key: `${scope} ${credentials}`,
    url: `${authority}/${encodeURIComponent(textOf(fields.tenant_id))}/oauth2/v2.0/token`,
    form: async () => ({
      ...{ grant_type: 'client_credentials', scope },
      ...{ client_id: textOf(fields.client_id), client_secret: textOf(fields.client_secret) },
    }),
  }
}

const authorize: ProviderFormat['authorize'] = async ({ apiKey, settings }: AuthorizedRoute, _, tokenOf) =>
  apiKey?.startsWith('{') === true ? { authorization: `Bearer ${await tokenOf(entraToken(apiKey, settings))}` } : {}

/** Azure OpenAI. */
export const azure: ProviderFormat = {
  headers: azureHeaders,
  authorize,
  path: azurePath,
  // the resource, its `/openai`, and the address of the v1 API are all in use
  address: (url) => `${url.replace(/\/openai(?:\/v1)?$/, '')}/openai`,
  chat: null,
  embeddings,
  realtime: { path: (model) => `/v1/realtime?model=${encodeURIComponent(model)}` },
  images: openAiImages({ pathOf: azurePath, headersOf: azureHeaders }),
  ...(openAi.imageLimits !== undefined && { imageLimits: openAi.imageLimits }),
  models: {
    path: (_, settings) => {
      const version = settings?.api_version
      return `${isDated(version) ? '' : '/v1'}/models${versionQuery(version)}`
    },
    rows: (json) => openAi.models?.rows(json) ?? null,
    model: (row) => ({ id: row.id, name: row.id }),
  },
}
