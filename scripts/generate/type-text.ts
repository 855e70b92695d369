import type { JsonSchema } from '#specs/dsl/schema.ts'

/**
 * Which side of a call a type is for: in a request, a field with a default or null may be absent; a response may have
 * fields that this release does not know.
 */
export type TypeSide = 'request' | 'answer'

/** TypeScript declarations of one file: what has a title becomes an interface, everything else stands in place. */
export class TypeTexts {
  readonly #declared = new Map<string, string>()

  /** All types that `of` has named so far. */
  declarations(exported: readonly string[] | 'all'): string {
    const start = (name: string) => (exported === 'all' || exported.includes(name) ? 'export ' : '')
    return [...this.#declared].map(([name, body]) => `${start(name)}type ${name} = ${body}\n`).join('')
  }

  /** Returns the type of a schema. */
  of(schema: JsonSchema, side: TypeSide): string {
    const shown = schema['x-shape'] ?? schema
    const text = this.#text(shown, side)
    if (shown.title === undefined || shown.type !== 'object') return text
    const name = side === 'answer' ? shown.title : `${shown.title}Input`
    const before = this.#declared.get(name)
    if (before !== undefined && before !== text) return text
    this.#declared.set(name, text)
    return name
  }

  #text(schema: JsonSchema, side: TypeSide): string {
    if (schema.const !== undefined) return JSON.stringify(schema.const)
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
    const choices = schema.oneOf ?? schema.anyOf
    if (choices !== undefined) return [...new Set(choices.map((each) => this.of(each, side)))].join(' | ')
    const types = [schema.type ?? []].flat()
    if (types.length === 0) return 'unknown'
    return [...new Set(types.map((type) => this.#typed(type, schema, side)))].join(' | ')
  }

  #typed(type: string, schema: JsonSchema, side: TypeSide): string {
    if (type === 'integer') return 'number'
    if (type === 'array') return `readonly ${bracketed(this.of(schema.items ?? {}, side))}[]`
    return type === 'object' ? this.#object(schema, side) : type
  }

  #object({ properties = {}, required = [], additionalProperties }: JsonSchema, side: TypeSide): string {
    const fields = Object.entries(properties).map(([name, schema]) => {
      const isFilled = side === 'request' && (schema.default !== undefined || isNullable(schema))
      const mark = required.includes(name) && !isFilled ? '' : '?'
      return `${comment(schema)}readonly ${nameText(name)}${mark}: ${this.of(schema, side)}`
    })
    if (fields.length > 0) return `{ ${fields.join('; ')} }`
    const values = typeof additionalProperties === 'object' ? this.of(additionalProperties, side) : 'unknown'
    return `{ readonly [name: string]: ${values} }`
  }
}

const isNullable = ({ type, anyOf }: JsonSchema): boolean =>
  [type ?? []].flat().includes('null') || anyOf?.some((each) => each.type === 'null') === true

const comment = ({ description }: JsonSchema): string =>
  description === undefined ? '' : `/** ${description.replaceAll('*/', '*\u200b/')} */ `

const bracketed = (text: string): string => (/[ |]/.test(text) ? `(${text})` : text)

const nameText = (name: string): string => (/^[a-zA-Z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))
