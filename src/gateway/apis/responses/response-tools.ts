import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { given, invalid, needText } from '../chat-parts.ts'
import { CallerTools, type ToolAliases } from './caller-tools.ts'
import { type RemoteTool, remoteTool } from './remote/remote-tools.ts'
import { type FileSearchTool, fileSearchName, fileSearchTool } from './searches/file-search.ts'

/** Name of the function by which a model calls the web search that this server runs. */
export const searchToolName = 'web_search'

/** The tools of a request, by who runs them. */
export interface ResponseTools {
  /** Run by the caller; in the form of chat completions. */
  readonly functions: readonly WireObject[]
  /** The caller's view of functions that represent another kind of tool. */
  readonly aliases: ToolAliases
  /** Web search, run by this server or by OpenAI; null when it was not requested. */
  readonly search: SearchTool | null
  /** The search of knowledge bases, run by this server; null when it was not requested. */
  readonly files: FileSearchTool | null
  /** Remote (MCP) servers, called by this server. */
  readonly remote: readonly RemoteTool[]
  /** Path of the first list of vector stores that are not knowledge bases of this server; null for none. */
  readonly foreignStores: string | null
  /** OpenAI's hosted tools, unchanged: run by OpenAI when it serves the call. */
  readonly hosted: readonly WireObject[]
}

/** The web search with the settings of the request. */
interface SearchTool {
  /** The tool as it was sent. */
  readonly tool: WireObject
  /** Path for errors: `tools[1]`. */
  readonly path: string
  /** Number of results per search. */
  readonly limit: number
}

const searchTypes = ['web_search_preview', 'web_search_preview_2025_03_11', 'web_search', 'web_search_2025_08_26']
const limits = { low: 3, medium: 6, high: 12 } as const

/** How many hits a search returns. @throws {ServiceError} `invalid_field` for a size that does not exist */
const limitOf = ({ search_context_size: size }: WireObject, path: string): number => {
  if (size === undefined || size === null) return limits.medium
  if (size === 'low' || size === 'medium' || size === 'high') return limits[size]
  throw invalid(`${path}.search_context_size`, 'must be one of low, medium, high')
}

/** Validates the tools of a request. @throws {ServiceError} `invalid_field`, `missing_field`, `bad_request` */
export const responseTools = (tools: readonly WireObject[] | null | undefined): ResponseTools => {
  const callers = new CallerTools(tools ?? [])
  const hosted: WireObject[] = []
  const remote: RemoteTool[] = []
  let search: SearchTool | null = null
  let files: FileSearchTool | null = null
  let foreignStores: string | null = null
  for (const [at, tool] of (tools ?? []).entries()) {
    const path = `tools[${at}]`
    const type = needText(tool.type, `${path}.type`)
    if (callers.take(tool, path)) continue
    if (searchTypes.includes(type)) search = { tool, path, limit: limitOf(tool, path) }
    else if (type === 'mcp') remote.push(remoteTool(tool, path))
    else {
      const found = type === fileSearchName ? fileSearchTool(tool, path) : null
      if (found === null) {
        hosted.push(tool)
        if (type === fileSearchName && arrayOf(tool.vector_store_ids).length > 0)
          foreignStores ??= `${path}.vector_store_ids`
      } else if (files === null) files = found
      else throw invalid(`${path}.type`, 'must not be a second file_search: list all knowledge bases in one')
    }
  }
  const { functions, aliases } = callers
  if (search !== null) refuseNamesake(functions, searchToolName)
  if (files !== null) refuseNamesake(functions, fileSearchName)
  return { functions, aliases, search, files, remote, foreignStores, hosted }
}

/** Refuses a function with the name of a search, since calls are distinguished by name only. */
const refuseNamesake = (functions: readonly WireObject[], name: string): void => {
  if (!functions.some((tool) => objectOf(tool.function).name === name)) return
  throw invalid('tools', `must not have a function named ${name} beside the search`)
}

/**
 * Converts `tool_choice` to the form of chat completions; undefined leaves the choice to the model.
 * @throws {ServiceError} `invalid_field`
 */
export const toolChoiceOf = (choice: unknown, tools: ResponseTools): unknown => {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  const fields = objectOf(choice)
  if (fields.type === 'function' || fields.type === 'custom') return named(needText(fields.name, 'tool_choice.name'))
  if (searchTypes.includes(textOf(fields.type))) return named(searchToolName)
  if (fields.type === fileSearchName && hasFileSearch(tools)) return named(fileSearchName)
  if (fields.type === 'mcp' && tools.remote.some(({ label }) => label === fields.server_label)) return 'required'
  if (fields.type === 'allowed_tools' && (fields.mode === 'auto' || fields.mode === 'required')) return fields.mode
  throw invalid('tool_choice', 'must be auto, none, required, or name a tool of the request')
}

const hasFileSearch = ({ files, hosted }: ResponseTools): boolean =>
  files !== null || hosted.some(({ type }) => type === fileSearchName)

/** Returns the tools of which the model may call any: all, unless `tool_choice` lists those that it allows. */
export const allowedTools = (tools: ResponseTools, choice: unknown): ResponseTools => {
  const { type, tools: listed } = objectOf(choice)
  if (type !== 'allowed_tools') return tools
  const allowed = arrayOf(listed).map(objectOf)
  const names = new Set(allowed.map(({ name }) => textOf(name)))
  const types = new Set(allowed.map((each) => textOf(each.type)))
  const labels = new Set(allowed.filter((each) => each.type === 'mcp').map((each) => textOf(each.server_label)))
  const { functions, search, files, foreignStores, remote, hosted } = tools
  return {
    ...tools,
    functions: functions.filter((tool) => names.has(textOf(objectOf(tool.function).name))),
    search: searchTypes.some((each) => types.has(each)) ? search : null,
    files: types.has(fileSearchName) ? files : null,
    foreignStores: types.has(fileSearchName) ? foreignStores : null,
    remote: remote.filter(({ label }) => labels.has(label)),
    hosted: hosted.filter((tool) => types.has(textOf(tool.type))),
  }
}

const named = (name: string) => ({ type: 'function', function: { name } })

/**
 * Converts `text.format` to the form of chat completions; undefined for plain text.
 * @throws {ServiceError} `invalid_field`, `missing_field`
 */
export const textFormatOf = (format: WireObject | null | undefined): unknown => {
  if (format === undefined || format === null || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  if (format.type !== 'json_schema') {
    throw invalid('text.format.type', 'must be one of ["text","json_object","json_schema"]')
  }
  const { description, schema, strict } = format
  if (!isObject(schema)) throw invalid('text.format.schema', 'must be object')
  const name = needText(format.name, 'text.format.name')
  return { type: 'json_schema', json_schema: given({ name, description, schema, strict }) }
}
