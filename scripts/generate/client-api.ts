import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { webhookEvents, webhookEventTypes } from '#specs/events/webhook-events.ts'
import { documentOf, isForClients, nextParameter } from './called-operations.ts'
import type { GeneratedFile } from './generated-file.ts'
import { TypeTexts } from './type-text.ts'

const head = `/* Made from the declarations by \`npm run generate\`; not to be edited. */
import { type CallOptions, opened, type Pages, resource } from '../call.ts'
import type { Troupe } from '../troupe.ts'
import { unwrap } from '../webhooks.ts'

export type { CallOptions, Pages } from '../call.ts'
export type { UnwrapOptions, WebhookRequest } from '../webhooks.ts'
export { unwrap } from '../webhooks.ts'
`

/** \`packages/client/src/api/index.ts\`: the calls of every resource that keys and client tokens may use, with their types. */
export const clientApi = (operations: readonly Operation[]): GeneratedFile => {
  const types = new TypeTexts()
  const called = operations.filter(isForClients)
  const resources = Map.groupBy(called, ({ id }) => id.split('.')[0] ?? '')
  const texts = [
    ...[head, apiText([...resources].map(([name, list]) => callsOf(name, list, types)))],
    ...[bundleText([...resources.keys()]), ...[...resources].map(([name, list]) => linesOf(name, list)), ''],
    ...[webhookText(types), types.declarations('all')],
  ]
  return { path: 'packages/client/src/api/index.ts', text: texts.join('\n') }
}

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The types of all calls, by resource, and what the client adds to two of them by hand. */
const apiText = (resources: readonly string[]): string => `/** Calls of the operations, by resource. */
export interface Resources {
${resources.join('\n')}
}

/** All resources of the API. */
export type Api = Resources & {
  readonly sessions: Troupe['sessions']
  readonly webhooks: { readonly unwrap: typeof unwrap }
}
`

const bundleText = (names: readonly string[]): string =>
  `/** All resources of the API with the credential of a client. A bundle with a single one has its own function instead: \`agents(client)\`. */
export const api = (client: Troupe): Api => {
  const resources = opened<Resources>({ ${names.map(camel).join(', ')} }, client)
  return { ...resources, sessions: { ...resources.sessions, ...client.sessions }, webhooks: { ...resources.webhooks, unwrap } }
}
`

const verbOf = (name: string, { id }: Operation): string => camel(id.slice(name.length + 1))

const callsOf = (name: string, operations: readonly Operation[], types: TypeTexts): string => {
  const calls = operations.flatMap((each) =>
    signaturesOf(each, types).map((text) => `    /** ${each.summary}. */ ${verbOf(name, each)}${text}`),
  )
  return `  readonly ${camel(name)}: {\n${calls.join('\n')}\n  }`
}

/** The function of one resource, which a bundle has without the others. */
const linesOf = (name: string, operations: readonly Operation[]): string => {
  const lines = operations.map((each) => `${verbOf(name, each)}: '${lineOf(each)}'`)
  return `export const ${camel(name)} = /* @__PURE__ */ resource<Resources['${camel(name)}']>({ ${lines.join(', ')} })`
}

const lineOf = (operation: Operation): string => {
  const { method, paths, query, body } = operation
  const next = nextParameter(operation)
  const mark = body !== null ? ' !' : next !== null ? ` *${next}` : method === 'GET' && hasFields(query) ? ' ?' : ''
  return `${method} ${paths[0].replace(/\{\w+\}/g, '{}')}${mark}`
}

const hasFields = (shape: object): boolean => Object.keys(shape).length > 0

/** Signatures of a call: a body that requests a stream gets a response, whose events are read from it. */
const signaturesOf = (operation: Operation, types: TypeTexts): readonly string[] => {
  const { params, answer, body } = operation
  const path = params.map((name) => `${camel(name)}: string`)
  const signature = (input: readonly string[], result: string) =>
    `(${[...path, ...input, 'options?: CallOptions'].join(', ')}): ${result}`
  const input = inputOf(operation, types)
  const json = documentOf(operation)
  if (json === null) return [signature(input, 'Promise<Response>')]
  const document = types.of(json, 'answer')
  if (nextParameter(operation) !== null) return [signature(input, `Pages<${document}, ${itemOf(json, types)}>`)]
  if (answer.kind !== 'choice' || answer.others.length === 0) return [signature(input, `Promise<${document}>`)]
  if (body?.json.properties?.stream === undefined || operation.files !== null)
    return [signature(input, `Promise<${document} | Response>`)]
  const streaming = input.map((text) => text.replace(/: (.*)$/, ': $1 & { readonly stream: true }'))
  return [signature(streaming, 'Promise<Response>'), signature(input, `Promise<${document}>`)]
}

const itemOf = ({ properties = {} }: JsonSchema, types: TypeTexts): string => {
  const list = Object.values(properties).find(({ type }) => type === 'array')
  return types.of(list?.items ?? {}, 'answer')
}

const inputOf = ({ method, query, body, files }: Operation, types: TypeTexts): readonly string[] => {
  if (body !== null) {
    const json = types.of(body.json, 'request')
    const isOptional = (body.json.required ?? []).every((name) => body.json.properties?.[name]?.default !== undefined)
    const type = files === null ? json : files.orJson ? `${json} | FormData` : 'FormData'
    return [`body${isOptional && files === null ? '?' : ''}: ${type}`]
  }
  if (method !== 'GET' || !hasFields(query)) return []
  const properties = Object.fromEntries(Object.entries(query).map(([name, { json }]) => [name, json]))
  return [`query?: ${types.of({ type: 'object', properties }, 'request')}`]
}

/** The events of webhooks as one union, which a `switch` exhausts. */
const webhookText = (types: TypeTexts): string =>
  [
    '/** An event that a webhook gets. */',
    'export type WebhookEvent =',
    ...webhookEventTypes.map(
      (type) =>
        `  | { readonly type: '${type}'; readonly timestamp: string; readonly data: ${types.of(webhookEvents[type].data.json, 'answer')} }`,
    ),
    '',
  ].join('\n')
