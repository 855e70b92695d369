import type { JsonSchema } from '#specs/dsl/schema.ts'
import type { OperationId } from '../../../console/operation-types.ts'
import type { Field, Variant } from '../../../console/resources/types.ts'

/** Length of a text from which its field has several lines. */
const longFrom = 1_000
/** Optional fields that most people fill in. */
const usual = new Set([
  'description',
  'system_prompt',
  'tools',
  'text',
  'title',
  'knowledge',
  'needsApproval',
  'api_key',
])
/** Fields with ids of a project's resources, by the operation that lists them: lists are chosen from, and texts suggested, by name. */
const known: Readonly<Record<string, OperationId>> = {
  ...{ knowledge: 'knowledge_bases.list', knowledge_base_id: 'knowledge_bases.list', mcp_servers: 'mcp_servers.list' },
  ...{ model: 'models.list', agent_id: 'agents.list', tenant_id: 'tenants.list', subject_id: 'tenants.list' },
  connector: 'connectors.list',
}
/** Objects with other fields than those that are declared, which are edited as JSON. */
const open = new Set(['event'])
/** Number of choices up to which all are shown as boxes to tick. */
const maxBoxes = 80

/** Returns the fields of a form for values of an object's schema. What no field can show is edited as JSON. */
export const formFields = ({ properties = {}, required = [] }: JsonSchema): readonly Field[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    ...kindOf(name, plain(schema)),
    ...(schema.description !== undefined && { help: firstSentence(schema.description) }),
    ...(required.includes(name) && { required: true as const }),
    ...(usual.has(name) && { first: true as const }),
    ...(isNullable(schema) && { nullable: true as const }),
    ...(schema.default !== undefined && { default: schema.default }),
  }))

/** The rest is in the reference at `/docs`. */
const firstSentence = (text: string): string => text.split(/(?<=[.:]) (?=[A-Z`])/)[0] ?? text

const isNullable = ({ type, anyOf }: JsonSchema): boolean =>
  (Array.isArray(type) && type.includes('null')) || (anyOf ?? []).some((each) => each.type === 'null')

/** Returns the schema of the values other than null. */
const plain = (schema: JsonSchema): JsonSchema => {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (others?.length === 1 && others[0] !== undefined) return plain(others[0])
  if (!Array.isArray(schema.type)) return schema
  const [type] = schema.type.filter((each) => each !== 'null')
  return { ...schema, type }
}

const kindOf = (name: string, schema: JsonSchema): Omit<Field, 'name'> => {
  const { type, maxLength = longFrom, minimum, maximum, properties } = schema
  const list = known[name]
  const choices = schema.enum?.filter((each) => each !== null)
  if (choices !== undefined) return { kind: 'choice', choices }
  if (type === 'boolean') return { kind: 'flag' }
  if (type === 'integer' || type === 'number') {
    const bounds = { ...(minimum !== undefined && { min: minimum }), ...(maximum !== undefined && { max: maximum }) }
    return { kind: type, ...bounds }
  }
  if (type === 'string') {
    if (schema.format === 'date-time') return { kind: 'time' }
    if (isSecret(name)) return { kind: 'secret', max: maxLength }
    if (maxLength >= longFrom && schema.pattern === undefined) return { kind: 'long', max: maxLength }
    return { kind: 'text', max: maxLength, ...(list !== undefined && { list }) }
  }
  if (type === 'array') return list === undefined ? listOf(schema.items) : { kind: 'known', list }
  if (type === 'object' && properties !== undefined && !open.has(name))
    return { kind: 'group', fields: formFields(schema) }
  return { kind: 'json' }
}

const isSecret = (name: string): boolean => /(^|_)(key|secret|password|token)$/i.test(name) || name === 'apiKey'

const listOf = (items: JsonSchema | undefined): Omit<Field, 'name'> => {
  if (items?.enum !== undefined && items.enum.length <= maxBoxes) return { kind: 'choices', choices: items.enum }
  if (items?.type === 'string') return { kind: 'lines' }
  const variants = (items?.oneOf ?? (items?.properties === undefined ? [] : [items])).map(variantOf)
  return variants.length === 0 ? { kind: 'json' } : { kind: 'items', variants }
}

const variantOf = (schema: JsonSchema): Variant => {
  const fixed = Object.entries(schema.properties ?? {}).flatMap(([name, { enum: values = [] }]) =>
    values.length === 1 ? [[name, values[0]] as const] : [],
  )
  const names = new Set(fixed.map(([name]) => name))
  return {
    title: schema.title ?? 'Entry',
    fixed: Object.fromEntries(fixed),
    fields: formFields(schema).filter(({ name }) => !names.has(name)),
  }
}
