import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '../../specs/schema.ts'

/** A schema or a reference to one. */
type Referring = JsonSchema | { readonly $ref: string }

/** Lifts titled schemas out into `components`, so that each is written once. */
export class Components {
  readonly #schemas = new Map<string, unknown>()

  /** What stands for an answer's schema. */
  answer(schema: JsonSchema): unknown {
    return this.#lift(schema, '')
  }

  /** What stands for a body's schema; where the body's form of a component differs it is called `<title>Input`. */
  request(schema: JsonSchema): unknown {
    return this.#lift(schema, 'Input')
  }

  /** Every component, by name in order. */
  all(): object {
    return Object.fromEntries([...this.#schemas].sort(([left], [right]) => (left < right ? -1 : 1)))
  }

  #lift(schema: JsonSchema, suffix: string): unknown {
    const inner = (child: JsonSchema) => this.#lift(child, suffix)
    const { title, properties, items, anyOf, oneOf, additionalProperties } = schema
    const lifted = {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, inner(child)])),
      }),
      ...(items && { items: inner(items) }),
      ...(anyOf && { anyOf: anyOf.map(inner) }),
      ...(oneOf && { oneOf: oneOf.map(inner) }),
      ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
    }
    return title === undefined ? lifted : this.#place(title, lifted, suffix)
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
