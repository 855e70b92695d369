import type { Operation } from '#specs/dsl/declare.ts'
import type { GeneratedFile } from './generated-file.ts'
import { jsonText } from './json-text.ts'
import { Components } from './openapi-components.ts'
import { envelopeSchemas } from './openapi-envelopes.ts'
import { ErrorResponses } from './openapi-errors.ts'
import { contentOf, operationObject } from './openapi-operation.ts'
import { titleOf } from './title-of.ts'

/** `specs/openapi.json`: the whole interface as OpenAPI 3.1. */
export const openapiFile = (operations: readonly Operation[], version: string): GeneratedFile => {
  const components = new Components()
  const errors = new ErrorResponses()
  // answers first: they get the plain names, bodies that differ get `…Input`
  for (const { answer, id } of operations) contentOf(answer, components, titleOf(id))
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const [path] = operation.paths
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(operation, components, errors) }
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Troupe', version, description },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { ...components.all(), ...envelopeSchemas },
      responses: errors.all(),
      securitySchemes,
    },
  }
  return { path: 'specs/openapi.json', text: jsonText(document) }
}

const description = [
  'API of a multi-tenant agent backend and AI gateway.',
  'Every path under `/v1` also answers under `/api/v1`.',
  'Every response carries the header `X-Request-Id`.',
  'A request whose request line and headers together exceed 16 KB is refused with 431 and an empty body.',
  'Streams are server-sent events; their frames, and those of the WebSocket, are described in `/asyncapi.json`.',
].join(' ')

const securitySchemes = {
  secret_key: {
    type: 'http',
    scheme: 'bearer',
    description: 'Secret key of a project (`csk_…`). It may also be sent in the header `SERVICE_API_KEY`.',
  },
  agent_key: { type: 'http', scheme: 'bearer', description: 'Key with access to one agent.' },
  client_token: {
    type: 'http',
    scheme: 'bearer',
    description: 'Short-lived token of one end user (`ect_…`), safe to use in a browser.',
  },
  dashboard: {
    type: 'apiKey',
    in: 'cookie',
    name: 'troupe_session',
    description: 'Session of a signed-in member. Under an https:// `PUBLIC_URL` its name is `__Host-troupe_session`.',
  },
}
