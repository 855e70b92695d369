import { filledForm, requestForm } from '#specs/dsl/ajv.ts'
import { eventsOf } from '#specs/dsl/answer.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { constant, integer, object, type Schema } from '#specs/dsl/schema.ts'
import { streamNames } from '#specs/events/events.ts'
import type { GeneratedFile } from './generated-file.ts'
import { jsonText } from './json-text.ts'
import { Components } from './openapi-components.ts'
import { envelopeSchemas } from './openapi-envelopes.ts'
import { pathWords } from './openapi-parameters.ts'
import { titleOf } from './title-of.ts'

/** `specs/asyncapi.json`: every stream of the interface as AsyncAPI 3.0, with the frames of both directions. */
export const asyncapiFile = (operations: readonly Operation[], version: string): GeneratedFile => {
  const components = new Components()
  const streams = operations.filter(({ answer }) => eventsOf(answer) !== null)
  const document = {
    asyncapi: '3.0.0',
    info: { title: 'Troupe', version, description },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(streams.map((stream) => [stream.id, channelOf(stream, components)])),
    operations: Object.assign({}, ...streams.map(operationsOf)),
    components: { schemas: { ...components.all(), PlatformError: envelopeSchemas.PlatformError } },
  }
  return { path: 'specs/asyncapi.json', text: jsonText(document) }
}

const description = [
  'Streams of a multi-tenant agent backend and AI gateway.',
  'A message of a server-sent event stream is the `data` of one event; its `id` is the sequence number in the log, its `event` the name of the message.',
  'A message of the WebSocket is one text frame.',
  'Requests and responses are described in `/openapi.json`.',
].join(' ')

const channelOf = (operation: Operation, components: Components): object => ({
  address: operation.paths[0],
  title: operation.summary,
  ...(operation.description === null ? {} : { description: operation.description }),
  parameters: Object.fromEntries(operation.params.map((name) => [name, { description: pathWords(name) }])),
  messages: { ...messagesOut(operation, components), ...messagesIn(operation, components) },
  bindings: operation.frames === null ? { http: {} } : { ws: { method: 'GET' } },
})

/** Messages from the server: the data of an event, or a frame that carries it. */
const messagesOut = (operation: Operation, components: Components): object => {
  const { answer } = operation
  const events = Object.entries(eventsOf(answer)?.events ?? {}).map(([stored, schema]) => {
    const name = streamNames[stored] ?? stored
    const payload = isWrapped(operation) ? frameOut(name, schema) : filledForm(schema.json)
    return [name, message(name, components.answer(payload))]
  })
  return Object.fromEntries(isWrapped(operation) ? [...events, ['error', message('error', errorFrame)]] : events)
}

/** Whether the frames of a WebSocket carry events of a log; those of another product's protocol are its own. */
const isWrapped = ({ answer, frames }: Operation): boolean => frames !== null && eventsOf(answer)?.foreign === false

const frameOut = (name: string, data: Schema<unknown>) =>
  filledForm(object({ event: constant(name), id: integer(), data }).json)

/** An error frame has no place in the log, so it has no `id`. */
const errorFrame = {
  type: 'object',
  properties: { event: { type: 'string', const: 'error' }, data: { $ref: '#/components/schemas/PlatformError' } },
  required: ['event', 'data'],
}

const messagesIn = ({ frames }: Operation, components: Components): object =>
  Object.fromEntries(
    Object.entries(frames ?? {}).map(([type, { json }]) => [
      type,
      message(type, components.request(requestForm(json, 'refuse'), `${titleOf(type)}Frame`)),
    ]),
  )

const message = (name: string, payload: unknown): object => ({ name, payload })

/** Operations as seen from the server: it sends events, and receives the frames of clients. */
const operationsOf = (operation: Operation): object => {
  const { id, answer, frames } = operation
  const names = Object.keys(eventsOf(answer)?.events ?? {}).map((stored) => streamNames[stored] ?? stored)
  const sent = isWrapped(operation) ? [...names, 'error'] : names
  return {
    [`${id}.send`]: operationOf('send', id, sent),
    ...(frames === null ? {} : { [`${id}.receive`]: operationOf('receive', id, Object.keys(frames)) }),
  }
}

const operationOf = (action: 'send' | 'receive', id: string, names: readonly string[]): object => ({
  action,
  channel: { $ref: `#/channels/${id}` },
  messages: names.map((name) => ({ $ref: `#/channels/${id}/messages/${name}` })),
})
