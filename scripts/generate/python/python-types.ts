import type { JsonSchema } from '#specs/dsl/schema.ts'

const scalars: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

/** Declarations of one Python file: each object with fields becomes a class, everything else stands in place. */
export class PythonTypes {
  readonly #declared = new Map<string, string>()

  /** All classes that `of` has named so far, each after those that it uses. */
  declarations(): string {
    return [...this.#declared.values()].join('\n')
  }

  /** Returns the annotation of a schema. @param name for its class, if it is an object without a title */
  of(schema: JsonSchema, name: string): string {
    const shown = schema['x-shape'] ?? schema
    if (shown.const !== undefined) return literal([shown.const])
    if (shown.enum !== undefined) return literal(shown.enum)
    const choices = shown.oneOf ?? shown.anyOf
    if (choices !== undefined) return union(choices.map((each) => this.of(each, name)))
    const types = [shown.type ?? []].flat()
    return types.length === 0 ? 'object' : union(types.map((type) => this.#typed(type, shown, name)))
  }

  /**
   * Declares the class of an object's fields beside those of `base`.
   *
   * @returns its name, with a number if others have that name
   */
  declare(name: string, schema: JsonSchema, base = 'TypedDict'): string {
    const fields = Object.entries(schema.properties ?? {}).map(([field, each]) => {
      const type = this.of(each, `${name}${pascal(field)}`)
      const isRequired = schema.required?.includes(field) === true
      return `    ${field}: ${isRequired ? type : `NotRequired[${type}]`}\n${doc(each)}`
    })
    return this.add(name, `(${base}):\n${doc(schema)}${fields.join('')}`)
  }

  /** Adds the text of a class behind its name. @returns its name, with a number if others have that name */
  add(name: string, body: string): string {
    return this.put(name, (free) => `\nclass ${free}${body}`)
  }

  /** Adds the text of a type by its name. @returns its name, with a number if others have that name */
  protected put(name: string, textOf: (free: string) => string): string {
    for (let at = 1; ; at++) {
      const free = at === 1 ? name : `${name}${at}`
      const text = textOf(free)
      const before = this.#declared.get(free)
      if (before !== undefined && before !== text) continue
      this.#declared.set(free, text)
      return free
    }
  }

  #typed(type: string, schema: JsonSchema, name: string): string {
    if (type === 'array') return `list[${this.of(schema.items ?? {}, name)}]`
    if (type !== 'object') return scalars[type] ?? 'object'
    if (schema.properties !== undefined && Object.keys(schema.properties).length > 0)
      return this.declare(schema.title ?? name, schema)
    const values = schema.additionalProperties
    return `dict[str, ${typeof values === 'object' ? this.of(values, name) : 'object'}]`
  }
}

/** The documentation of a class or a field, four spaces in. */
export const doc = ({ description }: JsonSchema): string =>
  description === undefined ? '' : `    """${description.replaceAll('\\', '\\\\').replaceAll('"', "'")}"""\n`

/** `turn.started` and `turn_started` as a class's name. */
export const pascal = (name: string): string =>
  name
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const literal = (values: readonly unknown[]): string => {
  const texts = values.map((value) => (value === null ? 'None' : JSON.stringify(value)))
  return `Literal[${texts.map((text) => ({ true: 'True', false: 'False' })[text] ?? text).join(', ')}]`
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')
