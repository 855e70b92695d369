import { _, Ajv2020 as Ajv, type ErrorObject, str, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { holdsId, idTextRule, isIdText } from './id-text.ts'
import type { JsonSchema } from './schema.ts'
import { isAtLeast, isAtMost } from './text-length.ts'

/**
 * The ajv instance of the process. It is strict: an unknown keyword in a declaration is an error. Defaults and
 * `x-clamp` change the validated value in place. `x-max-bytes` limits the size of an object's JSON in UTF-8.
 * Declarations are not validated against the meta-schema at runtime, since compiling it would delay the first request
 * by a tenth of a second: a test validates them.
 */
const ajv = new Ajv({
  ...{ strict: true, allowUnionTypes: true, discriminator: true, useDefaults: true, allErrors: false },
  validateSchema: false,
  // an error names its schema, whose fields its message lists
  verbose: true,
  // optimizing takes a quarter of the compilation time, and V8 does the same itself
  code: { optimize: false },
})

formats.default(ajv, ['date', 'date-time', 'email', 'uri', 'uuid'])
ajv.addKeyword({ keyword: 'x-id', schemaType: 'string' })
ajv.addKeyword({ keyword: 'x-open', schemaType: 'boolean' })
ajv.addKeyword({ keyword: 'x-shape', schemaType: 'object' })
ajv.addKeyword({
  keyword: 'x-clamp',
  type: 'number',
  schemaType: 'array',
  modifying: true,
  // biome-ignore lint/complexity/useMaxParams: ajv calls it with these four, the place last
  validate: ([min, max]: readonly [number | null, number | null], value: number, _schema: unknown, at?: Place) => {
    if (at !== undefined) at.parentData[at.parentDataProperty] = clamp(value, min, max)
    return true
  },
})

// ajv's own keywords count every character of a text, even when it is far from the limit
for (const [keyword, validate, words] of [
  ['maxLength', (max: number, text: string) => isAtMost(text, max), 'more'],
  ['minLength', (min: number, text: string) => isAtLeast(text, min), 'fewer'],
] as const) {
  ajv.removeKeyword(keyword)
  ajv.addKeyword({
    ...{ keyword, type: 'string', schemaType: 'number', before: 'pattern', validate },
    error: {
      message: ({ schemaCode }) => str`must NOT have ${words} than ${schemaCode} characters`,
      params: ({ schemaCode }) => _`{ limit: ${schemaCode} }`,
    },
  })
}

ajv.addKeyword({
  keyword: 'x-max-bytes',
  type: 'object',
  schemaType: 'number',
  validate: (max: number, value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= max,
  error: { message: 'is too long as JSON', params: ({ schema }) => _`{ limit: ${schema} }` },
})

ajv.addKeyword({
  keyword: 'x-id-text',
  type: 'string',
  schemaType: 'boolean',
  validate: (_holds: boolean, value: string) => isIdText(value),
  error: { message: idTextRule },
})

/** Position of the validated value in its object or list. */
interface Place {
  readonly parentData: Record<string | number, unknown>
  readonly parentDataProperty: string | number
}

const clamp = (value: number, min: number | null, max: number | null): number =>
  Math.min(max ?? value, Math.max(min ?? value, value))

/** A compiled schema. */
export type Validate = ValidateFunction
export type { ErrorObject }

/** Validates a schema against the meta-schema of JSON Schema. @returns the errors, or null. For tests. */
export const schemaFault = (schema: JsonSchema): string | null =>
  ajv.validateSchema(schema) === true ? null : ajv.errorsText(ajv.errors)

/** Compiles a schema. @throws when it contains an unknown keyword */
export const compile = (schema: JsonSchema): Validate => ajv.compile(schema)

/** Returns the schema with a change applied to every object in it that declares fields. */
const mapObjects = (schema: JsonSchema, change: (object: JsonSchema) => JsonSchema): JsonSchema => {
  const inner = (child: JsonSchema) => mapObjects(child, change)
  const { properties, items, anyOf, oneOf, additionalProperties } = schema
  const mapped: JsonSchema = {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, inner(child)])),
    }),
    ...(items && { items: inner(items) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(oneOf && { oneOf: oneOf.map(inner) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
  }
  return properties === undefined ? mapped : change(mapped)
}

/**
 * Returns the schema for validating requests. `refuse` makes undeclared fields errors, except in open objects. Fields
 * with names of ids only accept texts that can be ids.
 */
export const requestForm = (schema: JsonSchema, unknownFields: 'refuse' | 'ignore'): JsonSchema =>
  mapObjects(schema, (object) => withIdTexts(unknownFields === 'ignore' ? object : closed(object)))

const withIdTexts = (object: JsonSchema): JsonSchema => ({
  ...object,
  properties: Object.fromEntries(
    Object.entries(object.properties ?? {}).map(([name, field]) => [name, holdsId(name) ? idText(field) : field]),
  ),
})

const idText = (field: JsonSchema): JsonSchema => {
  if (field.items !== undefined) return { ...field, items: idText(field.items) }
  return [field.type].flat().includes('string') ? { ...field, 'x-id-text': true } : field
}

/** Returns the schema of a response, in which fields with a default are required. */
export const filledForm = (schema: JsonSchema): JsonSchema => mapObjects(schema, defaultsThere)

/** Returns the schema for checking a response: undeclared fields are errors, and no defaults are filled in. */
export const answerForm = (schema: JsonSchema): JsonSchema =>
  mapObjects(schema, (object) => closed(withoutDefaults(defaultsThere(object))))

const withoutDefaults = ({ properties = {}, ...object }: JsonSchema): JsonSchema => ({
  ...object,
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, { default: _unused, ...field }]) => [name, field]),
  ),
})

const closed = (object: JsonSchema): JsonSchema =>
  object['x-open'] === true ? object : { ...object, additionalProperties: false }

const defaultsThere = (object: JsonSchema): JsonSchema => {
  const { properties = {}, required = [] } = object
  const filled = Object.keys(properties).filter((name) => properties[name]?.default !== undefined)
  return { ...object, required: [...required, ...filled] }
}
