import { isObject, type WireObject } from '#outgoing/wire.ts'

/** Keywords that Anthropic's structured outputs support. */
const known = new Set([
  ...['type', 'enum', 'const', 'anyOf', 'allOf', '$ref', '$defs', 'definitions', 'title', 'description', 'default'],
  ...['properties', 'required', 'additionalProperties', 'items'],
])
const stringFormats = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '))

/**
 * Adapts a schema to structured outputs: objects are closed, `oneOf` becomes `anyOf`, and limits that the provider does
 * not enforce (lengths, ranges, patterns) are moved into the description for the model, because the provider rejects
 * them.
 */
export function closedSchema(schema: WireObject): WireObject {
  const kept: Record<string, unknown> = {}
  const described: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'oneOf') kept.anyOf = closedAll(value)
    else if (enforced(keyword, value)) kept[keyword] = closedValue(keyword, value)
    else if (keyword !== '$schema' && keyword !== '$id') described.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  if (kept.type === 'object' || kept.properties !== undefined) kept.additionalProperties = false
  if (described.length > 0) kept.description = [kept.description, described.join(', ')].filter(Boolean).join('\n')
  return kept
}

function enforced(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return typeof value === 'string' && stringFormats.has(value)
  if (keyword === 'minItems') return value === 0 || value === 1
  return known.has(keyword)
}

function closedValue(keyword: string, value: unknown): unknown {
  if (keyword === 'anyOf' || keyword === 'allOf') return closedAll(value)
  if (keyword === 'items') return isObject(value) ? closedSchema(value) : value
  if (keyword !== 'properties' && keyword !== '$defs' && keyword !== 'definitions') return value
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isObject(each) ? closedSchema(each) : each]),
  )
}

const closedAll = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((each) => (isObject(each) ? closedSchema(each) : each)) : value
