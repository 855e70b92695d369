import { connectorType } from './connector-type.ts'

/** Any other service that uses an API key. */
export const apiKey = connectorType({
  id: 'api_key',
  name: 'API key',
  description: 'Any HTTP API that takes a key in a header. `config.base_url` names the API.',
  auth: 'api_key',
})

/** Any other service that uses OAuth 2. */
export const oauth2 = connectorType({
  id: 'oauth2',
  name: 'OAuth 2',
  description: 'Any OAuth 2 server with the authorization code grant. `config` names its endpoints and your client.',
  auth: 'oauth2',
})

/** Any other service, described by an OpenAPI document. */
export const http = connectorType({
  id: 'http',
  name: 'HTTP and OpenAPI',
  description:
    'Any HTTP API, its operations as tools by an OpenAPI document (`config.openapi`). The key may be left out.',
  auth: 'api_key',
})

/** A remote server of the Model Context Protocol. */
export const mcp = connectorType({
  id: 'mcp',
  name: 'Remote tool server',
  description:
    'A remote tool server (MCP) at `config.server_url`. Its authorization server is found by discovery, and a client is registered there unless `config` has one.',
  auth: 'oauth2',
})
