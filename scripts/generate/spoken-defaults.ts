import type { JsonSchema } from '#specs/dsl/schema.ts'

/**
 * Returns the schema of a request with its defaults in the descriptions of their fields. Generators take a field that has a
 * default for one that is always there, and so would require it in every request, or send it.
 */
export const withoutDefaults = (schema: JsonSchema): JsonSchema => {
  const { default: value, properties, items, anyOf, oneOf, additionalProperties, ...rest } = schema
  return {
    ...rest,
    // a component describes itself in every place: the default of one of them stands beside its reference
    ...(value !== undefined &&
      (rest.title === undefined ? { description: spoken(rest.description, value) } : { default: value })),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, withoutDefaults(child)])),
    }),
    ...(items && { items: withoutDefaults(items) }),
    ...(anyOf && { anyOf: anyOf.map(withoutDefaults) }),
    ...(oneOf && { oneOf: oneOf.map(withoutDefaults) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? withoutDefaults(additionalProperties) : additionalProperties,
    }),
  }
}

const spoken = (description: string | undefined, value: unknown): string => {
  if (description?.includes('Default')) return description
  const sentence = `Default: \`${JSON.stringify(value)}\`.`
  return description === undefined ? sentence : `${description} ${sentence}`
}
