import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { given, invalid, needText } from '../chat-parts.ts'

/**
 * The caller's view of a function tool that differs from the function itself: a `custom` tool takes free text instead
 * of JSON, and a tool may be declared in a namespace.
 */
export interface ToolAlias {
  readonly name: string
  readonly custom: boolean
  readonly namespace: string | null
}

/** Aliases by the name of the function that represents the tool. */
export type ToolAliases = ReadonlyMap<string, ToolAlias>

/**
 * Converts the tools that the caller runs to functions, which every model can call. A custom tool becomes a function
 * with a single text parameter; the tools of a namespace are added to the others.
 */
export class CallerTools {
  readonly functions: WireObject[] = []
  readonly aliases = new Map<string, ToolAlias>()
  readonly #plain: ReadonlySet<string>

  /** @param tools all tools of the request: those outside of namespaces keep their names. */
  constructor(tools: readonly WireObject[]) {
    const plain = tools.filter(({ type }) => type === 'function' || type === 'custom')
    this.#plain = new Set(plain.map(({ name }) => textOf(name)))
  }

  /** @returns false for a tool that the caller does not run. @throws {ServiceError} `invalid_field`, `missing_field` */
  take(tool: WireObject, path: string, namespace: string | null = null): boolean {
    switch (tool.type) {
      case 'function':
        this.#add(functionOf(tool, path), { custom: false, namespace })
        return true
      case 'custom':
        this.#add(customOf(tool, path), { custom: true, namespace })
        return true
      case 'namespace':
        this.#takeAll(tool, path)
        return true
      default:
        return false
    }
  }

  #takeAll(tool: WireObject, path: string): void {
    const namespace = needText(tool.name, `${path}.name`)
    for (const [at, each] of arrayOf(tool.tools).map(objectOf).entries()) {
      const place = `${path}.tools[${at}]`
      if (each.type === 'namespace' || !this.take(each, place, namespace)) {
        throw invalid(`${place}.type`, 'must be one of ["function","custom"]')
      }
    }
  }

  #add(declared: FunctionWords, { custom, namespace }: Omit<ToolAlias, 'name'>): void {
    const { name } = declared
    const called = namespace !== null && this.#isTaken(name) ? `${namespace}__${name}` : name
    if (custom || namespace !== null) this.aliases.set(called, { name, custom, namespace })
    this.functions.push({ type: 'function', function: { ...declared, name: called } })
  }

  #isTaken(name: string): boolean {
    return this.#plain.has(name) || this.functions.some((each) => objectOf(each.function).name === name)
  }
}

/**
 * Returns the text of a custom tool's call from the arguments of its function; the arguments themselves when they are
 * not JSON with that text.
 */
export const customInput = (written: string): string => {
  const { input } = objectOf(parseJson(written))
  return typeof input === 'string' ? input : written
}

/** Returns the function arguments for the call of a custom tool. */
export const customArguments = (input: unknown): string => JSON.stringify({ input: textOf(input) })

type FunctionWords = WireObject & { readonly name: string }

const functionOf = (tool: WireObject, path: string): FunctionWords => {
  const { description, parameters, strict } = tool
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw invalid(`${path}.parameters`, 'must be object')
  }
  const name = needText(tool.name, `${path}.name`)
  return { ...given({ description, parameters, strict }), name }
}

/** For models that only take functions, the grammar is put into the description. */
const customOf = ({ name, description, format }: WireObject, path: string): FunctionWords => {
  const { type, syntax, definition } = objectOf(format)
  const grammar = type === 'grammar' ? ` It follows this ${textOf(syntax)} grammar:\n${textOf(definition)}` : ''
  const input = { type: 'string', description: `The whole input of the tool, as plain text.${grammar}` }
  const parameters = { type: 'object', properties: { input }, required: ['input'], additionalProperties: false }
  return { ...given({ description }), parameters, name: needText(name, `${path}.name`) }
}
