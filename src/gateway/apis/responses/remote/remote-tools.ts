import type { RemoteDeclaration } from '#actors/capability/remote-tools.ts'
import { given, invalid, needText } from '#gateway/apis/chat-parts.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** A remote (MCP) server in the tools of a request, with its path: `tools[1]`. */
export interface RemoteTool {
  readonly path: string
  readonly label: string
  readonly declared: RemoteDeclaration
}

const labelPattern = /^[A-Za-z0-9_-]{1,64}$/

/**
 * Validates a tool of the type `mcp`. Without `server_url`, the label is the name of a registered server.
 *
 * @throws {ServiceError} `invalid_field`, `missing_field`; `bad_request` for OpenAI's connectors.
 */
export const remoteTool = (tool: WireObject, path: string): RemoteTool => {
  const label = needText(tool.server_label, `${path}.server_label`)
  if (!labelPattern.test(label)) throw invalid(`${path}.server_label`, `must match ${labelPattern.source}`)
  if (tool.connector_id !== undefined && tool.connector_id !== null)
    throw new ServiceError('bad_request', {
      param: `${path}.connector_id`,
      message: "OpenAI's connectors are not supported: register a server and send its name as server_label.",
    })
  const declared: RemoteDeclaration = {
    ...{ type: 'mcp', server_label: label },
    ...given({ server_url: urlOf(tool.server_url, path), authorization: optionalText(tool.authorization, path) }),
    ...given({ headers: headersOf(tool.headers, path), allowed_tools: allowedOf(tool.allowed_tools) }),
    ...given({ require_approval: approvalOf(tool.require_approval, path) }),
  }
  return { path, label, declared }
}

const urlOf = (value: unknown, path: string): string | undefined => {
  const text = optionalText(value, path)
  if (text === undefined || /^https?:/.test(text)) return text
  throw invalid(`${path}.server_url`, 'must be a URL over http or https')
}

const optionalText = (value: unknown, path: string): string | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value.length <= 8192) return value
  throw invalid(path, 'must have texts where texts belong')
}

const headersOf = (value: unknown, path: string): Record<string, string> | undefined => {
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw invalid(`${path}.headers`, 'must be object')
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, textOf(each)]))
}

/** Accepts a list of names, or a filter with `tool_names`. */
const allowedOf = (value: unknown): string[] | undefined => {
  const names = Array.isArray(value) ? value : objectOf(value).tool_names
  return Array.isArray(names) ? names.map(textOf) : undefined
}

const approvalOf = (value: unknown, path: string): RemoteDeclaration['require_approval'] => {
  if (value === undefined || value === null) return undefined
  if (value === 'always' || value === 'never') return value
  const { always, never } = objectOf(value)
  if (!isObject(always) && !isObject(never))
    throw invalid(`${path}.require_approval`, 'must be always, never, or an object with tools for either')
  return given({ always: namesOf(always), never: namesOf(never) })
}

const namesOf = (value: unknown): { tool_names: string[] } | undefined =>
  isObject(value) ? { tool_names: arrayOf(value.tool_names).map(textOf) } : undefined

/** Returns a tool without its credentials, as it is shown and stored. */
export const shownTool = <V>(tool: Readonly<Record<string, V>>): Readonly<Record<string, V>> =>
  tool.type === 'mcp' ? Object.fromEntries(Object.entries(tool).filter(([name]) => !secretFields.has(name))) : tool

const secretFields: ReadonlySet<string> = new Set(['headers', 'authorization'])

/** Whether a tool has credentials, which are not stored. */
export const hasAccess = ({ type, headers, authorization }: WireObject): boolean =>
  type === 'mcp' &&
  ((headers !== undefined && headers !== null) || (authorization !== undefined && authorization !== null))
