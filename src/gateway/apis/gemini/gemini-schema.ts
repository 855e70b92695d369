import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { camelled } from './gemini-names.ts'

/** Counts, which Google's JSON writes as text. */
const counts = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'] as const

/** Converts a schema of Google's API, whose types are in upper case and may be `nullable`, to JSON Schema. */
export const jsonSchemaOf = (schema: WireObject): WireObject => {
  const { type, nullable, propertyOrdering: _order, properties, items, anyOf, ...rest } = camelled(schema)
  const name = textOf(type).toLowerCase()
  const known = name === '' || name === 'type_unspecified' ? null : name
  const mayBeNull = nullable === true
  return {
    ...(known !== null && { type: mayBeNull ? [known, 'null'] : known }),
    ...rest,
    // in JSON Schema a type that may be null does not add null to the values and forms beside it
    ...(mayBeNull && Array.isArray(rest.enum) && !rest.enum.includes(null) && { enum: [...arrayOf(rest.enum), null] }),
    ...numbersIn(rest),
    ...(isObject(properties) && { properties: mapped(properties) }),
    ...(isObject(items) && { items: jsonSchemaOf(items) }),
    ...(Array.isArray(anyOf) && {
      anyOf: [...arrayOf(anyOf).map((each) => jsonSchemaOf(objectOf(each))), ...(mayBeNull ? [{ type: 'null' }] : [])],
    }),
  }
}

const mapped = (properties: WireObject): WireObject =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, jsonSchemaOf(objectOf(value))]))

const numbersIn = (fields: WireObject): WireObject =>
  Object.fromEntries(counts.flatMap((name) => (typeof fields[name] === 'string' ? [[name, Number(fields[name])]] : [])))
