import type { JsonSchema } from '#specs/dsl/schema.ts'
import { PythonTypes, pascal } from './python-types.ts'

/** Declarations of many types, a line each: fields may have names that are words of the language. */
export class PythonLines extends PythonTypes {
  #isRequest = false

  /** The annotation of what a caller sends: a field with a default may be left out. */
  request(schema: JsonSchema, name: string): string {
    this.#isRequest = true
    return this.#inClass(this.of(schema, name))
  }

  /** The annotation of what the server answers. */
  answer(schema: JsonSchema, name: string): string {
    this.#isRequest = false
    return this.#inClass(this.of(schema, name))
  }

  override declare(name: string, schema: JsonSchema): string {
    const isRequest = this.#isRequest
    const own = isRequest && schema.title !== undefined ? `${name}Input` : name
    const fields = Object.entries(schema.properties ?? {}).map(([field, each]) => {
      const type = this.of(each, `${own}${pascal(field)}`)
      const isRequired = schema.required?.includes(field) === true && !(isRequest && each.default !== undefined)
      return `${JSON.stringify(field)}: ${quoted(isRequired ? type : `NotRequired[${type}]`)}`
    })
    return this.put(own, (free) => `${free} = TypedDict("${free}", {${fields.join(', ')}})`)
  }

  /** A method may have the name of a type of the language. */
  #inClass(type: string): string {
    return type.replace(/\blist\[/g, 'List[')
  }
}

const quoted = (type: string): string => `'${type.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
