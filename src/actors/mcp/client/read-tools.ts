import { createHash } from 'node:crypto'
import type { SkippedTool, ToolDefinition } from '#machines/mcp-server/known-tools.ts'
import type { Discovery } from '#machines/mcp-server/mcp-server.ts'
import { isObject } from '#runtime/schema.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { maxServerTools, maxSnapshot, maxToolDescription, maxToolSchema } from '#specs/resources/mcp/mcp-limits.ts'
import { hiddenText } from '#src/skill-scan/hidden-text.ts'
import type { McpConnection } from './mcp-connection.ts'
import { McpFailure } from './mcp-failure.ts'

/** Tool names that the protocol recommends: plain characters only, so that names cannot be confused. */
const namePattern = /^(?!\.{1,2}$)[A-Za-z0-9_./-]{1,128}$/
const maxSkipped = 100
const maxInfo = 512

/**
 * Returns the tools of a connected server that may be stored.
 *
 * @throws {McpFailure} `too_many_tools`, `answer_too_large`
 */
export const discovered = async ({ client, transport }: McpConnection, signal: AbortSignal): Promise<Discovery> => {
  const { tools: listed } = await client.listTools(undefined, { signal, cacheMode: 'bypass' })
  if (listed.length > maxServerTools)
    throw new McpFailure('too_many_tools', `The server has more than ${maxServerTools} tools.`, { isFinal: true })
  const { tools, skipped } = sorted(listed)
  if (JSON.stringify(tools).length > maxSnapshot)
    throw new McpFailure('answer_too_large', 'The definitions of the tools are too long to be stored.', {
      isFinal: true,
    })
  return {
    tools,
    skipped,
    hash: sha256(tools.map(({ name, hash }) => [name, hash])),
    server_info: serverInfo(client.getServerVersion()),
    protocol_version: client.getNegotiatedProtocolVersion() ?? null,
    transport_used: transport,
  }
}

const serverInfo = (info: { name?: unknown; version?: unknown } | undefined): JsonObject => ({
  name: String(info?.name ?? '').slice(0, maxInfo),
  version: String(info?.version ?? '').slice(0, maxInfo),
})

const sorted = (listed: readonly unknown[]): { readonly tools: ToolDefinition[]; readonly skipped: SkippedTool[] } => {
  const tools: ToolDefinition[] = []
  const skipped: SkippedTool[] = []
  const names = new Set<string>()
  for (const each of listed) {
    const read = definitionOf(each)
    const reason = typeof read === 'string' ? read : names.has(read.name) ? 'duplicate_name' : null
    if (typeof read !== 'string' && reason === null) {
      names.add(read.name)
      tools.push(read)
    } else if (skipped.length < maxSkipped) skipped.push({ name: shownName(each), reason: reason ?? '' })
  }
  return { tools, skipped }
}

/** Returns a name for display, with every other than a printable ASCII character escaped. */
const shownName = (listed: unknown): string => {
  const name = isObject(listed) && typeof listed.name === 'string' ? listed.name : ''
  return [...name.slice(0, 64)]
    .map((each) => (/[ -~]/.test(each) ? each : `\\u{${each.codePointAt(0)?.toString(16)}}`))
    .join('')
}

/** Returns a tool's definition, or the reason why it is skipped. */
const definitionOf = (listed: unknown): ToolDefinition | string => {
  if (!isObject(listed) || typeof listed.name !== 'string' || !namePattern.test(listed.name)) return 'invalid_name'
  const { name, description = '', inputSchema, annotations } = listed
  if (typeof description !== 'string' || description.length > maxToolDescription) return 'description_too_long'
  if (!isObject(inputSchema) || inputSchema.type !== 'object') return 'invalid_schema'
  const schema = JSON.stringify(inputSchema)
  if (schema.length > maxToolSchema) return 'schema_too_large'
  if (hides(description) || hides(schema)) return 'hidden_characters'
  const kept = { name, description, input_schema: inputSchema, annotations: isObject(annotations) ? annotations : null }
  return { ...kept, hash: sha256(kept) }
}

/** Whether a text contains characters that a model reads but a person who reviews it cannot see. */
const hides = (text: string): boolean =>
  /\\u00[01][0-9a-f]/.test(text) || hiddenText(text).some(({ severity }) => severity === 'blocker')

/** Returns the hash of a value with sorted keys, so that it does not depend on their order. */
const sha256 = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(inOrder(value)))
    .digest('hex')

const inOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  )
}
