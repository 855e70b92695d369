import { filledForm, requestForm } from '../../specs/ajv.ts'
import type { Answer } from '../../specs/answer.ts'
import type { FileParts, Operation } from '../../specs/declare.ts'
import { streamNames } from '../../specs/events.ts'
import type { JsonSchema, Shape } from '../../specs/schema.ts'
import { codeIn, codesOf, statusIn } from '../../specs/wire-errors.ts'
import type { GeneratedFile } from './generated-file.ts'
import { Components } from './openapi-components.ts'
import { envelopeSchemas } from './openapi-envelopes.ts'
import { webhooksObject } from './openapi-webhooks.ts'

/** `specs/openapi.json`: the whole interface as OpenAPI 3.1. */
export const openapiFile = (operations: readonly Operation[], version: string): GeneratedFile => {
  const components = new Components()
  // answers first: they get the plain names, bodies that differ get `…Input`
  for (const { answer } of operations) contentOf(answer, components)
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const [path] = operation.paths
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: operationObject(operation, components) }
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Troupe', version, description },
    servers: [{ url: '/' }],
    paths,
    webhooks: webhooksObject(components),
    components: { schemas: { ...components.all(), ...envelopeSchemas }, securitySchemes },
  }
  return { path: 'specs/openapi.json', text: `${JSON.stringify(document, null, 2)}\n` }
}

const description =
  'A multi-tenant agent backend and AI gateway. Every path under /v1 also answers under /api/v1. ' +
  'Every answer carries X-Request-Id.'

const securitySchemes = {
  secret_key: { type: 'http', scheme: 'bearer', description: 'A project secret key (csk_…), also in SERVICE_API_KEY.' },
  agent_key: { type: 'http', scheme: 'bearer', description: 'A key of one agent.' },
  client_token: { type: 'http', scheme: 'bearer', description: 'A client token (ect_…) of one end user.' },
  dashboard: { type: 'apiKey', in: 'cookie', name: 'troupe_session', description: 'The dashboard session.' },
}

const operationObject = (operation: Operation, components: Components): object => ({
  operationId: operation.id,
  summary: operation.summary,
  tags: [operation.id.split('.')[0]],
  ...(operation.paths.length > 1 ? { 'x-also-at': operation.paths.slice(1) } : {}),
  security: operation.access.kinds.map((kind) => (kind === 'public' ? {} : { [kind]: [] })),
  ...(operation.access.permission === undefined ? {} : { 'x-permission': operation.access.permission }),
  ...(operation.access.role === undefined ? {} : { 'x-role': operation.access.role }),
  parameters: parametersOf(operation),
  ...bodyOf(operation, components),
  responses: { ...goodResponse(operation, components), ...unchanged(operation), ...errorResponses(operation) },
})

const parametersOf = ({ params, query, idempotency, answer, attributed, tagged }: Operation): readonly object[] => [
  ...params.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  ...queryParameters(query),
  ...(idempotency === 'ignored'
    ? []
    : [header('Idempotency-Key', { type: 'string', pattern: '^[!-~]([ -~]{0,253}[!-~])?$' })]),
  ...(attributed ? attribution : []),
  ...(tagged ? [header('If-None-Match', { type: 'string' })] : []),
  ...(answer.kind === 'events' ? [header('X-Event-Names', { type: 'string', enum: ['short', 'long'] })] : []),
  ...(answer.kind === 'events' && answer.resumable ? [header('Last-Event-ID', { type: 'string' })] : []),
]

const header = (name: string, schema: JsonSchema): object => ({ name, in: 'header', required: false, schema })

const attribution = [
  header('X-Tenant-Id', { type: 'string', maxLength: 128 }),
  header('X-External-User-Id', { type: 'string', maxLength: 256 }),
]

const queryParameters = (query: Shape): readonly object[] =>
  Object.entries(query).map(([name, { json, presence }]) => ({
    name,
    in: 'query',
    required: presence === 'required',
    schema: json,
  }))

const bodyOf = ({ body, files, unknownFields }: Operation, components: Components): object => {
  if (body === null) return {}
  const schema = components.request(requestForm(body.json, unknownFields))
  const form = files && { 'multipart/form-data': { schema: formOf(body.json, files) } }
  const json = files === null || files.orJson ? { 'application/json': { schema } } : {}
  const needed = (body.json.required ?? []).length > 0 || (files !== null && needsFile(files))
  return { requestBody: { required: needed, content: { ...json, ...form } } }
}

/** Where nothing but a form is taken, its one file has to be there. */
const needsFile = ({ orJson, fields }: FileParts): boolean => !orJson && fields.length === 1

const formOf = (body: JsonSchema, files: FileParts): object => ({
  ...body,
  ...(needsFile(files) && { required: [...(body.required ?? []), ...files.fields] }),
  properties: {
    ...body.properties,
    ...Object.fromEntries(
      files.fields.map((name) => [name, { type: 'string', contentMediaType: 'application/octet-stream' }]),
    ),
  },
})

const goodResponse = ({ answer }: Operation, components: Components): object => {
  const status = answer.kind === 'choice' ? answer.json.status : answer.status
  return { [status]: { description: 'Success', content: contentOf(answer, components) } }
}

const unchanged = ({ tagged }: Operation): object =>
  tagged ? { 304: { description: 'The caller has it already: `If-None-Match` named its entity tag.' } } : {}

const contentOf = (answer: Answer, components: Components): object => {
  switch (answer.kind) {
    case 'json':
      return { 'application/json': { schema: components.answer(filledForm(answer.schema.json)) } }
    case 'events':
      // readers of OpenAPI 3.1 disagree whether a schema is of the whole stream or of one event: `x-events` says the latter
      return { 'text/event-stream': { 'x-events': eventsOf(answer.events, components) } }
    case 'bytes':
      return Object.fromEntries(answer.contentTypes.map((type) => [type, {}]))
    case 'choice':
      return Object.assign({}, ...[answer.json, ...answer.others].map((each) => contentOf(each, components)))
  }
}

/** By the names that the stream has them under. */
const eventsOf = (events: Shape, components: Components): object =>
  Object.fromEntries(
    Object.entries(events).map(([name, { json }]) => [streamNames[name] ?? name, components.answer(filledForm(json))]),
  )

const errorResponses = (operation: Operation): object => {
  const { envelope } = operation
  const byStatus = new Map<number, Set<string>>()
  for (const code of codesOf(operation)) {
    const status = statusIn(envelope, code)
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(codeIn(envelope, code)))
  }
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/Error_${envelope}` } } }
  return Object.fromEntries([
    ...Array.from(byStatus, ([status, codes]) => [status, { description: [...codes].join(', '), content }]),
    // the HTTP server says so before any of ours looks at the request
    [431, { description: 'The head of the request is larger than the server reads.' }],
  ])
}
