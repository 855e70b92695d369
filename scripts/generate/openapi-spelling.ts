import type { JsonSchema } from '#specs/dsl/schema.ts'

/**
 * Returns the schema with one spelling of each field, the first declared one; the other is named in its description.
 * With both, code generators would make `maxTokens` and `max_tokens` the same member of a class, which then does not
 * compile.
 */
export const withOneSpelling = (schema: JsonSchema): JsonSchema => {
  const { properties, items, anyOf, oneOf, additionalProperties } = schema
  return {
    ...schema,
    ...(properties && oneSpelling(schema)),
    ...(items && { items: withOneSpelling(items) }),
    ...(anyOf && { anyOf: anyOf.map(withOneSpelling) }),
    ...(oneOf && { oneOf: oneOf.map(withOneSpelling) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: withOneSpelling(additionalProperties) }),
  }
}

const oneSpelling = ({ properties = {}, required = [] }: JsonSchema): Pick<JsonSchema, 'properties' | 'required'> => {
  const names = Object.keys(properties)
  const first = (name: string) => names.find((each) => plain(each) === plain(name))
  const kept = names.filter((name) => first(name) === name)
  return {
    properties: Object.fromEntries(
      kept.map((name) => [name, fieldOf(name, names, withOneSpelling(properties[name] ?? {}))]),
    ),
    required: required.filter((name) => kept.includes(name)),
  }
}

const fieldOf = (name: string, names: readonly string[], schema: JsonSchema): JsonSchema => {
  const twin = names.find((each) => each !== name && plain(each) === plain(name))
  if (twin === undefined) return schema
  return { ...schema, description: [schema.description, `Alias: \`${twin}\`.`].filter(Boolean).join(' ') }
}

const plain = (name: string): string => name.replaceAll('_', '').toLowerCase()
