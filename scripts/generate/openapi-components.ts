import { isDeepStrictEqual } from 'node:util'
import { idTextPattern } from '#specs/dsl/id-text.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { withOneSpelling } from './openapi-spelling.ts'
import { withoutDefaults } from './spoken-defaults.ts'

/** A schema or a reference to one. */
type Referring = JsonSchema | { readonly $ref: string }

/** Moves schemas with a title into `components`, so that each is written once. */
export class Components {
  readonly #schemas = new Map<string, unknown>()

  /** Returns the reference to an answer's schema; `title` names the component of a schema that has no title. */
  answer(schema: JsonSchema, title?: string): unknown {
    return this.#lift(titled(withOneSpelling(schema), title), '')
  }

  /**
   * Returns the reference to a body's schema. A body that differs from the answer's component is called `<title>Input`.
   */
  request(schema: JsonSchema, title?: string): unknown {
    return this.#lift(titled(withOneSpelling(schema), title), 'Input')
  }

  /** Returns the schema itself, such as that of a form, with references to the components in it. */
  inline(schema: JsonSchema): unknown {
    const { title: _none, ...untitled } = withOneSpelling(schema)
    return this.#lift(untitled, 'Input')
  }

  /** Returns every component, sorted by name. */
  all(): object {
    return Object.fromEntries([...this.#schemas].sort(([left], [right]) => (left < right ? -1 : 1)))
  }

  #lift({ 'x-shape': shape, ...schema }: JsonSchema, suffix: string): unknown {
    if (shape !== undefined) return this.#lift(shown(shape, schema), suffix)
    // openapi-generator's Go names the default of such words like a constant that it does not write
    if (schema.default !== undefined && schema.enum?.some((word) => word === null))
      return this.#lift(withoutDefaults(schema), suffix)
    const { present, orNull } = withoutNull(schema)
    if (orNull) return { anyOf: [this.#lift(present, suffix), { type: 'null' }] }
    if (schema.title !== undefined && schema.default !== undefined) return this.#liftWithDefault(schema, suffix)
    const inner = (child: JsonSchema) => this.#lift(child, suffix)
    // a component has no title: generators would use it as the class name, and two forms of one schema would collide
    const { title, 'x-id-text': isIdText, ...untitled } = schema
    const { properties, items, anyOf, oneOf, additionalProperties, discriminator } = untitled
    const lifted = {
      ...(isIdText && { pattern: idTextPattern }),
      ...untitled,
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, inner(child)])),
      }),
      ...(items && { items: inner(items) }),
      ...(anyOf && { anyOf: anyOf.map(inner) }),
      ...(oneOf && { oneOf: oneOf.map(inner) }),
      ...(oneOf && discriminator && { discriminator: { ...discriminator, mapping: this.#mapping(schema, suffix) } }),
      ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
    }
    return title === undefined ? lifted : this.#place(title, lifted, suffix)
  }

  /**
   * Maps each value of the discriminator to its component: without a mapping, readers take the components' names as
   * values.
   */
  #mapping({ oneOf = [], discriminator }: JsonSchema, suffix: string): Readonly<Record<string, string>> {
    const mapping: Record<string, string> = {}
    for (const branch of oneOf) {
      const tag = branch.properties?.[discriminator?.propertyName ?? '']
      const word = tag?.const ?? tag?.enum?.[0]
      const lifted = this.#lift(branch, suffix)
      if (typeof word === 'string' && isReference(lifted)) mapping[word] = lifted.$ref
    }
    return mapping
  }

  /**
   * Describes the default of a field that holds a component. It is a sentence, since generated code cannot express a
   * default object.
   */
  #liftWithDefault({ default: value, ...schema }: JsonSchema, suffix: string): unknown {
    return Object.assign({ description: `Default: \`${JSON.stringify(value)}\`.` }, this.#lift(schema, suffix))
  }

  #place(title: string, schema: object, suffix: string): Referring {
    const taken = this.#schemas.get(title)
    const name = taken === undefined || isDeepStrictEqual(taken, schema) ? title : `${title}${suffix}`
    const before = this.#schemas.get(name)
    if (before !== undefined && !isDeepStrictEqual(before, schema)) throw new Error(`two schemas are called ${name}`)
    this.#schemas.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }
}

/** Returns the known shapes of a value, with the description of the field. Null is allowed if the schema allows it. */
const shown = ({ anyOf = [] }: JsonSchema, { description, type }: JsonSchema): JsonSchema => ({
  ...(description !== undefined && { description }),
  anyOf: [...anyOf, ...(Array.isArray(type) && type.includes('null') ? [{ type: 'null' } as const] : [])],
})

/**
 * Gives a schema a title. Code generators name inline schemas after their position, and such names collide; therefore
 * every body and answer is a component.
 */
const titled = (schema: JsonSchema, title: string | undefined): JsonSchema =>
  title === undefined || schema.title !== undefined ? schema : { ...schema, title }

const isReference = (schema: unknown): schema is { readonly $ref: string } =>
  typeof schema === 'object' && schema !== null && '$ref' in schema

/**
 * Splits null from the type: a component describes the value itself, whether or not a field that holds it may be null.
 */
const withoutNull = (schema: JsonSchema): { readonly present: JsonSchema; readonly orNull: boolean } => {
  const { title, type } = schema
  if (title === undefined || !Array.isArray(type)) return { present: schema, orNull: false }
  const [only, ...more] = type.filter((each) => each !== 'null')
  if (only === undefined || more.length > 0 || !type.includes('null')) return { present: schema, orNull: false }
  return { present: { ...schema, type: only }, orNull: true }
}
