import { filledForm, requestForm } from '#specs/dsl/ajv.ts'
import type { Answer, BytesAnswer } from '#specs/dsl/answer.ts'
import type { FileParts, Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema, Schema, Shape } from '#specs/dsl/schema.ts'
import { streamNames } from '#specs/events/events.ts'
import type { Components } from './openapi-components.ts'
import type { ErrorResponses } from './openapi-errors.ts'
import { parametersOf } from './openapi-parameters.ts'
import { webhookCallbacks } from './openapi-webhooks.ts'
import { fieldSentences } from './pages/access-page.ts'
import { withoutDefaults } from './spoken-defaults.ts'
import { titleOf } from './title-of.ts'

/** Returns the object of one operation. Its schemas are added to `components`, its errors to `errors`. */
export const operationObject = (operation: Operation, components: Components, errors: ErrorResponses): object => ({
  operationId: operation.id,
  summary: operation.summary,
  ...descriptionOf(operation),
  tags: [operation.id.split('.')[0]],
  ...(operation.paths.length > 1 ? { 'x-also-at': operation.paths.slice(1) } : {}),
  security: operation.access.kinds.map((kind) => (kind === 'public' ? {} : { [kind]: [] })),
  ...(operation.access.permissions === undefined ? {} : { 'x-permission': operation.access.permissions.join(' or ') }),
  ...(operation.access.role === undefined ? {} : { 'x-role': operation.access.role }),
  ...(operation.fields.length === 0 ? {} : { 'x-field-access': operation.fields }),
  parameters: parametersOf(operation),
  ...bodyOf(operation, components),
  ...(operation.id === 'webhooks.create' && { callbacks: webhookCallbacks(components) }),
  responses: {
    ...goodResponse(operation, components),
    ...nothing(operation),
    ...unchanged(operation),
    ...errors.of(operation),
  },
})

/** The declared description, and a sentence for each rule on fields that only some callers may set. */
const descriptionOf = ({ description, fields }: Operation): object => {
  const sentences = [...(description === null ? [] : [description]), ...fieldSentences(fields)]
  return sentences.length === 0 ? {} : { description: sentences.join('\n\n') }
}

const bodyOf = ({ id, body, files, unknownFields }: Operation, components: Components): object => {
  if (body === null) return {}
  const title = titleOf(id)
  const fields = withoutDefaults(requestForm(body.json, unknownFields))
  const form = files && { 'multipart/form-data': { schema: components.inline(formOf(fields, files)) } }
  const takesJson = files === null || files.orJson
  const json = takesJson && {
    'application/json': { schema: components.request(fields, `${title}Request`) },
  }
  const needed = (body.json.required ?? []).length > 0 || (files !== null && needsFile(files))
  return { requestBody: { required: needed, content: { ...json, ...form } } }
}

/** Where only a form is accepted, its one file is required. */
const needsFile = ({ orJson, fields }: FileParts): boolean => !orJson && fields.length === 1

const formOf = (body: JsonSchema, files: FileParts): JsonSchema => ({
  ...body,
  ...(needsFile(files) && { required: [...(body.required ?? []), ...files.fields] }),
  properties: {
    ...body.properties,
    ...Object.fromEntries(files.fields.filter(isPlain).map((name) => [name, file])),
  },
})

/** `files[]` is another spelling of `files`. */
const isPlain = (name: string): boolean => !name.endsWith('[]')

const file: JsonSchema = { type: 'string', format: 'binary', description: 'Content of the file.' }

const goodResponse = ({ id, answer, frames }: Operation, components: Components): object => {
  if (frames !== null)
    return { 101: { description: 'The connection is a WebSocket. Its frames are in `/asyncapi.json`.' } }
  const status = answer.kind === 'choice' ? answer.json.status : answer.status
  return { [status]: { description: 'The request succeeded.', content: contentOf(answer, components, titleOf(id)) } }
}

const nothing = ({ answer }: Operation): object =>
  answer.kind === 'events' && answer.mayBeEmpty ? { 204: { description: 'There is nothing to stream.' } } : {}

const unchanged = ({ tagged }: Operation): object =>
  tagged ? { 304: { description: 'The entity tag in `If-None-Match` is current. The response has no body.' } } : {}

/** Returns the content of a success response; `title` names the component of an answer without a title. */
export const contentOf = (answer: Answer, components: Components, title: string): object => {
  switch (answer.kind) {
    case 'json':
      return { 'application/json': { schema: components.answer(filledForm(answer.schema.json), `${title}Answer`) } }
    case 'events':
      return {
        'text/event-stream': {
          schema: streamOf({ title: answer.title, anyOf: Object.values(answer.events).map(filled) }, components),
          'x-events': eventsOf(answer.events, components),
        },
      }
    case 'bytes':
      return Object.fromEntries(
        answer.contentTypes.map((type) => [type, { schema: schemaOf(type, answer, components) }]),
      )
    case 'choice':
      return Object.assign({}, ...[answer.json, ...answer.others].map((each) => contentOf(each, components, title)))
  }
}

/**
 * Returns the schema of an event stream. OpenAPI 3.1 has no place for its events: as generators expect, it is that of the
 * data of each event, or a text for clients that take the whole stream as one. It has a name, by which openapi-generator can
 * be given another type.
 */
const streamOf = (event: JsonSchema, components: Components): unknown =>
  components.answer({ title: `${event.title}Text`, anyOf: [event, text] })

const schemaOf = (contentType: string, { frame }: BytesAnswer, components: Components): unknown => {
  if (contentType === 'text/event-stream' && frame !== null) return streamOf(filled(frame), components)
  return isText(contentType) ? text : bytes
}

const filled = ({ json }: Schema<unknown>): JsonSchema => filledForm(json)

const text = { type: 'string' } as const
const bytes = { type: 'string', format: 'binary' }

const isText = (contentType: string): boolean => /^text\/|json|svg/.test(contentType)

/** Schemas of the events, by their names in the stream. */
const eventsOf = (events: Shape, components: Components): object =>
  Object.fromEntries(
    Object.entries(events).map(([name, { json }]) => [streamNames[name] ?? name, components.answer(filledForm(json))]),
  )
