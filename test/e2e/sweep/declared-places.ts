import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { sampleOf } from '#test/specs/samples.ts'
import { declaredEstate } from './estate/parts.ts'

/** One place of a request that contains the id of a resource. */
export interface Place {
  readonly operation: Operation
  readonly where: 'path' | 'query' | 'body'
  /** Its name; in a body the path of the field (`tools[0].agent_id`). */
  readonly name: string
}

/** Parameters that continue a list after one of its rows. */
const positions = new Set(['after', 'starting_after', 'after_id', 'before_id'])

/** Whether a field or parameter of this name contains ids of resources. */
export const namesId = (name: string): boolean => /_ids?$/.test(name) && !declaredEstate.noIds.has(name)

/** Every place of every operation that names a resource. */
export const placesOf = (operation: Operation): readonly Place[] => [
  ...operation.params.map((name) => ({ operation, where: 'path' as const, name })),
  ...Object.entries(operation.query)
    .filter(([name, { json }]) => namesId(name) || (positions.has(name) && json.type === 'string'))
    .map(([name]) => ({ operation, where: 'query' as const, name })),
  ...placesIn(operation.body?.json ?? {}, '').map((name) => ({ operation, where: 'body' as const, name })),
]

const placesIn = (schema: JsonSchema, path: string): readonly string[] => {
  const branches = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]
  if (branches.length > 0) return [...new Set(branches.flatMap((branch) => placesIn(branch, path)))]
  if (schema.items !== undefined) return placesIn(schema.items, `${path}[0]`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const place = path === '' ? name : `${path}.${name}`
    return namesId(name) ? [place] : placesIn(field, place)
  })
}

/** The last name of a place. */
export const fieldOf = (name: string): string => name.split('.').at(-1) ?? name

/** Prefix of the resource that a parameter or field refers to, by its name, from the declared answers. */
export const prefixesByName = (operations: readonly Operation[]): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const collect = (schema: JsonSchema): void => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const prefix = field['x-id'] ?? field.items?.['x-id']
      if (prefix !== undefined && namesId(name)) found.set(name, prefix)
      collect(field)
    }
    for (const inner of [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) if (inner) collect(inner)
  }
  for (const operation of operations) {
    const answer = answerSchema(operation)
    collect(answer)
    const last = operation.params.at(-1)
    const own = answer.properties?.id?.['x-id']
    const isItem = operation.paths[0].endsWith(`{${last}}`) && ['GET', 'DELETE'].includes(operation.method)
    if (last !== undefined && own !== undefined && isItem && namesId(last) && last !== 'external_user_id')
      found.set(last, own)
  }
  return found
}

/** Schema of the JSON answer; empty for an answer that is not JSON. */
export const answerSchema = ({ answer }: Operation): JsonSchema => {
  if (answer.kind === 'json') return answer.schema.json
  return answer.kind === 'choice' ? answer.json.schema.json : {}
}

/** A body with its required fields and the top-level field that contains `place`, with every id from `idFor`. */
export const bodyFor = (
  { body }: Operation,
  place: string | null,
  idFor: (name: string) => string,
): Record<string, unknown> => {
  const { properties = {}, required = [] } = body?.json ?? {}
  const top = place?.split(/[.[]/)[0]
  const names = Object.keys(properties).filter((name) => required.includes(name) || name === top)
  const sample = Object.fromEntries(names.map((name) => [name, sampleOf(properties[name] ?? {})]))
  return Object(withIds(sample, idFor))
}

const withIds = (value: unknown, idFor: (name: string) => string): unknown => {
  if (Array.isArray(value)) return value.map((item) => withIds(item, idFor))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, fixed[name] ?? idsIn(name, inner, idFor)]),
  )
}

/** Values that the simulated provider accepts. */
const fixed: Readonly<Record<string, unknown>> = { model: 'simulated-1' }

const idsIn = (name: string, value: unknown, idFor: (name: string) => string): unknown => {
  if (!namesId(name)) return withIds(value, idFor)
  if (typeof value === 'string') return idFor(name)
  return Array.isArray(value) ? value.map(() => idFor(name)) : value
}

/** The same body with another id at `place`. */
export const withId = (value: unknown, place: string, id: string): unknown => {
  const [head = '', ...rest] = place.replaceAll('[0]', '.0').split('.')
  if (head === '') return typeof value === 'string' ? id : Array.isArray(value) ? [id] : value
  if (Array.isArray(value))
    return value.map((item, at) => (String(at) === head ? withId(item, rest.join('.'), id) : item))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, name === head ? withId(inner, rest.join('.'), id) : inner]),
  )
}
