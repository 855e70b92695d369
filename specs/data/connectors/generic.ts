import { connectorType } from './connector-type.ts'

/** A service of the project's own that takes a key. */
export const apiKey = connectorType({
  id: 'api_key',
  name: 'API key',
  description: 'Any HTTP API that takes a key in a header. `config.base_url` names the API.',
  auth: 'api_key',
})

/** A service of the project's own whose users sign in. */
export const oauth2 = connectorType({
  id: 'oauth2',
  name: 'OAuth 2',
  description: 'Any OAuth 2 server with the authorization code grant. `config` names its endpoints and your client.',
  auth: 'oauth2',
})

/** A service of the project's own that an OpenAPI document describes. */
export const http = connectorType({
  id: 'http',
  name: 'HTTP and OpenAPI',
  description:
    'Any HTTP API, its operations as tools by an OpenAPI document (`config.openapi`). The key may be left out.',
  auth: 'api_key',
})
