import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/** A function that the model may call. */
export interface OfferedFunction {
  readonly name: string
  /** null: the request gives none. */
  readonly description: string | null
  /** JSON Schema; null: the function has no parameters. */
  readonly parameters: WireObject | null
  /** The tool as the caller sent it, for fields specific to one provider (`cache_control`). */
  readonly tool: WireObject
}

/** Which function the model must call. `function`: the named one. */
type FunctionChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'function'; readonly name: string }

/** The functions offered in a request and how the model may use them. */
export interface OfferedFunctions {
  readonly functions: readonly OfferedFunction[]
  /** null: the request does not set it. */
  readonly choice: FunctionChoice | null
  /** False: at most one call per response. */
  readonly parallel: boolean
}

/** Reads the tools of a request. @throws {ServiceError} `invalid_field` for tools that are not functions. */
export function offeredFunctions(body: WireObject): OfferedFunctions {
  if (arrayOf(body.functions).length > 0) throw invalidField('functions', 'Functions must be sent in tools.')
  const all = arrayOf(body.tools).map(functionOf)
  const { choice, allowed } = choiceOf(body.tool_choice)
  return {
    functions: allowed === null ? all : all.filter(({ name }) => allowed.has(name)),
    choice,
    parallel: body.parallel_tool_calls !== false,
  }
}

function functionOf(tool: unknown, place: number): OfferedFunction {
  if (!isObject(tool) || tool.type !== 'function') {
    throw invalidField(`tools[${place}].type`, 'This provider accepts only tools of type function.')
  }
  const { name, description, parameters } = objectOf(tool.function)
  if (textOf(name) === '') throw invalidField(`tools[${place}].function.name`, 'A function requires a name.')
  return {
    name: textOf(name),
    description: typeof description === 'string' ? description : null,
    parameters: isObject(parameters) ? parameters : null,
    tool,
  }
}

interface Choice {
  readonly choice: FunctionChoice | null
  /** Names that may be called; null for all. */
  readonly allowed: ReadonlySet<string> | null
}

function choiceOf(choice: unknown): Choice {
  if (choice === undefined || choice === null) return { choice: null, allowed: null }
  if (choice === 'auto' || choice === 'none' || choice === 'required') {
    return { choice: { kind: choice }, allowed: null }
  }
  const { type, function: named, allowed_tools } = objectOf(choice)
  if (type === 'function' && textOf(objectOf(named).name) !== '') {
    return { choice: { kind: 'function', name: textOf(objectOf(named).name) }, allowed: null }
  }
  if (type === 'allowed_tools') {
    const { mode, tools } = objectOf(allowed_tools)
    const names = arrayOf(tools).map((tool) => textOf(objectOf(objectOf(tool).function).name))
    return { choice: { kind: mode === 'required' ? 'required' : 'auto' }, allowed: new Set(names) }
  }
  throw invalidField('tool_choice', 'tool_choice must be auto, none, required, or name a function.')
}
