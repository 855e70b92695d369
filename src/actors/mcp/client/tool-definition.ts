import { createHash } from 'node:crypto'
import type { ToolDefinition } from '#machines/mcp-server/known-tools.ts'
import { isObject } from '#runtime/index.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { maxToolDescription, maxToolSchema } from '#specs/resources/mcp/mcp-limits.ts'
import { hiddenText } from '#src/skill-scan/index.ts'

/** Tool names that the protocol recommends: plain characters only, so that names cannot be confused. */
const namePattern = /^(?!\.{1,2}$)[A-Za-z0-9_./-]{1,128}$/

/** Returns a name for display, with every other than a printable ASCII character escaped. */
export const shownName = (listed: unknown): string => {
  const name = isObject(listed) && typeof listed.name === 'string' ? listed.name : ''
  return [...name.slice(0, 64)]
    .map((each) => (/[ -~]/.test(each) ? each : `\\u{${each.codePointAt(0)?.toString(16)}}`))
    .join('')
}

/**
 * Returns a tool's definition, or the reason why it is skipped.
 *
 * @param annotations its valid hints.
 */
export const definitionOf = (listed: unknown, annotations: JsonObject | null): ToolDefinition | string => {
  if (!isObject(listed) || typeof listed.name !== 'string' || !namePattern.test(listed.name)) return 'invalid_name'
  const { name, description = '', inputSchema } = listed
  if (typeof description !== 'string' || description.length > maxToolDescription) return 'description_too_long'
  if (!isObject(inputSchema) || inputSchema.type !== 'object') return 'invalid_schema'
  const schema = JSON.stringify(inputSchema)
  if (schema.length > maxToolSchema) return 'schema_too_large'
  if (hides(description) || hides(schema)) return 'hidden_characters'
  const kept = { name, description, input_schema: inputSchema, annotations }
  return { ...kept, hash: sha256(kept) }
}

/** Whether a text contains characters that a model reads but a person who reviews it cannot see. */
const hides = (text: string): boolean =>
  /\\u00[01][0-9a-f]/.test(text) || hiddenText(text).some(({ severity }) => severity === 'blocker')

/** Returns the hash of a value with sorted keys, so that it does not depend on their order. */
export const sha256 = (value: unknown): string =>
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
