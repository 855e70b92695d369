import type { Answer } from '#specs/dsl/answer.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema, Shape } from '#specs/dsl/schema.ts'
import { errors } from '#specs/errors/errors.ts'
import { escaped, render, type Section } from './markup.ts'

/** The operations of one resource. */
export interface ReferenceGroup {
  readonly name: string
  readonly title: string
  readonly operations: readonly Operation[]
}

/** Returns the operations by resource, in the order of their declaration. */
export const groupsOf = (operations: readonly Operation[]): readonly ReferenceGroup[] => {
  const groups = Map.groupBy(operations, ({ id }) => id.slice(0, id.lastIndexOf('.')))
  return [...groups].map(([name, own]) => ({ name, title: titleOf(name), operations: own }))
}

const titleOf = (name: string): string => {
  const words = name.replaceAll(/[._]/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The page of a group, and a section for each operation. */
export const referencePage = ({ title, operations }: ReferenceGroup) => ({
  title,
  html: `<h1>${escaped(title)}</h1>\n${operations.map(operationHtml).join('\n')}`,
  sections: operations.map(sectionOf),
})

const sectionOf = ({ id, summary, description, method, paths }: Operation): Section => ({
  title: summary,
  anchor: id,
  text: `${method} ${paths[0]} ${id} ${description ?? ''}`,
})

const credentials: Readonly<Record<Operation['access']['kinds'][number], string>> = {
  secret_key: 'a secret key',
  agent_key: 'a key of the agent',
  client_token: 'a client token',
  dashboard: 'a member’s session',
  public: 'every caller',
}

const operationHtml = (operation: Operation): string => {
  const { id, summary, method, paths, access, query, body, answer } = operation
  const callers = access.kinds.map((kind) => credentials[kind]).join(', ')
  const role = access.role === undefined ? '' : ` with the role ${access.role}`
  return [
    `<section class="border-t border-line"><h2 id="${escaped(id)}">${escaped(summary)}</h2>`,
    `<p class="call"><code>${method} ${escaped(paths[0])}</code></p>`,
    markdown(operation.description ?? ''),
    `<p class="muted"><code>${escaped(id)}</code>, for ${escaped(callers + role)}.</p>`,
    fieldList('Path', {
      properties: Object.fromEntries(operation.params.map((name) => [name, { type: 'string' }])),
      required: operation.params,
    }),
    fieldList('Query', {
      properties: jsonOf(query),
      required: Object.entries(query).flatMap(([name, { presence }]) => (presence === 'required' ? [name] : [])),
    }),
    body === null ? '' : schemaHtml('Body', body.json),
    answerHtml(answer),
    errorList(operation),
    '</section>',
  ].join('\n')
}

const markdown = (text: string): string => render(text, () => null).html

const answerHtml = (answer: Answer): string => {
  switch (answer.kind) {
    case 'json':
      return schemaHtml(`Answer ${answer.status}`, answer.schema.json)
    case 'events':
      return fieldList(`Events ${answer.status}`, { properties: jsonOf(answer.events) })
    case 'bytes':
      return `<p>Answers ${escaped(answer.contentTypes.join(', '))}.</p>`
    case 'choice':
      return [answer.json, ...answer.others].map(answerHtml).join('\n')
  }
}

const jsonOf = (shape: Shape): Fields['properties'] =>
  Object.fromEntries(Object.entries(shape).map(([name, { json }]) => [name, json]))

/** The document of a request or an answer; every field of an answer is there. */
const schemaHtml = (title: string, schema: JsonSchema): string => {
  const { properties, required = [] } = shown(schema)
  if (properties === undefined) return `<h3>${escaped(title)}</h3>${valueHtml(schema, 0)}`
  return fieldList(title, title === 'Body' ? { properties, required } : { properties })
}

/** Nested fields beyond this depth are left to `/openapi.json`. */
const maxDepth = 5

/** Fields of an object: those of a request say which are required. */
interface Fields {
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

const fieldList = (title: string, fields: Fields): string => {
  const list = listOf(fields, 0)
  return list === '' ? '' : `<h3>${escaped(title)}</h3>${list}`
}

const listOf = ({ properties, required = [] }: Fields, depth: number): string => {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const needed = required.includes(name) ? ' <em>required</em>' : ''
    return `<li><code>${escaped(name)}</code> <span class="muted">${escaped(typeOf(schema))}</span>${needed}${valueHtml(schema, depth)}</li>`
  })
  return rows.length === 0 ? '' : `<ul class="pl-18">${rows.join('')}</ul>`
}

/** What a generator of clients sees instead of what is validated, if it differs. */
const shown = (schema: JsonSchema): JsonSchema => schema['x-shape'] ?? schema

/** Description and nested fields of a value. */
const valueHtml = (schema: JsonSchema, depth: number): string => {
  const { description = '', items, anyOf = [], oneOf = [] } = shown(schema)
  const inner = [shown(schema), ...(items === undefined ? [] : [shown(items)]), ...[...anyOf, ...oneOf].map(shown)]
  const nested = inner.flatMap(({ properties, required = [], title = '' }) =>
    properties === undefined || depth >= maxDepth
      ? []
      : [
          `<details><summary>${escaped(title || 'Fields')}</summary>${listOf({ properties, required }, depth + 1)}</details>`,
        ],
  )
  return `${description === '' ? '' : markdown(description)}${nested.join('')}`
}

const typeOf = (given: JsonSchema): string => {
  const schema = shown(given)
  const { type, items, anyOf, oneOf, format, pattern, minLength, maxLength, minimum, maximum } = schema
  const values = schema.enum?.map((value) => JSON.stringify(value)).join(' | ')
  const choice = [...(anyOf ?? []), ...(oneOf ?? [])].map(({ title, type: each }) => title ?? String(each ?? 'object'))
  const name =
    values ??
    (items !== undefined
      ? `list of ${typeOf(items)}`
      : choice.length > 0
        ? [...new Set(choice)].join(' | ')
        : ([type ?? 'any value'].flat().join(' | ') satisfies string))
  const bounds = [
    ...[format, pattern === undefined ? undefined : 'of a pattern'],
    between(minLength, maxLength, 'characters'),
    between(minimum, maximum, ''),
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
  ].filter((each) => each !== undefined)
  return [name, ...bounds].join(', ')
}

const between = (min: number | undefined, max: number | undefined, unit: string): string | undefined => {
  if (min === undefined && max === undefined) return undefined
  const range = max === undefined ? `at least ${min}` : min === undefined ? `at most ${max}` : `${min} to ${max}`
  return `${range} ${unit}`.trim()
}

const errorList = ({ errors: codes }: Operation): string => {
  if (codes.length === 0) return ''
  const rows = codes.map((code) => {
    const { status, message } = errors[code]
    return `<li><code>${code}</code> <span class="muted">${status}</span> ${escaped(message)}</li>`
  })
  return `<h3>Errors of its own</h3><ul class="pl-18">${rows.join('')}</ul>`
}
